import NIOCore
import NIOEmbedded
import Testing

@testable import DataPlane

// Cases: order of use, a burst that comes back, a burst that does not, nothing kept. Without sockets, on the clock of
// an embedded event loop.

@Suite("Idle connections to the application")
struct IdleConnectionTests {
  private let eventLoop = EmbeddedEventLoop()
  private let loop: LoopResources
  private let pool: UpstreamPool

  init() throws {
    loop = LoopResources(eventLoop: eventLoop)
    let target = try UpstreamGroup(UpstreamSettings(address: .tcp(host: "127.0.0.1", port: 9, tls: false)))
    pool = UpstreamPool(loop: loop, settings: target.settings, endpoint: target.endpoints[0]) { _ in }
  }

  /// Connections that are established and in no list of idle ones.
  private func connections(_ count: Int) throws -> [UpstreamConnection] {
    try (0..<count).map { _ in
      let connection = UpstreamConnection(
        loop: loop, pool: pool, timeouts: UpstreamWaits(UpstreamTimeouts()), awaitsHandshake: false, isAtSocket: false)
      let channel = EmbeddedChannel(loop: eventLoop)
      try channel.pipeline.syncOperations.addHandler(connection)
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 9)).wait()
      pool.remove(connection)
      return connection
    }
  }

  /// Takes `count` connections, and returns them after `time`.
  private func use(_ count: Int, of idle: IdleConnections, for time: TimeAmount) -> Int {
    let taken = (0..<count).compactMap { _ in idle.take() }
    eventLoop.advanceTime(by: time)
    for connection in taken { idle.keep(connection, now: eventLoop.now) }
    return taken.count
  }

  @Test("The connection that was returned last is used first")
  func newestFirst() throws {
    let idle = IdleConnections(limit: 2, wheel: loop.wheel)
    let connections = try connections(2)
    for connection in connections { idle.keep(connection, now: eventLoop.now) }
    #expect(idle.take() === connections[1] && idle.take() === connections[0] && idle.take() == nil)
  }

  @Test("The connections of a burst serve the next burst, although they are more than the limit")
  func bursts() throws {
    let idle = IdleConnections(limit: 2, wheel: loop.wheel)
    let connections = try connections(6)
    for connection in connections { idle.keep(connection, now: eventLoop.now) }
    for _ in 0..<20 { #expect(use(6, of: idle, for: .milliseconds(300)) == 6) }
    #expect(connections.map(\.isIdle) == [Bool](repeating: true, count: 6))
  }

  @Test("Connections beyond the limit that are not needed within a second are closed")
  func surplus() throws {
    let idle = IdleConnections(limit: 2, wheel: loop.wheel)
    let connections = try connections(6)
    for connection in connections { idle.keep(connection, now: eventLoop.now) }
    #expect(use(3, of: idle, for: .milliseconds(100)) == 3)
    eventLoop.advanceTime(by: .milliseconds(1_400))
    // Three were in use within that second; of the other three those are closed that were unused for longest.
    #expect(connections.map(\.isIdle) == [false, false, false, true, true, true])
    eventLoop.advanceTime(by: .milliseconds(1_500))
    // The one that was returned first of them.
    #expect(connections.map(\.isIdle) == [false, false, false, true, true, false])
  }

  @Test("A limit of 0 closes each connection that is returned")
  func none() throws {
    let idle = IdleConnections(limit: 0, wheel: loop.wheel)
    let connection = try #require(try connections(1).first)
    idle.keep(connection, now: eventLoop.now)
    #expect(!connection.isIdle && idle.take() == nil)
  }
}
