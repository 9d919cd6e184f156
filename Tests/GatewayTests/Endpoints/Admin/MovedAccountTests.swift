import AccessPolicy
import DataPlane
import Foundation
import HTTPTypes
import Operations
import Sessions
import Synchronization
import Testing

@testable import Gateway

// An operator has an earlier subject of a user in the records: the account has another one since.
@Suite("The administration of accounts that have moved to another team")
struct MovedAccountTests {
  private let rig: GateRig
  private let audit: RecordedAudit
  private let api: AdminAPI
  private let earlier: [Subject]

  init() async throws {
    rig = try await GateRig()
    audit = try RecordedAudit(rig.keyring)
    earlier = try ["001.anna", "002.anna"].map { try #require(Subject($0)) }
    let evaluator = AccessEvaluator.forTests(
      try RouteTable(groups: ["guests"]), GroupDirectory([GroupSettings(name: "guests")]))
    let changes = AccessChanges(
      store: rig.store, sessions: rig.sessions, policy: evaluator.policy, memberPlace: { _, _ in nil },
      invitationPrefix: "https://app.example.com/", storeHealth: rig.storeHealth, metrics: rig.metrics,
      audit: audit.trail)
    api = AdminAPI(
      authorization: .socket, sessions: rig.sessions, store: rig.store, accessChanges: changes,
      apple: try rig.apple.provider(rig.clock), keyring: rig.keyring, denyGroups: [], storeHealth: rig.storeHealth,
      metrics: rig.metrics, audit: audit.trail, reload: { _ in .done([]) }, refusals: LogLimit())
  }

  /// Signs in a user who has moved twice.
  private func signIn() throws -> (account: Account, session: Session, cookie: String) {
    let (anna, cookie) = try rig.signIn("003.anna")
    let moves = [earlier[0]: earlier[1], earlier[1]: anna.account.subject]
    rig.store.state.withLock { $0.moves = moves }
    return (anna.account, anna.session, cookie)
  }

  private func ask(_ method: HTTPRequest.Method, _ path: String, body: String = "") async -> ControlResponse {
    await api.answer(
      ControlRequest(
        head: HTTPRequest(method: method, scheme: "http", authority: "localhost", path: path), body: Array(body.utf8),
        client: ClientPeer(address: "127.0.0.1", isTrusted: false), requestID: "r"))
  }

  private func report<Report: Decodable>(_ type: Report.Type, _ response: ControlResponse) throws -> Report {
    try JSONDecoder().decode(type, from: Data(response.body))
  }

  @Test("An account and its sessions are found by each earlier subject")
  func found() async throws {
    let (account, session, _) = try signIn()
    for subject in earlier + [account.subject] {
      let accounts = try report(AccountsReport.self, await ask(.get, "/accounts?subject=\(subject)"))
      #expect(accounts.accounts.map(\.subject) == [account.subject.text], "\(subject)")
      let sessions = try report(SessionsReport.self, await ask(.get, "/accounts/\(subject)/sessions"))
      #expect(sessions.sessions.map(\.handle) == [session.handle.text], "\(subject)")
    }
    // The audit log names the user whose account was shown.
    let shown = try audit.lines().filter { $0.contains("\"act\":\"find_account\"") }
    let user = rig.keyring.pseudonym(of: account.subject)
    #expect(shown.count == 3 && shown.allSatisfy { $0.contains(user) }, "\(shown)")
    try await rig.stop()
  }

  @Test("All sessions of a user end by an earlier subject, on every loop, and those of that subject with them")
  func ended() async throws {
    let (account, _, cookie) = try signIn()
    let request = Asked(fields: ["Cookie: \(cookie)"])
    for loop in 0..<2 { #expect(try await rig.decide(request, loop: loop).identity != nil) }
    // As of a sign-in at a gateway that still had the previous team's configuration.
    _ = try rig.signIn(earlier[0].text)
    let answer = await ask(.delete, "/accounts/\(earlier[0])/sessions")
    #expect(try report(EndedReport.self, answer).ended == 2)
    for loop in 0..<2 { #expect(try await rig.decide(request, loop: loop).identity == nil) }
    #expect(rig.store.state.withLock { $0.sessions.isEmpty && $0.accounts.count == 2 })
    let ends = try audit.lines().filter { $0.contains("\"event\":\"session_ended\"") }
    for subject in [earlier[0], account.subject] {
      #expect(ends.count { $0.contains(rig.keyring.pseudonym(of: subject)) } == 1, "\(subject): \(ends)")
    }
    // Without a session left, that is no error, as by the present subject.
    for subject in [earlier[1], account.subject] {
      let again = await ask(.delete, "/accounts/\(subject)/sessions")
      #expect(again.head.status == .ok, "\(subject)")
    }
    try await rig.stop()
  }

  @Test("A user is disconnected by an earlier subject: the tokens are revoked and the account is deleted")
  func disconnected() async throws {
    let (account, _, cookie) = try signIn()
    let request = Asked(fields: ["Cookie: \(cookie)"])
    for loop in 0..<2 { #expect(try await rig.decide(request, loop: loop).identity != nil) }
    let done = try report(DisconnectionReport.self, await ask(.post, "/accounts/\(earlier[0])/disconnect"))
    #expect(done.forgotten && done.ended == 1 && done.revocations.map(\.isRevoked) == [true])
    #expect(rig.store.state.withLock { $0.accounts[account.subject] == nil && $0.tokens.isEmpty })
    for loop in 0..<2 { #expect(try await rig.decide(request, loop: loop).identity == nil) }
    try await rig.stop()
  }

  @Test("An earlier subject that has an account again means that one: to disconnect it leaves the moved account")
  func disconnectedAgain() async throws {
    let (account, session, _) = try signIn()
    _ = try rig.signIn(earlier[0].text)
    let done = try report(DisconnectionReport.self, await ask(.post, "/accounts/\(earlier[0])/disconnect"))
    #expect(done.forgotten && done.ended == 1)
    #expect(rig.store.state.withLock { Array($0.accounts.keys) } == [account.subject])
    #expect(rig.store.state.withLock { Array($0.sessions.keys) } == [session.handle])
    try await rig.stop()
  }

  @Test("A request for access is decided by an earlier subject of its user")
  func requested() async throws {
    let account = try signIn().account
    for decision in ["admit", "reject"] {
      _ = try await rig.store.ask(account.subject, code: .random(), at: rig.clock.now)
      let answer = await ask(
        .post, "/requests/\(earlier[0])/\(decision)", body: decision == "admit" ? "{\"group\":\"guests\"}" : "")
      #expect(answer.head.status == .ok, "\(decision)")
      #expect(rig.store.state.withLock { $0.requests.isEmpty }, "\(decision)")
    }
    #expect(try await rig.store.groups(of: account.subject).map(\.text) == ["guests"])
    try await rig.stop()
  }

  @Test("A subject that neither has an account nor leads to one is answered with 404, except by a search")
  func unknown() async throws {
    _ = try signIn()
    let search = await ask(.get, "/accounts?subject=004.nobody")
    #expect(try report(AccountsReport.self, search).accounts.isEmpty)
    let requests: [(HTTPRequest.Method, String)] = [(.get, "sessions"), (.delete, "sessions"), (.post, "disconnect")]
    for (method, act) in requests {
      let answer = await ask(method, "/accounts/004.nobody/\(act)")
      #expect(answer.head.status == .notFound, "\(method) \(act)")
    }
    try await rig.stop()
  }
}
