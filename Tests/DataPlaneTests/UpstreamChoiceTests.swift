import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import DataPlane

// Cases: the choice of two; those ejected, on trial and failing checks left out; all tried when none is left; what is
// avoided; ejections that grow, are jittered and end; what may be tried again; verdicts of checks.

@Suite("The choice among addresses")
struct UpstreamChoiceTests {
  private let loop = EmbeddedEventLoop()

  private func balancer(_ count: Int, seed: UInt64 = 7) throws -> (UpstreamBalancer, UpstreamGroup) {
    let target = try UpstreamGroup(
      UpstreamSettings(addresses: (1...count).map { .tcp(host: "127.0.0.\($0)", port: 9, tls: false) }))
    let resources = LoopResources(eventLoop: loop)
    let pools = target.endpoints.enumerated().map { number, endpoint in
      UpstreamPool(loop: resources, settings: target.settings, endpoint: endpoint, number: number) { _ in }
    }
    return (UpstreamBalancer(pools, eventLoop: loop, seed: seed), target)
  }

  private func eject(_ pool: UpstreamPool) {
    for _ in 0..<OutlierDetection.threshold { pool.failed(.connect("refused")) }
  }

  @Test("Requests spread over all addresses")
  func spread() throws {
    let (balancer, _) = try balancer(5)
    var counts = [0, 0, 0, 0, 0]
    for _ in 0..<5_000 { counts[balancer.choose().number] += 1 }
    #expect(counts.allSatisfy { (800...1_200).contains($0) }, "\(counts)")
  }

