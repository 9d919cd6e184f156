import Logging
import Operations
import Sessions
import Synchronization
import Testing

@testable import Gateway

// The availability of the store, as probes see it: its trouble informs while signed-in requests can be served, and
// gates readiness when they cannot.
@Suite("The health of the store")
struct StoreHealthTests {
  private let health = HealthMonitor(checks: [HealthCheck(name: "store", status: .unknown, effect: .gatesReadiness)])
  private let metrics = MetricsRegistry(version: "test", startTime: Timestamp(microseconds: 0))

  private let lines = RecordedLines()

  private func make(grace: Duration) -> StoreHealth {
    var settings = StoreSettings(location: .sqlite(path: "/nowhere"))
    settings.outageGrace = grace
    let logger = Logger(label: "test") { [lines] _ in RecordingLogHandler(lines, []) }
    return StoreHealth(settings, metrics: metrics, logger: logger, now: 0)
  }

  private func report(_ store: StoreHealth, at now: Int64) -> HealthReport {
    store.report(to: health, place: "a store", now: now, at: Timestamp(microseconds: 0))
    return health.report
  }

  private let away = StoreError(code: .unavailable, message: "cannot be reached")

  @Test("Until the store has answered for the first time the gateway is not ready")
  func start() {
    let store = make(grace: .seconds(600))
    #expect(!report(store, at: 0).isReady)
    store.didNotOpen(away)
    #expect(!report(store, at: 0).isReady)
    #expect(String(decoding: health.report.readyz().body, as: UTF8.self).contains("cannot be reached"))
    #expect(metrics.storeFailures.total("open") == 1)
    store.wrote(at: 1)
    #expect(report(store, at: 1).isReady)
    #expect(health.report.summary == .ok)
  }

  @Test("A store that is away leaves the gateway ready for the outage grace, degraded, and no longer")
  func grace() {
    let store = make(grace: .seconds(10))
    store.wrote(at: 0)
    store.didNotAnswer("find", away)
    #expect(report(store, at: 9_999).isReady)
    #expect(health.report.summary == .degraded && health.report.healthz().status == 200)
    #expect(String(decoding: health.report.healthz().body, as: UTF8.self).contains("cannot be reached"))
    #expect(!report(store, at: 10_000).isReady)
    #expect(health.report.healthz().status == 503)
    store.wrote(at: 20_000)
    #expect(report(store, at: 20_000).isReady && health.report.summary == .ok)
  }

  @Test("Without a grace the gateway is ready while the store answers, however seldom it is asked")
  func noGrace() {
    let store = make(grace: .zero)
    store.wrote(at: 0)
    #expect(report(store, at: 5_000).isReady)
    store.didNotAnswer("changes", away)
    #expect(!report(store, at: 5_000).isReady)
  }

  @Test("While the change feed fails, no other answer of the store prolongs the grace, and the gateway says so")
  func feedFails() {
    let store = make(grace: .seconds(10))
    store.wrote(at: 0)
    store.feedAnswered(at: 0)
    store.feedDidNotAnswer(StoreError(code: .denied, message: "no right to read changes"))
    for moment in stride(from: Int64(0), to: 10_000, by: 2_500) {
      store.wrote(at: moment)
      store.answered(at: moment)
      #expect(store.isTrusted(at: moment) && !store.refusesSessions(at: moment) && report(store, at: moment).isReady)
      #expect(health.report.summary == .degraded)
      #expect(String(decoding: health.report.healthz().body, as: UTF8.self).contains("no right to read changes"))
    }
    #expect(!store.isTrusted(at: 10_000) && store.refusesSessions(at: 10_000) && !report(store, at: 10_000).isReady)
    store.feedAnswered(at: 11_000)
    store.wrote(at: 11_000)
    #expect(store.isTrusted(at: 11_000) && !store.refusesSessions(at: 11_000) && report(store, at: 11_000).isReady)
    #expect(health.report.summary == .ok)
  }

