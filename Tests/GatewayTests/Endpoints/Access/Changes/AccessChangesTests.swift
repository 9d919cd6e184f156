import AccessPolicy
import Logging
import Sessions
import Synchronization
import Testing

@testable import Gateway

@Suite("Changes of access at run time")
struct AccessChangesTests {
  private static let actor = AccessChanges.Actor(author: "cli")

  private func changes(
    _ rig: GateRig, _ storeHealth: StoreHealth? = nil, _ audit: AuditTrail? = nil
  ) throws -> AccessChanges {
    let routes = try RouteTable(access: AccessSettings(), routes: [], groups: ["guests"])
    let evaluator = AccessEvaluator.forTests(routes, GroupDirectory([GroupSettings(name: "guests")]))
    return AccessChanges(
      store: rig.store, sessions: rig.sessions, policy: evaluator.policy, memberPlace: { _, _ in nil },
      invitationPrefix: "https://app.example.com/",
      storeHealth: storeHealth ?? rig.storeHealth, metrics: rig.metrics,
      audit: audit ?? AuditTrail(.silent, keyring: rig.keyring))
  }

  @Test("A request that somebody else rejects while it is being admitted admits nobody")
  func rejectedMeanwhile() async throws {
    let rig = try await GateRig()
    let administration = try changes(rig)
    let subject = try rig.signIn("001.a").snapshot.account.subject
    let code = AccessRequestCode.random()
    _ = try await rig.store.ask(subject, code: code, at: rig.clock.now)
    rig.store.state.withLock { state in
      state.beforeRequest = { _ = try? await administration.reject(code.text, by: Self.actor) }
    }
    await #expect(throws: AdminError.noRequest) {
      _ = try await administration.admit(code.text, to: "guests", by: Self.actor)
    }
    #expect(try await rig.store.groups(of: subject).isEmpty)
    _ = try await rig.store.ask(subject, code: code, at: rig.clock.now)
    let admitted = try await administration.admit(code.text, to: "guests", by: Self.actor)
    #expect(admitted.subject == subject)
    #expect(try await rig.store.groups(of: subject).map(\.text) == ["guests"])
    try await rig.stop()
  }

  @Test("Only the error for an unknown request to admit has the advice to add a user who has not asked")
  func unknownRequests() async throws {
    let rig = try await GateRig()
    let administration = try changes(rig)
    for request in [AccessRequestCode.random().text, "001.a"] {
      await #expect(throws: AdminError.noRequestToAdmit) {
        _ = try await administration.admit(request, to: "guests", by: Self.actor)
      }
      await #expect(throws: AdminError.noRequest) { _ = try await administration.reject(request, by: Self.actor) }
    }
    #expect(AdminError.noRequestToAdmit.message.contains("; `cordon groups add` admits"))
    #expect(!AdminError.noRequest.message.contains("groups add"))
    try await rig.stop()
  }

  @Test("A user who is added to a group, or removed from it, is so on every loop before the change is answered")
  func members() async throws {
    var lists = AccessLists()
    lists.groups = ["guests"]
    var settings = try GatewaySettings.forTests(routes: [RouteSettings(path: "/guests/", access: .lists(lists))])
    settings.routing.groups = [GroupConfiguration(name: "guests")]
    let rig = try await GateRig(settings)
    let administration = try changes(rig)
    let (anna, cookie) = try rig.signIn("001.anna")
    let request = Asked(target: "/guests/x", fields: ["Cookie: \(cookie)"])
    for loop in 0..<2 { #expect(try await rig.decide(request, loop: loop).identity == nil) }
    #expect(try await administration.add(anna.account.subject, to: "guests", by: Self.actor).isNew)
    for loop in 0..<2 { #expect(try await rig.decide(request, loop: loop).identity != nil) }
    try await administration.remove(anna.account.subject, from: "guests", by: Self.actor)
    for loop in 0..<2 { #expect(try await rig.decide(request, loop: loop).identity == nil) }
    try await rig.stop()
  }

  @Test("A ban by the previous subject ends the sessions of the account that has moved, on every loop")
  func previousSubject() async throws {
    let rig = try await GateRig()
    let recorded = try RecordedAudit(rig.keyring)
    let administration = try changes(rig, nil, recorded.trail)
    let (anna, cookie) = try rig.signIn("002.anna")
    let old = try #require(Subject("001.anna"))
    rig.store.state.withLock { $0.moves[old] = anna.account.subject }
    let request = Asked(fields: ["Cookie: \(cookie)"])
    for loop in 0..<2 { #expect(try await rig.decide(request, loop: loop).identity != nil) }
    #expect(try await administration.ban(old, by: Self.actor).ended == 1)
    let ends = try recorded.lines().filter { $0.contains("\"event\":\"session_ended\"") }
    let user = rig.keyring.pseudonym(of: anna.account.subject)
    #expect(ends.count == 1 && ends.allSatisfy { $0.contains(user) }, "\(ends)")
    for loop in 0..<2 { #expect(try await rig.decide(request, loop: loop).identity == nil) }
    #expect(try await rig.store.ban(of: anna.account.subject) != nil)
    try await administration.unban(anna.account.subject, by: Self.actor)
    #expect(rig.store.state.withLock { $0.bans.isEmpty })
    try await rig.stop()
  }

  @Test("An operator changes the groups of the account that has moved by its previous subject, a manager does not")
  func previousMember() async throws {
    let rig = try await GateRig()
    let administration = try changes(rig)
    let (manager, old) = (try #require(Subject("003.manager")), try #require(Subject("001.anna")))
    let anna = try rig.signIn("002.anna").snapshot.account.subject
    rig.store.state.withLock { $0.moves[old] = anna }
    let added = try await administration.add(old, to: "guests", by: Self.actor)
    #expect(added.member == anna && added.isNew)
    #expect(try await rig.store.groups(of: anna).map(\.text) == ["guests"])
    #expect(try await rig.store.groups(of: old).isEmpty)
    // As an earlier version has left it.
    let byManager = AccessChanges.Actor(author: .manager(manager, rig.keyring))
    #expect(try await administration.add(old, to: "guests", by: byManager).member == old)
    #expect(try await administration.remove(old, from: "guests", by: Self.actor) == anna)
    for subject in [old, anna] { #expect(try await rig.store.groups(of: subject).isEmpty, "\(subject)") }
    try await rig.stop()
  }

  @Test("The revocation of a token that the store has lost is refused, and ends the token on every loop")
  func lostToken() async throws {
    var settings = try GatewaySettings.forTests(routes: [Self.machineRoute])
    settings.routing.groups = [GroupConfiguration(name: "machines")]
    let rig = try await GateRig(settings)
    let administration = try changes(rig)
    let (token, _) = try await rig.issueToken("backup", group: "machines")
    let request = Asked(target: "/api/x", fields: ["Authorization: Bearer \(token)"])
    for loop in 0..<2 { #expect(try await rig.decide(request, loop: loop).identity != nil) }
    // As after a failover that lost the token.
    rig.store.state.withLock { $0.machineTokens = [:] }
    await #expect(throws: AdminError.noMachineToken) {
      try await administration.revokeToken("backup", by: Self.actor)
    }
    for loop in 0..<2 { #expect(try await rig.decide(request, loop: loop).status == 401) }
    try await rig.stop()
  }

  private static var machineRoute: RouteSettings {
    var lists = AccessLists()
    lists.groups = ["machines"]
    var route = RouteSettings(path: "/api/", access: .lists(lists))
    route.tokens = true
    return route
  }

  @Test("A damaged account does not keep the others from being listed; the list names it, and the log tells of it once")
  func damagedAccount() async throws {
    let rig = try await GateRig()
    let lines = RecordedLines()
    let logger = Logger(label: "test") { _ in RecordingLogHandler(lines, ["operation"]) }
    let administration = try changes(
      rig, StoreHealth(rig.settings.store, metrics: rig.metrics, logger: logger, now: rig.clock.milliseconds))
    let subjects = try ["001.a", "001.b", "001.c"].map { try rig.signIn($0).snapshot.account.subject }
    for subject in subjects {
      _ = try await rig.store.add(subject, to: try #require(GroupName("guests")), by: "cli", at: rig.clock.now)
      _ = try await rig.store.ask(subject, code: .random(), at: rig.clock.now)
    }
    rig.store.state.withLock { $0.damaged = [subjects[1]] }
    for group in [nil, "guests"] {
      let page = try await administration.accounts(group: group, limit: 10)
      #expect(page.accounts.map(\.summary.account.subject) == [subjects[0], subjects[2]])
      #expect(page.damaged.map(\.name) == ["001.b"] && page.next == nil)
    }
    // The damaged one is between the pages, and on one of them.
    let first = try await administration.accounts(limit: 1)
    #expect(first.accounts.count == 1 && first.damaged.isEmpty && first.next == subjects[0])
    let second = try await administration.accounts(after: first.next, limit: 1)
    #expect(second.accounts.map(\.summary.account.subject) == [subjects[2]] && second.damaged.count == 1)
    let requests = try await administration.requests(limit: 10)
    #expect(requests.requests.count == 2 && requests.damaged.count == 1 && requests.next == nil)
    #expect(lines.take() == ["session store operation failed administration"])
    try await rig.stop()
  }

  @Test("A page of requests is followed by another one, whichever of its requests are damaged")
  func pagesOfRequests() throws {
    let subject = try #require(Subject("001.a"))
    let now = TestClock().now
    let account = Account(
      subject: subject, name: nil, claims: AccountClaims(), latestAuthorization: now, lastVerified: now, lastAsked: nil)
    let codes = [AccessRequestCode.random(), .random()]
    let readable = Listed.readable(
      (request: AccessRequest(code: codes[0], subject: subject, asked: now), account: account))
    let damaged = Listed<(request: AccessRequest, account: Account)>.damaged(
      DamagedRecord(name: codes[1].text, what: "account"))
    #expect(AccessChanges.RequestPage([readable, damaged], limit: 2).next == codes[0])
    #expect(AccessChanges.RequestPage([damaged, damaged], limit: 2).next == codes[1])
    #expect(AccessChanges.RequestPage([readable], limit: 2).next == nil)
  }
}
