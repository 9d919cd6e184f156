import Foundation
import Testing
import WaitingTesting

@testable import DataPlane

@Suite("A listening socket that accepts nothing")
struct AcceptFailureTests {
  @Test("Failures of a listening socket are counted, a few each second, and the event loop goes on")
  func counted() async throws {
    try await withGateway { rig in
      let client = try rig.connect()
      let status = { @Sendable () throws -> Int in
        try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        return try client.readResponse().status
      }
      #expect(try await blocking(status) == 200)
      let listening = try #require(Self.listeningSocket(port: rig.port))
      let before = AcceptFailures.process.count
      let start = ContinuousClock.now
      // Connections that wait are reset, and accept4(2) fails from now on.
      #expect(shutdown(listening, Int32(SHUT_RD)) == 0)
      #expect(await eventually { AcceptFailures.process.count >= before + 3 })
      #expect(ContinuousClock.now - start >= .milliseconds(150))
      #expect(AcceptFailures.process.reason == "Invalid argument")
      #expect(try await blocking(status) == 200)
    }
  }

  /// The descriptor of this process that listens on a port.
  private static func listeningSocket(port: UInt16) -> Int32? {
    (3..<4_096).first { descriptor in
      var listens: Int32 = 0
      var length = socklen_t(MemoryLayout<Int32>.size)
      guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0, listens == 1 else {
        return false
      }
      var address = sockaddr_in()
      length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isNamed = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
      }
      return isNamed && address.sin_family == sa_family_t(AF_INET) && UInt16(bigEndian: address.sin_port) == port
    }
  }
}