  @Test("An answer from when the clock was ahead prolongs no grace")
  func clockSetBack() {
    let store = make(grace: .seconds(10))
    store.feedAnswered(at: 3_600_000)
    #expect(store.isTrusted(at: 3_600_000) && !store.isTrusted(at: 5_000))
    #expect(store.mustAsk(at: 5_000, after: 4_500), "the feed is asked again")
    store.answered(at: 5_000)
    #expect(store.isTrusted(at: 5_000))
  }

  @Test("A change feed that has answered lately need not be asked while the store is well")
  func silence() {
    let store = make(grace: .seconds(600))
    #expect(store.mustAsk(at: 0, after: 4_500))
    store.wrote(at: 0)
    #expect(store.mustAsk(at: 0, after: 4_500))
    store.feedAnswered(at: 0)
    #expect(!store.mustAsk(at: 4_499, after: 4_500))
    #expect(store.mustAsk(at: 4_500, after: 4_500))
    store.didNotAnswer("find", away)
    #expect(store.mustAsk(at: 1, after: 4_500))
  }

  @Test("With an outage grace that is soon over the change feed is always asked, so that answers keep renewing it")
  func shortGrace() {
    let store = make(grace: .seconds(8))
    store.wrote(at: 0)
    store.feedAnswered(at: 0)
    #expect(store.mustAsk(at: 1, after: 4_500))
  }

  @Test("A store that can be read but not written leaves the gateway ready")
  func readOnly() {
    let store = make(grace: .seconds(10))
    store.wrote(at: 0)
    store.didNotWrite(StoreError(code: .full, message: "no room left"))
    store.answered(at: 60_000)
    #expect(report(store, at: 60_000).isReady)
    #expect(health.report.summary == .degraded && !store.isHealthy)
  }

