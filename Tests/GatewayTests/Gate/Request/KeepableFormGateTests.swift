import AccessPolicy
import Sessions
import Synchronization
import Testing

@testable import Gateway

@Suite("Forms at the gate")
struct KeepableFormGateTests {
  private static func settings() throws -> GatewaySettings {
    var kept = RouteSettings(path: "/wiki/")
    kept.keptFormBytes = 1_000
    var never = RouteSettings(path: "/wiki/never/")
    never.keptFormBytes = 0
    var api = RouteSettings(path: "/wiki/api/")
    api.unauthenticated = .unauthorized
    var settings = try GatewaySettings.forTests(routes: [kept, never, api])
    settings.publicAddress.hosts = ["old.example.com"]
    return settings
  }

  private static let fields = [
    "Accept: text/html", "Content-Type: application/x-www-form-urlencoded", "Content-Length: 1000",
    "Origin: https://app.example.com", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: navigate",
    "Sec-Fetch-Dest: document",
  ]

  private func isRead(
    _ rig: GateRig, _ fields: [String] = fields, _ target: String = "/wiki/save", method: String = "POST",
    host: String = "app.example.com"
  ) async throws -> Bool {
    switch try await rig.decide(Asked(target: target, method: method, host: host, fields: fields)) {
    case .handle: return true
    case .answer(let status, _):
      #expect([401, 302].contains(status))
      return false
    case .forward, .suspend:
      Issue.record("it was forwarded")
      return false
    }
  }

  @Test("Only a form of our own origin at the top level is read, up to the size that the route states")
  func read() async throws {
    let rig = try await GateRig(try Self.settings())
    #expect(try await isRead(rig))
    let withoutReferrer = Self.fields.filter { !$0.hasPrefix("Origin:") } + ["Origin: null"]
    #expect(try await isRead(rig, withoutReferrer), "of a page with Referrer-Policy: no-referrer")
    #expect(try await !isRead(rig, withoutReferrer.filter { !$0.hasPrefix("Sec-Fetch-Site:") }))
    let passedOn = Self.fields.filter { !$0.hasPrefix("Sec-Fetch-Dest:") } + ["Sec-Fetch-Dest: empty"]
    #expect(try await isRead(rig, passedOn), "by a service worker")
    #expect(try await !isRead(rig, passedOn.filter { !$0.hasPrefix("Accept:") } + ["Accept: */*"]))
    for target in ["/save", "/wiki/never/save", "/wiki/api/save"] {
      #expect(try await isRead(rig, Self.fields, target) == false, "\(target)")
    }
    #expect(try await isRead(rig, method: "PUT") == false)
    #expect(try await isRead(rig, host: "old.example.com") == false, "no session arrives at an alias")
    let replacements = [
      "Content-Type: text/plain", "Content-Type: application/json", "Content-Length: 1001", "Origin: nul",
      "Origin: https://evil.example", "Origin: http://app.example.com", "Sec-Fetch-Site: cross-site",
      "Sec-Fetch-Site: same-site", "Sec-Fetch-Site: none", "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: iframe",
    ]
    for replacement in replacements {
      let name = replacement.prefix { $0 != ":" } + ":"
      let others = Self.fields.filter { !$0.hasPrefix(name) }
      #expect(try await isRead(rig, others + [replacement]) == false, "\(replacement)")
    }
    for index in Self.fields.indices.dropFirst() {
      var fields = Self.fields
      let missing = fields.remove(at: index)
      #expect(try await isRead(rig, fields) == false, "without \(missing)")
    }
    for more in ["Origin: https://app.example.com", "Content-Encoding: gzip", "Content-Type: multipart/form-data"] {
      #expect(try await isRead(rig, Self.fields + [more]) == false, "\(more)")
    }
    let chunked = Self.fields.filter { !$0.hasPrefix("Content-Length") } + ["Transfer-Encoding: chunked"]
    #expect(try await isRead(rig, chunked) == false)
    try await rig.stop()
  }

  @Test("A form whose sign-in is too old, or left no token, is read as well; one that is not ours is refused")
  func outdated() async throws {
    var settings = try Self.settings()
    settings.routing.routes[0].maxAge = 3_600
    let rig = try await GateRig(settings)
    let (anna, cookie) = try rig.signIn("001.anna")
    let fields = Self.fields + ["Cookie: \(cookie)"]
    rig.clock.advance(3_600)
    await rig.follow()
    #expect(try await isRead(rig, fields))
    #expect(try await isRead(rig, fields.filter { !$0.hasPrefix("Sec-Fetch-Site") }) == false)
    #expect(try await isRead(rig, fields, "/wiki/never/save") == false)
    // Another sign-in, whose token was discarded.
    let (_, again) = try rig.signIn("001.anna")
    let recent = Self.fields + ["Cookie: \(again)"]
    let decided = try await rig.decide(Asked(target: "/wiki/save", method: "POST", fields: recent))
    #expect(decided.identity != nil)
    rig.store.state.withLock { $0.accounts[anna.account.subject]?.access.isTokenDiscarded = true }
    await rig.sessions.markStale(anna.account.subject)
    #expect(try await isRead(rig, recent))
    try await rig.stop()
  }

  @Test("A form of a signed-in user is forwarded as ever")
  func signedIn() async throws {
    let rig = try await GateRig(try Self.settings())
    let (_, cookie) = try rig.signIn("001.anna")
    let decided = try await rig.decide(
      Asked(target: "/wiki/save", method: "POST", fields: Self.fields + ["Cookie: \(cookie)"]))
    #expect(decided.identity != nil)
    try await rig.stop()
  }
}
