import AppleSimulator
import Testing

@Suite("At most one check of an account a day")
struct ThrottleTests {
  private func statuses(_ relying: Relying, of user: String) async throws -> [JSONValue?] {
    let checks = try await relying.get("/simulator/checks").json["checks"]
    guard case .array(let list) = checks?.members?[user] else { return [] }
    return list.map { $0.members?["status"] }
  }

  @Test("The second refresh of the same account is answered 429 until a day has passed")
  func secondRefresh() async throws {
    try await Relying.withSimulator { relying async throws in
      try await relying.order("POST", "switches", #"{"throttle":"refresh"}"#)
      let token = try await relying.refreshToken()
      let other = try await relying.refreshToken()
      #expect(try await relying.refresh(token).status == 200)
      #expect(try await relying.refresh(other).status == 429)
      #expect(try await relying.refresh(try await relying.refreshToken("ben")).status == 200)
      #expect(try await statuses(relying, of: "anna") == [200, 200, 200, 429])
      try await relying.order("POST", "clock", #"{"advance_seconds":86300,"only":"checks"}"#)
      #expect(try await relying.refresh(token).status == 429)
      try await relying.order("POST", "clock", #"{"advance_seconds":200,"only":"checks"}"#)
      #expect(try await relying.refresh(token).status == 200)
    }
  }

  @Test("A sign-in counts as a check if switched so")
  func signInCounts() async throws {
    try await Relying.withSimulator { relying async throws in
      let token = try await relying.refreshToken()
      #expect(try await relying.refresh(token).status == 200)
      try await relying.order("POST", "switches", #"{"throttle":"verification","throttle_seconds":3600}"#)
      let ben = try await relying.refreshToken("ben")
      #expect(try await relying.refresh(ben).status == 429)
      try await relying.order("POST", "clock", #"{"advance_seconds":3601,"only":"checks"}"#)
      #expect(try await relying.refresh(ben).status == 200)
    }
  }
}
