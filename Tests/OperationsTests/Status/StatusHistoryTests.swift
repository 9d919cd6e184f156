import Testing

@testable import Operations

@Suite("The last hour")
struct StatusHistoryTests {
  private static let beginning = Timestamp(seconds: 1_000_000)

  private static func after(_ seconds: Double) -> Timestamp { Timestamp(seconds: beginning.seconds + seconds) }

  private static func totals(_ requests: UInt64, errors: UInt64 = 0) -> StatusTotals {
    var totals = StatusTotals()
    totals.requests = requests
    totals.serverErrors = errors
    totals.latency.counts[0] = requests
    return totals
  }

  @Test("A step holds what came between two samples, and how long that was")
  func steps() {
    let history = StatusHistory()
    history.record(Self.totals(100), at: Self.beginning)
    #expect(history.steps(before: Self.beginning).isEmpty)
    history.record(Self.totals(130, errors: 2), at: Self.after(10))
    history.record(Self.totals(130, errors: 2), at: Self.after(22))
    let steps = history.steps(before: Self.after(22))
    #expect(steps.map(\.counted.requests) == [30, 0])
    #expect(steps.map(\.counted.serverErrors) == [2, 0])
    #expect(steps.map(\.counted.latency.count) == [30, 0])
    #expect(steps.map(\.seconds) == [10, 12])
  }

  @Test("The status history keeps one hour, however long it runs")
  func bounded() {
    let history = StatusHistory()
    for index in 0..<2_000 { history.record(Self.totals(UInt64(index)), at: Self.after(Double(index) * 10)) }
    let steps = history.steps(before: Self.after(19_990))
    #expect(steps.count == 360)
    #expect(steps.first?.time == Self.after(16_400))
    #expect(history.steps(before: Self.after(19_990 + 3_600)).count == 1)
    #expect(history.steps(before: Self.after(19_990 + 3_601)).isEmpty)
  }

  @Test("A clock that is set back clears the history, and a long pause is a gap")
  func clocks() {
    let history = StatusHistory()
    history.record(Self.totals(0), at: Self.beginning)
    history.record(Self.totals(10), at: Self.after(10))
    history.record(Self.totals(500), at: Self.after(1_000))
    #expect(history.steps(before: Self.after(1_000)).map(\.counted.requests) == [10])
    history.record(Self.totals(510), at: Self.after(-5_000))
    #expect(history.steps(before: Self.after(1_000)).isEmpty)
    history.record(Self.totals(511), at: Self.after(-4_990))
    #expect(history.steps(before: Self.after(-4_990)).map(\.counted.requests) == [1])
  }

  @Test("Counters that shrink have not grown")
  func shrinking() {
    let history = StatusHistory()
    history.record(Self.totals(100), at: Self.beginning)
    history.record(Self.totals(7), at: Self.after(10))
    #expect(history.steps(before: Self.after(10)).map(\.counted.requests) == [0])
    #expect(history.steps(before: Self.after(10)).map(\.counted.latency.count) == [0])
  }

  @Test("Totals are what the recorders and counters counted")
  func registry() {
    let registry = MetricsRegistry(version: "1", startTime: Self.beginning)
    for _ in 0..<2 {
      let recorder = registry.makeRequestRecorder()
      for status in [200, 304, 404, 499, 500, 503] {
        recorder.requestStarted()
        recorder.requestFinished(route: .signedIn, status: status, nanoseconds: 3_000_000)
      }
      recorder.requestStarted()
    }
    registry.appleCalls.count("token", "ok")
    registry.appleCalls.count("keys", "unanswered")
    registry.appleCalls.count("token", "400")
    registry.signIns.count("success")
    registry.signIns.count("cancelled")
    registry.signIns.count("state_mismatch")
    registry.sessionsEnded.count("revoked")
    registry.checks.count("good")
    registry.checks.count("unavailable")
    let totals = registry.statusTotals()
    #expect(totals.requests == 12 && totals.clientErrors == 4 && totals.serverErrors == 4 && totals.inFlight == 2)
    #expect(totals.latency.count == 12)
    #expect(totals.appleAnswered == 1 && totals.appleFailed == 2)
    #expect(totals.signIns == 1 && totals.signInsFailed == 1 && totals.sessionsEnded == 1)
    #expect(totals.checksGood == 1 && totals.checksOther == 1)
  }

  @Test("Quantiles are as exact as the buckets")
  func quantiles() throws {
    var snapshot = LatencyHistogram.emptySnapshot
    #expect(snapshot.quantile(0.5) == nil)
    // 90 between 1 and 2.5 ms, 10 between 0.5 and 1 s.
    snapshot.counts[2] = 90
    snapshot.counts[10] = 10
    let median = try #require(snapshot.quantile(0.5))
    #expect(median > 0.001 && median < 0.0025)
    let p99 = try #require(snapshot.quantile(0.99))
    #expect(p99 > 0.5 && p99 <= 1)
    snapshot.counts[14] = 1_000
    #expect(snapshot.quantile(0.99) == 10)
  }
}
