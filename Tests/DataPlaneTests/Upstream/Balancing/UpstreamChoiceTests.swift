import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import DataPlane

// Cases: the choice of two; those ejected, on trial and failing checks left out; all tried when none is left; what is
// avoided.

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
    pool.answered(isHTTP11: true)
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
    // It has had an answer before, and has no request during the outage.
    other.answered(isHTTP11: isHTTP11)
    eject(ejecting)
    #expect(target.status.map(\.isEjected) == [true])
    other.answered(isHTTP11: isHTTP11)
    #expect(target.status.map(\.isHealthy) == [true] && ejecting.isUnhealthy)
    #expect(other.answersHTTP10 == !isHTTP11)
    loop.advanceTime(by: OutlierDetection.shortest)
    ejecting.failed(.connect("refused"))
    #expect(target.status.map(\.isEjected) == [true])
    ejecting.answered(isHTTP11: isHTTP11)
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
