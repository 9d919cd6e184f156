import Foundation
import NIOCore
import NIOEmbedded
import Testing

@testable import DataPlane

@Suite("Shortages of this system")
struct UpstreamShortageTests {
  private let loop = EmbeddedEventLoop()

  /// A pool, its target, and the failures that it has reported.
  private func pool() throws -> (UpstreamPool, UpstreamGroup, () -> [UpstreamFailure]) {
    let target = try UpstreamGroup(UpstreamSettings(address: .tcp(host: "127.0.0.1", port: 9, tls: false)))
    var failures: [UpstreamFailure] = []
    let resources = LoopResources(eventLoop: loop, descriptors: DescriptorBudget(limit: 1_000, others: 0))
    let pool = UpstreamPool(loop: resources, settings: target.settings, endpoint: target.endpoints[0]) { event in
      if case .failed(let failure) = event { failures.append(failure) }
    }
    return (pool, target, { failures })
  }

  @Test(
    "No local port and no memory for a socket are 503, with the remedy",
    arguments: [(EADDRNOTAVAIL, "net.ipv4.ip_local_port_range"), (ENOBUFS, "net.ipv4.tcp_mem"), (ENOMEM, "memory")])
  func classified(code: CInt, remedy: String) {
    let failure = UpstreamFailure(ofConnecting: IOError(errnoCode: code, reason: "connect"))
    guard case .localShortage = failure else {
      Issue.record("\(failure)")
      return
    }
    #expect(failure.status == 503 && failure.reason.contains(remedy))
    #expect(failure.reason.hasPrefix("no connection to the application: "))
  }

  @Test("A refused connection is the application's")
  func refused() {
    let failure = UpstreamFailure(ofConnecting: IOError(errnoCode: ECONNREFUSED, reason: "connect"))
    #expect(failure == .connect("Connection refused") && failure.status == 502)
  }

  @Test("An address that has answered is not blamed for a shortage, which is counted nevertheless")
  func notBlamed() throws {
    let (pool, target, failures) = try pool()
    pool.answered(isHTTP11: true)
    let shortage = UpstreamFailure.localShortage("no port")
    for _ in 0..<5 { #expect(pool.countFailedConnect(shortage) == shortage) }
    #expect(!pool.isUnhealthy && target.status.allSatisfy { $0.isHealthy && $0.failures == 0 })
    #expect(failures() == [UpstreamFailure](repeating: shortage, count: 5))
    #expect(pool.countFailedConnect(.noDescriptor) == .noDescriptor && !pool.isUnhealthy && failures().count == 5)
  }

  @Test("An address that has never answered may be out of reach: the same error is its failure")
  func neverAnswered() throws {
    let (pool, target, failures) = try pool()
    for _ in 0..<OutlierDetection.threshold {
      #expect(pool.countFailedConnect(.localShortage("no port")) == .connect("no port"))
    }
    #expect(pool.isUnhealthy && target.status.map(\.isEjected) == [true])
    #expect(failures() == [UpstreamFailure](repeating: .connect("no port"), count: OutlierDetection.threshold))
  }
}
