import AccessPolicy
import FoundationEssentials
import Operations
import Pages
import Sessions
import Synchronization
import Testing
import WebFormats

@testable import Gateway

@Suite("Refused acts of managers")
struct PeopleActsTests {
  private static let actor = AccessChanges.Actor(author: "manager")

  private func acts(_ rig: GateRig, _ audit: AuditTrail? = nil) throws -> PeopleActs {
    var access = AccessSettings()
    access.managers = ["managers"]
    let groups = GroupDirectory([GroupSettings(name: "managers"), GroupSettings(name: "guests")])
    let routes = try RouteTable(access: access, routes: [], groups: ["managers", "guests"])
    let audit = audit ?? AuditTrail(.silent, keyring: rig.keyring)
    let evaluator = AccessEvaluator.forTests(routes, groups)
    return PeopleActs(
      accessChanges: AccessChanges(
        store: rig.store, sessions: rig.sessions, policy: evaluator.policy, memberPlace: { _, _ in nil },
        invitationPrefix: "https://app.example.com/", storeHealth: rig.storeHealth,
        metrics: rig.metrics, audit: audit),
      store: rig.store, sessions: rig.sessions,
      authority: ManagerAuthority(access, [], evaluator), audit: audit)
  }

  @Test("A manager cannot revoke an invitation whose record is damaged: its group may be protected")
  func damagedInvitation() async throws {
    let rig = try await GateRig()
    let acts = try acts(rig)
    let manager = try #require(Subject("001.manager"))
    _ = try await acts.carryOut(
      .invite(PeopleActs.InvitationForm(group: "guests", id: "abcd1000")), for: manager, by: Self.actor)
    rig.store.state.withLock { $0.damagedInvitations = ["abcd1000"] }
    await #expect(throws: StoreError.self) {
      _ = try await acts.carryOut(.revoke(id: "abcd1000"), for: manager, by: Self.actor)
    }
    #expect(rig.store.state.withLock { $0.invitations.count } == 1)
    try await rig.stop()
  }

  @Test("A manager can neither lift nor replace the ban of an operator, and can do both with that of a manager")
  func bans() async throws {
    let rig = try await GateRig()
    let recorded = try RecordedAudit(rig.keyring)
    let acts = try acts(rig, recorded.trail)
    let (manager, user) = (try #require(Subject("001.manager")), try #require(Subject("001.b")))
    let actor = AccessChanges.Actor(author: recorded.trail.author(ofManager: manager))
    let replacement = PeopleActs.Act.ban(user, until: "2999-12-31", reason: "")
    func isRefused(_ act: PeopleActs.Act) async throws -> Bool {
      if case .protected = try await acts.carryOut(act, for: manager, by: actor) { true } else { false }
    }
    let now = rig.clock.now
    rig.store.state.withLock { $0.bans[user] = Ban(until: nil, reason: nil, since: now, by: "token") }
    #expect(try await isRefused(.unban(user)))
    #expect(try await isRefused(replacement))
    #expect(rig.store.state.withLock { $0.bans[user]?.by == "token" && $0.bans[user]?.until == nil })
    let lines = try recorded.lines()
    #expect(lines.count == 2 && lines.allSatisfy { $0.contains("\"failed\":\"protected\"") }, "\(lines)")
    let ended = now.addingTimeInterval(-1)
    rig.store.state.withLock { $0.bans[user] = Ban(until: ended, reason: nil, since: ended, by: "token") }
    #expect(try await !isRefused(replacement))
    #expect(rig.store.state.withLock { $0.bans[user]?.by } == actor.author)
    #expect(try await !isRefused(replacement))
    #expect(try await !isRefused(.unban(user)))
    #expect(rig.store.state.withLock { $0.bans[user] == nil })
    try await rig.stop()
  }

  @Test("The end of a user's sessions that the store does not carry out is audited as failed, and ends no session")
  func failedEnd() async throws {
    let rig = try await GateRig()
    let recorded = try RecordedAudit(rig.keyring)
    let acts = try acts(rig, recorded.trail)
    let manager = try #require(Subject("001.manager"))
    let session = try rig.signIn("001.b").snapshot.session
    rig.store.state.withLock { $0.failures["end"] = StoreError(code: .busy, message: "locked") }
    for act in [PeopleActs.Act.endSession(session.handle, of: session.subject), .endSessions(of: session.subject)] {
      let error = await #expect(throws: AdminError.self) {
        _ = try await acts.carryOut(act, for: manager, by: Self.actor)
      }
      #expect(error?.status == 503, "the page says that the store is unavailable")
    }
    #expect(rig.store.state.withLock { $0.sessions.count } == 1)
    let failures = rig.metrics.storeFailures
    #expect(failures.total("end") == 2 && failures.total("administration") == 0, "each is counted once")
    rig.store.state.withLock { $0.failures = [:] }
    _ = try await acts.carryOut(.endSessions(of: session.subject), for: manager, by: Self.actor)
    #expect(rig.store.state.withLock { $0.sessions.isEmpty })
    let lines = try recorded.lines()
    #expect(lines.count == 4, "\(lines)")
    for (line, act) in zip(lines, ["end_session", "end_sessions", "end_sessions"]) {
      #expect(line.contains("\"act\":\"\(act)\"") && line.contains("\"by\":\"manager\""), "\(line)")
    }
    #expect(lines.map { $0.contains("\"failed\":\"store_unavailable\"") } == [true, true, false, false])
    #expect(lines.last?.contains("\"event\":\"session_ended\"") == true)
    try await rig.stop()
  }

  @Test("The form of an invitation that is sent again gets the same link, but not with other settings or another code")
  func invitationTwice() async throws {
    let rig = try await GateRig()
    let acts = try acts(rig)
    let manager = try #require(Subject("001.manager"))
    let code = InvitationCode.random()
    func link(_ form: String) async throws -> String? {
      let act = try #require(PeopleActs.Act(try FormFields(parsing: Array("act=invite&\(form)".utf8))))
      guard case .invited(let link) = try await acts.carryOut(act, for: manager, by: Self.actor) else { return nil }
      return link
    }
    let form = "group=guests&id=abcd1000&link=\(code.exposedText)&uses=2&days=7&note=spring"
    for _ in 0..<2 {
      #expect(try await link(form) == "https://app.example.com/" + code.exposedText)
      rig.clock.advance(90)
    }
    for (part, other) in [
      ("uses=2", "uses=3"), ("days=7", "days=8"), ("note=spring", "note="), ("id=abcd1000", "id=abcd1001"),
      (code.exposedText, InvitationCode.random().exposedText), ("&link=\(code.exposedText)", ""),
    ] {
      let changed = form.replacing(part, with: other)
      // Another ID is another form, whose code is taken here.
      #expect(try await link(changed) == nil, "\(other)")
    }
    #expect(rig.store.state.withLock { $0.invitations.count } == 1)
    try await rig.stop()
  }

  @Test("The form of an invitation that was revoked makes none again: its link would work once more")
  func revokedInvitation() async throws {
    let rig = try await GateRig()
    let acts = try acts(rig)
    let manager = try #require(Subject("001.manager"))
    let form = PeopleActs.Act.invite(
      PeopleActs.InvitationForm(group: "guests", id: "abcd1000", code: InvitationCode.random()))
    func isInvited() async throws -> Bool {
      if case .invited = try await acts.carryOut(form, for: manager, by: Self.actor) { true } else { false }
    }
    #expect(try await isInvited())
    _ = try await acts.carryOut(.revoke(id: "abcd1000"), for: manager, by: Self.actor)
    #expect(rig.store.state.withLock { $0.invitations.isEmpty })
    rig.clock.advance(86_400)
    #expect(try await isInvited() == false)
    #expect(rig.store.state.withLock { $0.invitations.isEmpty })
    try await rig.stop()
  }

  @Test("The form of an invitation that was removed after its end makes none again")
  func removedInvitation() async throws {
    let rig = try await GateRig()
    let acts = try acts(rig)
    let manager = try #require(Subject("001.manager"))
    let form = PeopleActs.Act.invite(
      PeopleActs.InvitationForm(group: "guests", id: "abcd1000", code: InvitationCode.random()))
    guard case .invited = try await acts.carryOut(form, for: manager, by: Self.actor) else { throw RigError.noSubject }
    rig.clock.advance(38 * 86_400)
    rig.store.state.withLock { $0.invitations = [:] }
    if case .invited = try await acts.carryOut(form, for: manager, by: Self.actor) {
      Issue.record("its link works once more")
    }
    #expect(rig.store.state.withLock { $0.invitations.isEmpty })
    try await rig.stop()
  }

  @Test("Too many open invitations, a group that is gone and a malformed number are told apart")
  func refusals() async throws {
    let rig = try await GateRig()
    let acts = try acts(rig)
    let manager = try #require(Subject("001.manager"))
    func result(_ act: PeopleActs.Act) async throws -> PeopleResult? {
      guard case .done(let result) = try await acts.carryOut(act, for: manager, by: Self.actor) else { return nil }
      return result
    }
    func invite(_ number: Int, to group: String = "guests", uses: String = "1") async throws -> PeopleResult? {
      let form = PeopleActs.InvitationForm(group: group, id: "abcd\(1_000 + number)", uses: uses)
      return try await result(.invite(form))
    }
    #expect(try await invite(0, to: "gone") == .unknownGroup)
    #expect(try await result(.add(manager, group: "gone")) == .unknownGroup)
    #expect(try await invite(0, uses: "none") == .invalid)
    #expect(try await invite(0) == nil)
    #expect(try await invite(0) == .unchanged, "the form was sent before")
    for number in 1..<1_000 { #expect(try await invite(number) == nil) }
    #expect(try await invite(1_000) == .tooManyInvitations)
    #expect(try await invite(999) == .unchanged, "the form was sent before, and no further one is asked for")
    #expect(try await result(.revoke(id: "abcd1000")) == .revoked)
    #expect(try await invite(1_001) == nil)
    #expect(try await result(.revoke(id: "abcd1001")) == .revoked)
    #expect(try await invite(1_002) == nil)
    try await rig.stop()
  }
}
