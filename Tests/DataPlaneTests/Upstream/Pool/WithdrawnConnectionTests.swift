import HTTPWire
import LoopbackTesting
import NIOCore
import SocketTransport
import Testing

@testable import DataPlane

@Suite("Connections on their way for clients that leave")
struct WithdrawnConnectionTests {
  private final class Client: UpstreamResponseReceiver {
    let canTakeResponse = true
    let takesBulk = false

    func upstreamReady(_ connection: UpstreamConnection) { Issue.record("nobody waits for it") }
    func upstreamFailed(_ failure: UpstreamFailure) { Issue.record("\(failure)") }
    func responseHead(_ head: borrowing ResponseHead, _ bytes: RawSpan, framing: BodyFraming) {}
    func responseContent(_ content: ByteBuffer) {}
    func responseEnded(trailers: [UInt8]) {}
    func flushResponse() {}
    func upstreamWritabilityChanged(_ writable: Bool) {}
  }

  @Test("No more of them are kept than may be idle, and the descriptors of the others are free at once")
  func surplus() async throws {
    let full = try FullListener()
    let group = try SocketEventLoopGroup(loops: 1)
    var settings = UpstreamSettings(address: .tcp(host: "127.0.0.1", port: full.port, tls: false))
    settings.idleConnectionsPerLoop = 2
    settings.timeouts = .unreachable
    let target = try UpstreamGroup(settings)
    let eventLoop = group.loops[0]
    let (pool, loads, rooms) = try await eventLoop.submit {
      let loop = LoopResources(eventLoop: eventLoop, descriptors: DescriptorBudget(limit: 1_000, others: 0))
      let pool = UpstreamPool(loop: loop, settings: target.settings, endpoint: target.endpoints[0]) { _ in }
      // Held here: a request that waits does not keep its client.
      let clients = (0..<6).map { _ in Client() }
      var (loads, rooms) = ([pool.load], [loop.descriptors.room(for: .upstream)])
      func note() {
        loads.append(pool.load)
        rooms.append(loop.descriptors.room(for: .upstream))
      }
      let waiters = clients.compactMap { pool.connect(for: $0) }
      note()
      for waiter in waiters { waiter.withdraw() }
      note()
      return (NIOLoopBound(pool, eventLoop: eventLoop), loads, rooms)
    }.get()
    #expect(loads == [0, 6, 2] && rooms == [rooms[0], rooms[0] - 6, rooms[0] - 2], "\(loads) \(rooms)")
    #expect(try full.connectingCount() == 2)
    #expect(try await eventLoop.submit { !pool.value.isUnhealthy }.get(), "nobody has waited for it in vain")
    try await group.shutdownGracefully()
  }
}
