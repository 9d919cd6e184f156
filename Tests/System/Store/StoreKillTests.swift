import Foundation
import PostgreSQLServerTesting
import Testing

// The gateway itself is killed (kill -9) while apps sign in and out, time and again, on each kind of store: it starts,
// what it has answered holds, and nobody who was signed out is back. (The store alone, two hundred times: the KillTests
// of each.)

@SystemActor
@Suite("A gateway that is killed")
struct StoreKillTests {
  enum Store: String, CaseIterable, Sendable {
    case sqlite, postgreSQL
  }

  /// Changes that were confirmed to clients, and changes that were requested without confirmation.
  private struct Told: Sendable {
    var began: Set<String> = []
    var isEnding: Set<String> = []
    var ended: Set<String> = []
    var clients = 0

    var answers: Int { began.count + ended.count }
  }

  private static let rounds = 12
  private static let clients = 4
  private static let signInsOfEach = 8

  /// One app after another signs in, and every other one out again, until the gateway is gone.
  private nonisolated static func signInAndOut(
    _ answers: ArraySlice<(identityToken: String, code: String, user: String?)>, _ client: HTTPClient, origin: String,
    _ told: Watched<Told>
  ) throws {
    for (number, answer) in answers.enumerated() {
      let response = try client.post(
        "/.auth/native",
        json: ["identity_token": answer.identityToken, "authorization_code": answer.code, "nonce": "n"])
      guard response.status == 200,
        let cookie = response.setCookies.first?.split(separator: ";").first.map(String.init)
      else { continue }
      told.update { $0.began.insert(cookie) }
      if number % 2 == 1 { continue }
      told.update { $0.isEnding.insert(cookie) }
      let signOut = try client.send("POST", "/.auth/sign-out", fields: [("Cookie", cookie), ("Origin", origin)])
      if [200, 204, 303].contains(signOut.status) { told.update { $0.ended.insert(cookie) } }
    }
  }

  @Test(
    "A killed gateway starts again, nothing that it has answered is lost, and nobody who was signed out is back",
    arguments: Store.allCases)
  func killed(_ store: Store) throws {
    let server = store == .postgreSQL ? try PostgreSQLServer() : nil
    let url = try server?.makeDatabase()
    let site = try Site(adjust: {
      $0["apple", "native_client_ids"] = "[\"\(GatewayConfiguration.appIDs[0])\"]"
      if let url { $0["store", "url"] = "\"\(url)\"" }
    })
    defer { site.stop() }
    let (client, origin) = (site.gateway.client, site.origin)
    let told = Watched(Told())
    for round in 0..<Self.rounds {
      let answers = try (0..<Self.clients * Self.signInsOfEach).map { _ in
        try site.apple.authorizeNatively("anna", nonce: "n")
      }
      let before = told.current.answers
      for number in 0..<Self.clients {
        let own = answers[number * Self.signInsOfEach..<(number + 1) * Self.signInsOfEach]
        told.update { $0.clients += 1 }
        Thread.detachNewThread {
          try? Self.signInAndOut(own, client, origin: origin, told)
          told.update { $0.clients -= 1 }
        }
      }
      // At another moment each time.
      try told.take("answers of round \(round)", by: .standard) {
        $0.answers >= before + 3 + round || $0.clients == 0 ? () : nil
      }
      try site.gateway.killAndRestart()
      try told.take("the clients to end", by: .standard) { $0.clients == 0 ? () : nil }
      let now = told.current
      for cookie in now.began {
        let status = try client.get("/.auth/session", fields: [("Cookie", cookie)]).status
        if now.ended.contains(cookie) {
          #expect(status == 401, "round \(round): a session that was signed out is back")
        } else if !now.isEnding.contains(cookie) {
          #expect(status == 200, "round \(round): a session that was answered is lost")
        }
      }
    }
    #expect(told.current.began.count > 40 && told.current.ended.count > 15, "\(told.current)")
  }
}
