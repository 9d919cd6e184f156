import AppleIdentity
import FoundationEssentials
import Logging
import Sessions
import Synchronization
import Testing

@testable import Gateway

// One page of the migration of accounts to another team, before a store that fails.
@Suite("The migration of accounts to another team")
struct TeamMigrationTests {
  private let lines = RecordedLines()
  private static let locked = StoreError(code: .busy, message: "locked")
  private static let team = "XYZ123ABCD"

  /// - Parameter pace: the time that passes between two looks at the clock.
  private func migration(_ rig: GateRig, pace: Duration = .zero) throws -> TeamMigration {
    let logger = Logger(label: "test") { [lines] _ in RecordingLogHandler(lines, ["operation"]) }
    let time = SteadyTime(pace: pace)
    return TeamMigration(
      store: rig.store,
      storeHealth: StoreHealth(
        rig.settings.store, metrics: rig.metrics, logger: logger, now: rig.clock.milliseconds),
      sessions: rig.sessions, apple: try rig.apple.provider(rig.clock), keyring: rig.keyring,
      steady: time.next)
  }

  /// A steady clock of the test's own.
  private final class SteadyTime: Sendable {
    private let now = Mutex(ContinuousClock.now)
    private let pace: Duration

    init(pace: Duration) { self.pace = pace }

    @Sendable func next() -> ContinuousClock.Instant {
      now.withLock { now in
        defer { now += pace }
        return now
      }
    }
  }

