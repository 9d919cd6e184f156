import AppleSimulator
import Foundation
import Testing

@Suite("Faults and the request log")
struct FaultTests {
  @Test("A fault meets as many calls of its endpoint as were ordered")
  func countedDown() async throws {
    try await Relying.withSimulator { relying async throws in
      try await relying.order("POST", "faults", #"{"endpoint":"keys","kind":"status","status":503,"times":2}"#)
      #expect(try await relying.get("/auth/keys").status == 503)
      #expect(try await relying.get("/appleid/button").status == 200)
      #expect(try await relying.get("/auth/keys").status == 503)
      #expect(try await relying.get("/auth/keys").status == 200)
    }
  }

  @Test("A fault without a number lasts until faults are cleared, and can be for one grant only")
  func lasting() async throws {
    try await Relying.withSimulator { relying async throws in
      let token = try await relying.refreshToken()
      try await relying.order(
        "POST", "faults",
        #"{"endpoint":"token","kind":"refuse","error":"invalid_client","grant_type":"refresh_token"}"#)
      for _ in 1...2 {
        let answer = try await relying.refresh(token)
        #expect(answer.status == 400)
        #expect(answer.json["error"] == "invalid_client")
      }
      #expect(try await relying.exchange(try await relying.signIn()["code"]).status == 200)
      try await relying.order("DELETE", "faults")
      #expect(try await relying.refresh(token).status == 200)
    }
  }

  @Test(
    "Malformed answers are 200 and no JSON",
    arguments: ["html", "deep-json", "truncated-json", "empty"])
  func malformed(kind: String) async throws {
    try await Relying.withSimulator { relying async throws in
      try await relying.order("POST", "faults", #"{"endpoint":"keys","kind":"\#(kind)"}"#)
      let answer = try await relying.get("/auth/keys")
      #expect(answer.status == 200)
      #expect(!answer.isJSON)
    }
  }

  @Test("The key set can be empty, and the connection can be cut")
  func emptyAndCut() async throws {
    try await Relying.withSimulator { relying async throws in
      try await relying.order("POST", "faults", #"{"endpoint":"keys","kind":"empty-key-set","times":1}"#)
      #expect(try await relying.get("/auth/keys").json == ["keys": .array([])])
      try await relying.order("POST", "faults", #"{"endpoint":"keys","kind":"cut","times":1}"#)
      await #expect(throws: (any Error).self) { _ = try await relying.get("/auth/keys") }
      #expect(try await relying.get("/auth/keys").status == 200)
    }
  }

  @Test("A slow endpoint gives the right answer")
  func slow() async throws {
    try await Relying.withSimulator { relying async throws in
      try await relying.order("POST", "faults", #"{"endpoint":"keys","kind":"slow","milliseconds":1}"#)
      #expect(try await relying.get("/auth/keys").status == 200)
    }
  }

  @Test(
    "Every error of Apple's token endpoint comes on order, with Apple's undocumented description if it is asked for",
    arguments: [
      "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
      "invalid_scope",
    ])
  func everyError(error: String) async throws {
    try await Relying.withSimulator { relying async throws in
      let token = try await relying.refreshToken()
      try await relying.order("POST", "faults", #"{"endpoint":"token","kind":"refuse","error":"\#(error)","times":1}"#)
      try await relying.order(
        "POST", "faults",
        #"{"endpoint":"revoke","kind":"refuse","error":"\#(error)","error_description":"why","times":1}"#)
      let refused = try await relying.refresh(token)
      #expect(refused.status == 400 && refused.json["error"] == .string(error))
      #expect(refused.json["error_description"] == nil)
      let revocation = try await relying.send(
        "POST", "/auth/revoke", body: "", type: "application/x-www-form-urlencoded")
      #expect(revocation.status == 400 && revocation.json["error"] == .string(error))
      #expect(revocation.json["error_description"] == "why")
      #expect(try await relying.refresh(token).status == 200)
    }
  }

  @Test("Every request is in the log with its form, its status and why it was refused; control requests are not")
  func log() async throws {
    try await Relying.withSimulator { relying async throws in
      _ = try await relying.get("/auth/keys", ["a": "b c"])
      _ = try await relying.token(["grant_type": "password"])
      guard case .array(let seen) = try await relying.get("/simulator/requests").json["requests"] else {
        Issue.record("no log")
        return
      }
      #expect(seen.map { $0.members?["path"] } == ["/auth/keys", "/auth/token"])
      #expect(seen.first?.members?["query"]?.members?["a"] == "b c")
      #expect(seen.last?.members?["form"]?.members?["grant_type"] == "password")
      #expect(seen.last?.members?["status"] == 400)
      #expect(seen.last?.members?["reason"] == "unsupported_grant_type")
    }
  }

  @Test("A body that is too large is refused with 413, and the simulator lives")
  func tooLarge() async throws {
    try await Relying.withSimulator { relying async throws in
      let answer = try await relying.send(
        "POST", "/auth/token", body: String(repeating: "x", count: 100_000),
        type: "application/x-www-form-urlencoded")
      #expect(answer.status == 413)
      #expect(try await relying.get("/auth/keys").status == 200)
    }
  }

  @Test("A wrong order is refused with a reason")
  func wrongOrders() async throws {
    try await Relying.withSimulator { relying async throws in
      for (method, path, body) in [
        ("POST", "faults", #"{"endpoint":"nowhere","kind":"slow"}"#), ("PUT", "clients", "{}"),
        ("POST", "users/nobody/revoke", "{}"), ("POST", "mint", #"{"client_id":"x"}"#),
      ] {
        let answer = try await relying.send(method, "/simulator/\(path)", body: body, type: "application/json")
        #expect(answer.status == 400)
        #expect(answer.json["error"]?.text?.isEmpty == false)
      }
    }
  }

  @Test("A reset forgets everything since the start")
  func reset() async throws {
    try await Relying.withSimulator { relying async throws in
      let token = try await relying.refreshToken()
      try await relying.order("POST", "reset")
      #expect(try await relying.refresh(token).json["error"] == "invalid_grant")
      #expect(try await relying.signIn()["user"] != nil)
    }
  }
}
