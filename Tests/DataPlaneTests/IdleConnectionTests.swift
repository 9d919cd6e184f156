import Foundation
import Synchronization
import Testing

@testable import DataPlane

@Suite("Idle connections to the application")
struct IdleConnectionTests {
  /// Answers when as many requests as a burst has are there.
  private final class Bursts: Sendable {
    private let arrived = Mutex(0)
    let size: Int

    init(of size: Int) { self.size = size }

    func arrive() {
      let number = arrived.withLock { arrived in
        arrived += 1
        return arrived
      }
      let wanted = (number + size - 1) / size * size
      let deadline = Date(timeIntervalSinceNow: 20)
      while arrived.withLock({ $0 }) < wanted, deadline.timeIntervalSinceNow > 0 { usleep(1_000) }
    }
  }

  @Test("What a burst brings back serves the next burst, and beyond the limit is closed when that does not come")
  func bursts() async throws {
    let bursts = Bursts(of: 6)
    try await withGateway(
      upstream: { $0.idleConnectionsPerLoop = 2 },
      script: { socket, _ in
        while true {
          _ = try socket.readRequest()
          bursts.arrive()
          try socket.answer("fine")
        }
      },
      { rig async throws in
        let statuses = try await blocking {
          let clients = try (0..<bursts.size).map { _ in try rig.connect() }
          return try (0..<3).flatMap { _ in
            for client in clients { try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n") }
            return try clients.map { try $0.readResponse().status }
          }
        }
        #expect(statuses == Array(repeating: 200, count: 18))
        #expect(rig.upstream.accepted == 6)
        #expect(await eventually { rig.log.upstreams == 2 })
      })
  }
}