  @Test("The less busy of two addresses is chosen: a stuck address gets no more requests")
  func lessBusy() throws {
    let (balancer, _) = try balancer(2)
    balancer.pools[0].outstanding = 3
    for _ in 0..<100 { #expect(balancer.choose().number == 1) }
    // With every answer outstanding, the two are filled evenly.
    for _ in 0..<103 { balancer.choose().outstanding += 1 }
    #expect(abs(balancer.pools[0].outstanding - balancer.pools[1].outstanding) <= 1)
  }

  @Test("The busiest of many gets nothing: it loses every pair")
  func busiest() throws {
    let (balancer, _) = try balancer(4)
    balancer.pools[2].outstanding = 1
    for _ in 0..<500 { #expect(balancer.choose().number != 2) }
  }

  @Test("An ejected address is left out, then tried by one request at a time, then used again")
  func ejected() throws {
    let (balancer, target) = try balancer(3)
    let pool = balancer.pools[1]
    eject(pool)
    #expect(target.status.map(\.isEjected) == [false, true, false])
    for _ in 0..<200 { #expect(balancer.choose().number != 1) }
    loop.advanceTime(by: OutlierDetection.shortest)
    var isChosen = false
    for _ in 0..<200 where balancer.choose() === pool { isChosen = true }
    #expect(isChosen)
    pool.outstanding = 1
    balancer.pools[0].outstanding = 5
    balancer.pools[2].outstanding = 5
    for _ in 0..<200 { #expect(balancer.choose().number != 1) }
    pool.succeeded()
    #expect(!pool.isUnhealthy && target.status.allSatisfy(\.isHealthy))
    #expect((0..<200).contains { _ in balancer.choose() === pool })
    #expect(target.status.map(\.ejections) == [0, 1, 0] && target.status[1].failures == 3)
  }

  @Test(
    "An answer on any event loop ends the report of an ejection on another, until that one ejects the address again",
    arguments: [true, false])
  func answeredElsewhere(isHTTP11: Bool) throws {
    let (balancer, target) = try balancer(1)
    let ejecting = balancer.pools[0]
    let other = UpstreamPool(
      loop: LoopResources(eventLoop: loop), settings: target.settings, endpoint: target.endpoints[0]
    ) { _ in }
    func answer(_ pool: UpstreamPool) {
      pool.succeeded()
      pool.answered(isHTTP11: isHTTP11)
    }
    // It has had an answer before, and has no request during the outage.
    answer(other)
    eject(ejecting)
    #expect(target.status.map(\.isEjected) == [true])
    answer(other)
    #expect(target.status.map(\.isHealthy) == [true] && ejecting.isUnhealthy)
    #expect(other.answersHTTP10 == !isHTTP11)
    loop.advanceTime(by: OutlierDetection.shortest)
    ejecting.failed(.connect("refused"))
    #expect(target.status.map(\.isEjected) == [true])
    answer(ejecting)
    #expect(target.status.map(\.isHealthy) == [true] && !ejecting.isUnhealthy)
  }

  @Test("All addresses are tried when every one is ejected")
  func allEjected() throws {
    let (balancer, _) = try balancer(3)
    for pool in balancer.pools { eject(pool) }
    var seen: Set<Int> = []
    for _ in 0..<200 { seen.insert(balancer.choose().number) }
    #expect(seen == [0, 1, 2])
  }

  @Test("An address that fails its checks is left out, unless all do")
  func checks() throws {
    let (balancer, target) = try balancer(2)
    target.endpoints[0].failsChecks.store(true, ordering: .relaxed)
    for _ in 0..<100 { #expect(balancer.choose().number == 1) }
    #expect(target.status.map(\.isHealthy) == [false, true])
    target.endpoints[1].failsChecks.store(true, ordering: .relaxed)
    #expect(Set((0..<100).map { _ in balancer.choose().number }) == [0, 1])
  }

  @Test("An address that was tried is avoided, even for an ejected one; with all tried, any is chosen")
  func avoiding() throws {
    let (balancer, _) = try balancer(2)
    eject(balancer.pools[1])
    for _ in 0..<50 { #expect(balancer.choose(avoiding: 0b01).number == 1) }
    #expect((0..<2).contains(balancer.choose(avoiding: 0b11).number))
  }

  @Test("The only address is chosen, whatever is held against it")
  func single() throws {
    let (balancer, target) = try balancer(1)
    eject(balancer.pools[0])
    #expect(balancer.choose().number == 0 && balancer.choose(avoiding: 1).number == 0)
    #expect(target.status[0].isEjected)
  }
}

@Suite("Ejections")
struct UpstreamEjectionTests {
  private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

  /// Fails until ejected, and returns the length of the ejection.
  private func eject(_ ejection: inout OutlierDetection, at now: NIODeadline, chance: Double = 0) -> TimeAmount {
    while !ejection.failed(at: now, chance: chance) {}
    var length = TimeAmount.zero
    while ejection.health(at: now + length) == .ejected { length = length + .milliseconds(50) }
    return length
  }

  @Test("Three failures in a row eject an address; a response in between resets the count")
  func threshold() {
    var ejection = OutlierDetection()
    for _ in 0..<10 {
      #expect(ejection.failed(at: start, chance: 0) == false)
      #expect(ejection.failed(at: start, chance: 0) == false)
      #expect(ejection.health(at: start) == .healthy)
      #expect(ejection.succeeded(at: start) == false)
    }
    #expect(ejection.failed(at: start, chance: 0) == false)
    #expect(ejection.failed(at: start, chance: 0) == false)
    #expect(ejection.failed(at: start, chance: 0) == true)
    #expect(ejection.health(at: start) == .ejected && ejection.isEjectedOrHalfOpen)
  }

  @Test("Each ejection after a failed trial is twice as long, a minute at most")
  func growth() {
    var ejection = OutlierDetection()
    var now = start
    var lengths: [Int64] = []
    for _ in 0..<9 {
      let length = eject(&ejection, at: now)
      lengths.append(length.nanoseconds / 1_000_000_000)
      now = now + length
      #expect(ejection.health(at: now) == .halfOpen)
    }
    #expect(lengths == [1, 2, 4, 8, 16, 32, 60, 60, 60])
  }

  @Test("Chance makes an ejection up to a quarter shorter")
  func jitter() {
    var one = OutlierDetection()
    #expect(eject(&one, at: start, chance: 0.999) == .milliseconds(800))
    for chance in [0, 0.3, 0.7, 0.999] {
      var ejection = OutlierDetection()
      let length = eject(&ejection, at: start, chance: chance)
      #expect(length >= .milliseconds(750) && length <= .seconds(1))
    }
  }

  @Test("Failures of requests that were under way do not lengthen an ejection")
  func late() {
    var ejection = OutlierDetection()
    let length = eject(&ejection, at: start)
    for _ in 0..<100 { #expect(ejection.failed(at: start + .milliseconds(10), chance: 0) == false) }
    #expect(ejection.health(at: start + length) == .halfOpen)
  }

  @Test(
    "One failure on trial ejects again; a response ends the ejection, and a minute without failures resets its length")
  func trial() {
    var ejection = OutlierDetection()
    var now = start + eject(&ejection, at: start)
    #expect(ejection.failed(at: now, chance: 0) == true)
    #expect(ejection.health(at: now) == .ejected)
    now = now + .seconds(2)
    #expect(ejection.succeeded(at: now) == true)
    #expect(ejection.health(at: now) == .healthy)
    // Soon after, the length continues to double; later, it starts again.
    #expect(eject(&ejection, at: now + .seconds(5)) == .seconds(4))
    now = now + .seconds(9)
    #expect(ejection.succeeded(at: now) == true)
    #expect(eject(&ejection, at: now + .seconds(61)) == .seconds(1))
  }

  @Test("An answer that comes during the ejection ends it")
  func answeredMeanwhile() {
    var ejection = OutlierDetection()
    _ = eject(&ejection, at: start)
    #expect(ejection.succeeded(at: start + .milliseconds(1)) == true)
    #expect(ejection.health(at: start + .milliseconds(1)) == .healthy)
  }
}

@Suite("Retries")
struct UpstreamAttemptsTests {
  static let unsentFailures: [UpstreamFailure] = [.connect("refused"), .connectTimeout, .handshake("no")]
  static let sentFailures: [UpstreamFailure] = [
    .closedBeforeResponse(reused: false), .closedMidway, .badResponse("x"), .responseTimeout,
  ]

  @Test("A request without a connection is retried at other addresses, three in all", arguments: unsentFailures)
  func unsent(_ failure: UpstreamFailure) {
    var attempts = RetryState()
    attempts.address = 4
    #expect(attempts.avoided(after: failure, of: 5) == 0b10000)
    attempts.address = 1
    #expect(attempts.avoided(after: failure, of: 5) == 0b10010)
    attempts.address = 0
    #expect(attempts.avoided(after: failure, of: 5) == nil)
  }

  @Test("A request is not retried when there is no other address", arguments: unsentFailures)
  func single(_ failure: UpstreamFailure) {
    var attempts = RetryState()
    #expect(attempts.avoided(after: failure, of: 1) == nil)
    var two = RetryState()
    #expect(two.avoided(after: failure, of: 2) == 1)
    two.address = 1
    #expect(two.avoided(after: failure, of: 2) == nil)
  }

  @Test("A request that may have been begun is not sent again", arguments: sentFailures)
  func sent(_ failure: UpstreamFailure) {
    for isRetryable in [true, false] {
      var attempts = RetryState()
      attempts.isRetryable = isRetryable
      #expect(attempts.avoided(after: failure, of: 5) == nil)
    }
  }

  @Test("A request that was not processed is sent again once, unless a part of its body is gone")
  func notProcessed() {
    var attempts = RetryState()
    #expect(attempts.avoided(after: .notProcessed, of: 5) == 0)
    #expect(attempts.avoided(after: .notProcessed, of: 5) == nil)
    var gone = RetryState()
    gone.isRetryable = true
    gone.isReplayable = false
    #expect(gone.avoided(after: .notProcessed, of: 5) == nil)
  }

  @Test("A kept connection that ended is replaced once, and only for a request that can be repeated")
  func stale() {
    var attempts = RetryState()
    #expect(attempts.avoided(after: .closedBeforeResponse(reused: true), of: 5) == nil)
    attempts.isRetryable = true
    #expect(attempts.avoided(after: .closedBeforeResponse(reused: true), of: 5) == 0)
    #expect(attempts.avoided(after: .connect("refused"), of: 5) == 1)
    #expect(attempts.avoided(after: .closedBeforeResponse(reused: true), of: 5) == nil)
  }
}

@Suite("The health of an address by its checks")
struct CheckedHealthTests {
  private func healths(_ checks: String, healthyAfter: Int = 2, unhealthyAfter: Int = 3) -> String {
    var settings = UpstreamCheckSettings(path: "/")
    settings.healthyAfter = healthyAfter
    settings.unhealthyAfter = unhealthyAfter
    var health = CheckedHealth(settings)
    return String(
      checks.map { check in
        health.record(check == "+")
        return health.isHealthy ? "+" : "-"
      })
  }

  @Test("The health changes after the configured number of checks in a row")
  func turns() {
    #expect(healths("++--+---++-++--") == "+++++++--++++++")
    #expect(healths("-+-+-+") == "++++++")
    #expect(healths("---+-+-++") == "++------+")
    #expect(healths("-+-", healthyAfter: 1, unhealthyAfter: 1) == "-+-")
  }
}