  @Test("A store that was full is failing until a sign-in is stored, or nothing was refused for five minutes")
  func full() {
    let store = make(grace: .seconds(600))
    store.wrote(at: 0)
    let full = StoreError(code: .full, message: "no room left")
    store.failed("sign_in", full)
    #expect(!store.isHealthy)
    for moment in stride(from: Int64(1_000), to: 300_000, by: 1_000) { store.wrote(at: moment) }
    store.failed("sign_in", full)
    store.didNotAnswer("find", away)
    for moment in stride(from: Int64(301_000), to: 601_000, by: 1_000) { store.wrote(at: moment) }
    #expect(!store.isHealthy && !store.isUnavailable, "the check has had room, the sign-in had none")
    #expect(
      logged() == [
        "session store not writable, sign-in and sign-out are unavailable", Self.unavailable,
        "session store available again",
      ])
    #expect(report(store, at: 601_000).isReady && health.report.summary == .degraded)
    store.wrote(at: 601_000)
    #expect(store.isHealthy && logged() == ["session store writable again"])
    store.failed("end", full)
    store.hadRoom()
    #expect(!store.isHealthy)
    store.wrote(at: 602_000)
    #expect(store.isHealthy, "a sign-in was stored")
  }

  @Test("A store that a newer version has changed makes the gateway unready at once")
  func newerSchema() {
    let store = make(grace: .seconds(600))
    store.wrote(at: 0)
    store.didNotAnswer("changes", StoreError(code: .newerSchema, message: "run the newer version"))
    #expect(!report(store, at: 1).isReady)
  }

  @Test("Answers that arrive on other threads while the store refuses this version leave no trust behind")
  func refusalAmongAnswers() async {
    let newer = StoreError(code: .newerSchema, message: "run the newer version")
    for _ in 0..<100 {
      let store = make(grace: .seconds(600))
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask {
            for moment in 0..<100 { store.answered(at: Int64(moment), asked: 0) }
          }
        }
        group.addTask { store.failed("touch", newer) }
      }
      #expect(store.isRefused && !store.isTrusted(at: 1) && store.refusesSessions(at: 1))
    }
  }

  @Test("An answer that took longer than the outage grace can be used by the request that asked, not much longer")
  func slowAnswer() {
    let store = make(grace: .zero)
    store.answered(at: 4_000, asked: 0)
    #expect(store.isTrusted(at: 4_000) && store.isTrusted(at: 4_999) && !store.isTrusted(at: 5_000))
    store.feedDidNotAnswer(away)
    store.answered(at: 9_000, asked: 5_000)
    #expect(!store.isTrusted(at: 9_000), "without the change feed no answer is trusted")
    store.feedAnswered(at: 14_000, asked: 10_000)
    #expect(store.isTrusted(at: 14_000))
  }

  @Test("A longer grace counts from the question: it is not known what has changed since")
  func graceCountsFromQuestion() {
    let store = make(grace: .seconds(10))
    store.answered(at: 4_000, asked: 0)
    #expect(store.isTrusted(at: 9_999) && !store.isTrusted(at: 10_000))
  }

  /// The messages since the last call, without the metadata.
  private func logged() -> [String] { lines.take().map { String($0.dropLast()) } }

  private static let unavailable = "session store unavailable, serving cached sessions for store.outage_grace"

  /// Has the same happen again every five seconds, and expects that it is logged as one outage.
  private func expectOneOutage(_ happens: (StoreHealth, Int64) -> Void) -> StoreHealth {
    let store = make(grace: .seconds(600))
    store.wrote(at: 0)
    _ = logged()
    for moment in stride(from: Int64(1_000), to: 30_000, by: 5_000) { happens(store, moment) }
    #expect(logged() == [Self.unavailable])
    return store
  }

  @Test("While the change feed fails, answers to other queries are not logged as the end of the outage")
  func oneOutageOfFeed() {
    let store = expectOneOutage { store, moment in
      store.feedDidNotAnswer(StoreError(code: .busy, message: "locked"))
      store.answered(at: moment)
      store.wrote(at: moment)
    }
    store.feedAnswered(at: 31_000)
    store.answered(at: 32_000)
    #expect(logged() == ["session store available again"])
  }

  @Test("A store that is away as a whole is available again when a check has written to it, not at a cached answer")
  func oneOutageOfFile() {
    let store = expectOneOutage { store, moment in
      store.failed("touch", away)
      store.answered(at: moment)
      store.feedAnswered(at: moment)
    }
    store.wrote(at: 31_000)
    store.answered(at: 31_000)
    #expect(logged() == ["session store available again"])
    store.failed("touch", away)
    #expect(logged() == [Self.unavailable], "another outage")
  }

  @Test("A store that cannot be reached is not logged as one that cannot be written, though checks fail as well")
  func oneOutageOfCheck() {
    let store = expectOneOutage { store, moment in
      store.didNotWrite(away)
      store.didNotAnswer("find", away)
      store.answered(at: moment)
    }
    #expect(!store.isHealthy)
    store.wrote(at: 31_000)
    #expect(store.isHealthy && logged() == ["session store available again"])
  }

  @Test("A check that fails leaves the gateway ready while the store answers queries, after the outage grace as well")
  func checkFailsAlone() {
    let store = make(grace: .seconds(10))
    store.wrote(at: 0)
    for moment in stride(from: Int64(1_000), to: 20_000, by: 1_000) {
      store.answered(at: moment)
      store.didNotWrite(away)
      #expect(report(store, at: moment).isReady && !store.isUnavailable)
    }
    #expect(health.report.summary == .degraded)
  }

  @Test("Ten failures a minute are logged for each operation and kind of error, with the number of those left out")
  func repeatedFailures() {
    let time = Mutex(Duration.seconds(1_000))
    let logger = Logger(label: "test") { [lines] _ in RecordingLogHandler(lines, ["operation", "suppressed"]) }
    let store = StoreHealth(
      StoreSettings(location: .sqlite(path: "/nowhere")), metrics: metrics, logger: logger, now: 0,
      uptime: { time.withLock { $0 } })
    let busy = StoreError(code: .busy, message: "locked")
    for _ in 0..<1_000 { store.failed("end", busy) }
    store.failed("end", StoreError(code: .interrupted, message: "a connection broke"))
    store.failed("touch", busy)
    let failed = "session store operation failed"
    #expect(lines.take() == Array(repeating: "\(failed) end -", count: 11) + ["\(failed) touch -"])
    time.withLock { $0 += .seconds(60) }
    store.failed("end", busy)
    #expect(lines.take() == ["\(failed) end 990"])
    #expect(metrics.storeFailures.total("end") == 1_002 && metrics.storeFailures.total("touch") == 1)
  }

  @Test("An error that was reported before is neither counted nor logged again")
  func reportedBefore() {
    let logger = Logger(label: "test") { [lines] _ in RecordingLogHandler(lines, ["operation"]) }
    let store = StoreHealth(
      StoreSettings(location: .sqlite(path: "/nowhere")), metrics: metrics, logger: logger, now: 0)
    let reported = store.failed("end", StoreError(code: .busy, message: "locked"))
    #expect(store.failed("administration", reported).isReported && store.didNotAnswer("find", reported).isReported)
    #expect(lines.take() == ["session store operation failed end"])
    let failures = metrics.storeFailures
    #expect(failures.total("end") == 1 && failures.total("administration") == 0 && failures.total("find") == 0)
    #expect(!store.isUnavailable)
  }

  @Test("An operation that comes after the store was closed at shutdown is neither logged nor counted as a failure")
  func closed() {
    let store = make(grace: .seconds(10))
    store.wrote(at: 0)
    let closed = StoreError(code: .closed, message: "closed")
    store.failed("complete", closed)
    store.didNotAnswer("find", closed)
    store.feedDidNotAnswer(closed)
    store.didNotWrite(closed)
    #expect(logged() == [])
    #expect(store.isHealthy && !store.isUnavailable)
    for operation in ["complete", "find", "changes", "ping"] {
      #expect(metrics.storeFailures.total(operation) == 0, "\(operation)")
    }
  }

  @Test("Damaged records are logged once a minute, whatever operations find them")
  func damagedRecords() {
    let time = Mutex(Duration.seconds(1_000))
    let logger = Logger(label: "test") { [lines] _ in RecordingLogHandler(lines, ["operation"]) }
    let store = StoreHealth(
      StoreSettings(location: .sqlite(path: "/nowhere")), metrics: metrics, logger: logger, now: 0,
      uptime: { time.withLock { $0 } })
    let damaged = StoreError(code: .damagedRow, message: "damaged")
    for _ in 0..<20 {
      store.didNotAnswer("find", damaged)
      store.failed("sessions", damaged)
    }
    #expect(lines.take() == ["session store operation failed find"])
    time.withLock { $0 += .seconds(60) }
    store.failed("sessions", damaged)
    #expect(lines.take() == ["session store operation failed sessions"])
  }

  @Test("The end of the outage grace is logged once, and once that signed-in requests are served again")
  func graceEnds() {
    let store = make(grace: .seconds(10))
    let over = "store.outage_grace is over, answering signed-in requests with 503"
    _ = report(store, at: 0)
    store.wrote(at: 0)
    store.didNotAnswer("find", away)
    _ = report(store, at: 9_999)
    #expect(logged() == [Self.unavailable])
    for moment in stride(from: Int64(10_000), to: 20_000, by: 1_000) { _ = report(store, at: moment) }
    #expect(logged() == [over])
    store.wrote(at: 20_000)
    for moment in stride(from: Int64(20_000), to: 25_000, by: 1_000) { _ = report(store, at: moment) }
    #expect(logged() == ["session store available again", "serving signed-in requests again"])
    store.feedDidNotAnswer(away)
    for moment in stride(from: Int64(25_000), to: 40_000, by: 1_000) {
      store.answered(at: moment)
      _ = report(store, at: moment)
    }
    #expect(logged() == [Self.unavailable, over], "of the change feed alone as well")
  }
}

extension StoreHealth {
  /// Notes an answer that took no time.
  func answered(at moment: Int64) { answered(at: moment, asked: moment) }
  /// Notes an answer of the change feed that took no time.
  func feedAnswered(at moment: Int64) { feedAnswered(at: moment, asked: moment) }
  /// Notes a check that took no time.
  func wrote(at moment: Int64) { wrote(at: moment, asked: moment) }
}