  @Test("A page ends when its minute is over, and the next one goes on behind it")
  func timeLimit() async throws {
    let rig = try await GateRig()
    let migration = try migration(rig, pace: .seconds(31))
    for name in ["001.a", "001.b", "001.c"] { _ = try rig.signIn(name) }
    var request = MigrationPageRequest(stage: .prepare(team: Self.team))
    let first = try await migration.run(request)
    #expect(first.results.map(\.subject) == ["001.a", "001.b"] && first.next == "001.b" && first.stopped == nil)
    let isPlace = request.begin(at: try #require(first.next))
    #expect(isPlace)
    let second = try await migration.run(request)
    #expect(second.results.map(\.subject) == ["001.c"] && second.next == nil)
    try await rig.stop()
  }

  @Test("The report of a newer gateway is read, and an outcome that is unknown here is none that is final")
  func newerReport() throws {
    let json = #"{"results":[{"sub":"001.a","outcome":"postponed"},{"sub":"001.b","outcome":"done"}]}"#
    let report = try JSONDecoder().decode(MigrationReport.self, from: Data(json.utf8))
    #expect(report.results.map(\.outcome.rawValue) == ["postponed", "done"])
    #expect(report.results.map(\.outcome.isFinal) == [nil, true])
    let written = String(decoding: try JSONEncoder().encode(report.results), as: UTF8.self)
    #expect(written.contains(#""outcome":"postponed""#) && written.contains(#""outcome":"done""#), "\(written)")
  }

  @Test("Accounts that the store does not change are reported as failed, and the next run does them")
  func failedPreparation() async throws {
    let rig = try await GateRig()
    let migration = try migration(rig)
    for name in ["001.a", "001.b"] { _ = try rig.signIn(name) }
    rig.store.state.withLock { $0.failures["prepare"] = Self.locked }
    let request = MigrationPageRequest(stage: .prepare(team: Self.team))
    let failed = try await migration.run(request)
    #expect(failed.results.map(\.subject) == ["001.a", "001.b"])
    #expect(failed.results.allSatisfy { $0.outcome == .failed && $0.message == "locked" })
    #expect(failed.stopped == nil && failed.next == nil)
    #expect(lines.take() == Array(repeating: "session store operation failed administration", count: 2))
    #expect(rig.store.state.withLock { $0.accounts.values.allSatisfy { $0.claims.preparedTransfer == nil } })
    rig.store.state.withLock { $0.failures = [:] }
    #expect(try await migration.run(request).results.map(\.outcome) == [.done, .done])
    #expect(try await migration.run(request).results.map(\.outcome) == [.doneBefore, .doneBefore])
    try await rig.stop()
  }

  @Test("A ban without an account is prepared in its place among the accounts, and moves when they do")
  func named() async throws {
    let rig = try await GateRig()
    let migration = try migration(rig)
    for name in ["001.a", "001.c"] { _ = try rig.signIn(name) }
    let (banned, new) = (try #require(Subject("001.b")), try #require(Subject("002.new")))
    let ban = Ban(until: nil, reason: nil, since: rig.clock.now, by: "cli")
    rig.store.state.withLock { $0.bans[banned] = ban }
    var request = MigrationPageRequest(stage: .prepare(team: Self.team), limit: 2)
    let first = try await migration.run(request)
    #expect(first.results.map(\.subject) == ["001.a", "001.b"] && first.results.map(\.outcome) == [.done, .done])
    #expect(first.next == "001.b" && first.unpreparedBans == nil)
    request.after = banned
    let second = try await migration.run(request)
    #expect(second.results.map(\.outcome) == [.done] && second.next == nil && second.unpreparedBans == 0)
    // The store does not read what belongs to later pages.
    #expect(rig.store.state.withLock { $0.namedThrough } == [Subject("001.c"), nil])
    // Of another team than that of the configuration: the accounts say so, and of the ban there is nothing to say.
    let early = try await migration.run(MigrationPageRequest(stage: .complete))
    #expect(early.results.map(\.outcome) == [.otherTeam, .otherTeam])
    let transfer = PreparedTransfer(subject: try #require(Subject("000.transfer")), team: "DEF123GHIJ")
    rig.store.state.withLock { state in
      state.accounts = [:]
      state.transfers = [transfer: banned]
    }
    let done = try await migration.run(MigrationPageRequest(stage: .complete))
    #expect(done.results.map(\.outcome) == [.done] && done.results.first?.newSubject == new.text)
    #expect(done.unpreparedBans == nil && rig.store.state.withLock { $0.bans } == [new: ban])
    try await rig.stop()
  }

  @Test("A ban whose account was deleted after the preparation moves, and is no line of the mapping")
  func deleted() async throws {
    let rig = try await GateRig()
    let migration = try migration(rig)
    let (old, new) = (try #require(Subject("001.b")), try #require(Subject("002.new")))
    let ban = Ban(until: nil, reason: nil, since: rig.clock.now, by: "cli")
    let transfer = PreparedTransfer(subject: try #require(Subject("000.transfer")), team: "DEF123GHIJ")
    rig.store.state.withLock { state in
      state.bans[old] = ban
      state.transfers[transfer] = old
      state.deleted = [old]
    }
    let prepared = try await migration.run(MigrationPageRequest(stage: .prepare(team: Self.team)))
    #expect(prepared.results == [] && rig.apple.calls == 0)
    let done = try await migration.run(MigrationPageRequest(stage: .complete))
    #expect(done.results.map(\.subject) == ["000.transfer"] && done.results.map(\.outcome) == [.done])
    #expect(done.results.first?.newSubject == nil && done.results.first?.message?.contains("was deleted") == true)
    #expect(rig.store.state.withLock { $0.bans } == [new: ban])
    try await rig.stop()
  }

  @Test("The ban of an account that is deleted before its page is read moves in the same run, at its end")
  func deletedBetweenPages() async throws {
    let rig = try await GateRig()
    let migration = try migration(rig)
    let subjects = try ["001.a", "001.b"].map { try rig.signIn($0).snapshot.account.subject }
    let (old, new) = (subjects[1], try #require(Subject("002.new")))
    let ban = Ban(until: nil, reason: nil, since: rig.clock.now, by: "cli")
    let transfer = PreparedTransfer(subject: try #require(Subject("000.transfer")), team: "DEF123GHIJ")
    rig.store.state.withLock { state in
      state.accounts[old]?.claims.preparedTransfer = transfer
      state.bans[old] = ban
      state.transfers[transfer] = old
    }
    var request = MigrationPageRequest(stage: .complete, limit: 1)
    let first = try await migration.run(request)
    #expect(first.results.map(\.outcome) == [.notPrepared] && first.next == "001.a")
    // The store has its transfer identifier only now, and that is before the place which the run has reached.
    rig.store.state.withLock { state in
      state.accounts[old] = nil
      state.deleted = [old]
    }
    let isPlace = request.begin(at: try #require(first.next))
    #expect(isPlace)
    let second = try await migration.run(request)
    #expect(second.results.map(\.subject) == ["000.transfer"] && second.results.map(\.outcome) == [.done])
    #expect(second.next == nil && rig.store.state.withLock { $0.bans } == [new: ban])
    try await rig.stop()
  }

  @Test("A run goes on from the place of a report, also among the users whose subjects were deleted")
  func places() {
    var request = MigrationPageRequest(stage: .complete)
    #expect(request.place == nil)
    for place in ["001.a", " 000.transfer", " "] {
      let isPlace = request.begin(at: place)
      #expect(isPlace && request.place == place && request.isAmongDeleted == place.hasPrefix(" "))
    }
    for wrong in ["", "001.a ", "  "] {
      let isPlace = request.begin(at: wrong)
      #expect(!isPlace, "\(wrong)")
    }
  }

  @Test("The ban of an account that is deleted after its page was read moves as well")
  func deletedMeanwhile() async throws {
    let rig = try await GateRig()
    let migration = try migration(rig)
    let (old, new) = (try rig.signIn("001.a").snapshot.account.subject, try #require(Subject("002.new")))
    let ban = Ban(until: nil, reason: nil, since: rig.clock.now, by: "cli")
    let transfer = PreparedTransfer(subject: try #require(Subject("000.transfer")), team: "DEF123GHIJ")
    rig.store.state.withLock { state in
      state.accounts[old]?.claims.preparedTransfer = transfer
      state.bans[old] = ban
      state.transfers[transfer] = old
      state.deletedMeanwhile = [old]
    }
    let report = try await migration.run(MigrationPageRequest(stage: .complete))
    #expect(report.results.map(\.outcome) == [.done])
    #expect(rig.store.state.withLock { $0.bans } == [new: ban])
    try await rig.stop()
  }

  @Test("A dry run stores nothing again, and one that is none stores the identifiers of an earlier run again")
  func storedAgain() async throws {
    let rig = try await GateRig()
    let migration = try migration(rig)
    let subject = try rig.signIn("001.a").snapshot.account.subject
    let transfer = PreparedTransfer(subject: try #require(Subject("000.transfer")), team: Self.team)
    rig.store.state.withLock { $0.accounts[subject]?.claims.preparedTransfer = transfer }
    var request = MigrationPageRequest(stage: .prepare(team: Self.team), isDry: true)
    #expect(try await migration.run(request).results.map(\.outcome) == [.doneBefore])
    #expect(rig.store.state.withLock { $0.transfers.isEmpty })
    request.isDry = false
    #expect(try await migration.run(request).results.map(\.outcome) == [.doneBefore])
    #expect(rig.store.state.withLock { $0.transfers } == [transfer: subject])
    #expect(rig.apple.calls == 0)
    try await rig.stop()
  }

  @Test("A ban whose user Apple does not know is reported as such, and the accounts are prepared")
  func unknownToApple() async throws {
    let rig = try await GateRig()
    let migration = try migration(rig)
    let banned = try #require(Subject("typed.by.hand"))
    let ban = Ban(until: nil, reason: nil, since: rig.clock.now, by: "cli")
    rig.store.state.withLock { $0.bans[banned] = ban }
    rig.apple.refuseMigration()
    let report = try await migration.run(MigrationPageRequest(stage: .prepare(team: Self.team)))
    #expect(report.results.map(\.outcome) == [.unknownToApple] && report.stopped == nil)
    #expect(report.results.first?.message?.hasPrefix("a ban or a group names this user") == true)
    #expect(rig.store.state.withLock { $0.bans } == [banned: ban])
    try await rig.stop()
  }

  @Test("An account that the store does not move stays as it is, with its token, and the next run moves it")
  func failedMove() async throws {
    let rig = try await GateRig()
    let migration = try migration(rig)
    let old = try rig.signIn("001.a").snapshot.account.subject
    let (prepared, new) = (try #require(Subject("000.transfer")), try #require(Subject("002.new")))
    rig.store.state.withLock { state in
      state.accounts[old]?.claims.preparedTransfer = PreparedTransfer(subject: prepared, team: "DEF123GHIJ")
      state.failures["move"] = Self.locked
    }
    let failed = try await migration.run(MigrationPageRequest(stage: .complete))
    #expect(failed.results.map(\.outcome) == [.failed] && failed.results.first?.newSubject == nil)
    #expect(lines.take() == ["session store operation failed administration"])
    #expect(rig.store.state.withLock { $0.accounts[old] != nil && $0.tokens[old] != nil })
    rig.store.state.withLock { $0.failures = [:] }
    let done = try await migration.run(MigrationPageRequest(stage: .complete))
    #expect(done.results.map(\.outcome) == [.done] && done.results.first?.newSubject == new.text)
    #expect(rig.store.state.withLock { Array($0.accounts.keys) == [new] && $0.tokens[new] != nil })
    try await rig.stop()
  }

  @Test("A page that the store does not list fails as a whole, before Apple is asked")
  func failedList() async throws {
    let rig = try await GateRig()
    let migration = try migration(rig)
    _ = try rig.signIn("001.a")
    rig.store.state.withLock { $0.failures["accounts"] = Self.locked }
    let error = await #expect(throws: StoreError.self) {
      _ = try await migration.run(MigrationPageRequest(stage: .prepare(team: Self.team)))
    }
    #expect(error?.code == .busy && rig.apple.calls == 0)
    try await rig.stop()
  }

  @Test("A damaged account is reported as failed in its place, and the others are prepared, page by page")
  func damaged() async throws {
    let rig = try await GateRig()
    let migration = try migration(rig)
    let subjects = try ["001.a", "001.b", "001.c"].map { try rig.signIn($0).snapshot.account.subject }
    rig.store.state.withLock { $0.damaged = [subjects[1]] }
    var request = MigrationPageRequest(stage: .prepare(team: Self.team), limit: 2)
    let first = try await migration.run(request)
    #expect(first.results.map(\.outcome) == [.done, .failed] && first.next == subjects[1].text)
    #expect(first.results.last?.subject == subjects[1].text)
    #expect(first.results.last?.message?.contains("damaged") == true)
    request.after = subjects[1]
    let second = try await migration.run(request)
    #expect(second.results.map(\.outcome) == [.done] && second.next == nil)
    try await rig.stop()
  }
}
