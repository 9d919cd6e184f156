import AccessPolicy
import DataPlane
import FoundationEssentials
import HTTPTypes
import Pages
import Sessions
import Synchronization
import Testing

@testable import Gateway

@Suite("The way to ask for access, at the gate")
struct AccessRefusalTests {
  /// A table whose rules are those of `/groups/`, `/subjects/` and `/both/`, which a path can meet together.
  private static func settings() throws -> GatewaySettings {
    func lists(_ groups: [String], _ subjects: [String]) -> AccessLists {
      var lists = AccessLists()
      lists.groups = groups
      lists.subjects = subjects
      return lists
    }
    var hidden = RouteSettings(path: "/claim/", access: .lists(lists(["staff"], [])))
    hidden.conditions.requirements = [ClaimRequirement(claim: "org_id", values: ["1"])]
    var settings = try GatewaySettings.forTests(routes: [
      RouteSettings(path: "/groups/", access: .lists(lists(["staff"], []))),
      RouteSettings(path: "/subjects/", access: .lists(lists([], ["001.anna"]))), hidden,
    ])
    settings.routing.groups = [GroupConfiguration(name: "staff")]
    settings.routing.access.requests = true
    return settings
  }

  /// Looks requests up, and counts.
  private final class Requests: Sendable {
    let state = Mutex<(answer: AccessRequestState?, count: Int)>((.mayAsk, 0))
    var count: Int { state.withLock { $0.count } }
    func lookUp(_ subject: Subject) async -> AccessRequestState? {
      state.withLock { state in
        state.count += 1
        return state.answer
      }
    }
  }

  private func body(_ rig: GateRig, _ cookie: String, _ target: String) async throws -> String {
    let response = try await rig.response(
      Asked(target: target, fields: ["Cookie: \(cookie)", "Accept: application/json"]))
    #expect(response.head.status.code == 403)
    return String(decoding: response.body, as: UTF8.self)
  }

  @Test("The page names the account, by its address or by its name, and JSON does not")
  func account() async throws {
    let requests = Requests()
    let rig = try await GateRig(try Self.settings(), accessRequests: requests.lookUp)
    var claims = AccountClaims()
    claims.email = "ben@example.org"
    let (_, ben) = try rig.signIn("002.ben", claims: claims)
    let (_, nobody) = try rig.signIn("003.carol")
    for path in ["/groups/x", "/subjects/x"] {
      func page(_ cookie: String) async throws -> String {
        let response = try await rig.response(Asked(target: path, fields: ["Cookie: \(cookie)", "Accept: text/html"]))
        #expect(response.head.status == .forbidden)
        return String(decoding: response.body, as: UTF8.self)
      }
      #expect(try await page(ben).contains("You are signed in as<br><strong><bdi>ben@example.org</bdi>"), "\(path)")
      #expect(try await !page(nobody).contains("You are signed in as"), "\(path)")
      #expect(try await !body(rig, ben, path).contains("ben@example.org"))
    }
    try await rig.stop()
  }

  @Test("Only where a group could admit the user is there a way to ask")
  func whereGroupsHelp() async throws {
    let requests = Requests()
    let rig = try await GateRig(try Self.settings(), accessRequests: requests.lookUp)
    let (_, cookie) = try rig.signIn("002.ben")
    #expect(try await body(rig, cookie, "/groups/x").contains("request_access"))
    #expect(try await !body(rig, cookie, "/subjects/x").contains("request_access"), "no group is listed")
    #expect(try await !body(rig, cookie, "/claim/x").contains("request_access"), "a claim is missing")
    #expect(requests.count == 1)
    try await rig.stop()
  }

  @Test("The store is asked once a minute for a session whose user is refused, and again when the account changes")
  func lookedUpOnce() async throws {
    let requests = Requests()
    let rig = try await GateRig(try Self.settings(), accessRequests: requests.lookUp)
    let (ben, cookie) = try rig.signIn("002.ben")
    for _ in 0..<3 { _ = try await body(rig, cookie, "/groups/x") }
    #expect(requests.count == 1)
    requests.state.withLock { $0.answer = .waits(code: "K7QF-3MDP") }
    #expect(try await !body(rig, cookie, "/groups/x").contains("K7QF-3MDP"))
    await rig.sessions.markStale(ben.account.subject)
    #expect(try await body(rig, cookie, "/groups/x").contains("K7QF-3MDP"))
    #expect(requests.count == 2)
    rig.clock.advance(61)
    await rig.follow()
    _ = try await body(rig, cookie, "/groups/x")
    #expect(requests.count == 3)
    try await rig.stop()
  }

  @Test("If the store does not answer, the way to ask stays, and the store is left alone for a second")
  func storeAway() async throws {
    let requests = Requests()
    requests.state.withLock { $0.answer = nil }
    let rig = try await GateRig(try Self.settings(), accessRequests: requests.lookUp)
    let (_, cookie) = try rig.signIn("002.ben")
    for _ in 0..<3 { #expect(try await body(rig, cookie, "/groups/x").contains("request_access")) }
    #expect(requests.count == 1)
    rig.clock.advance(2)
    _ = try await body(rig, cookie, "/groups/x")
    #expect(requests.count == 2)
    try await rig.stop()
  }
}
