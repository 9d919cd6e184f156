import NIOCore
import Testing
import WaitingTesting

@testable import DataPlane

// Events for the observer: connect times, versions, users, tunnels, why an exchange failed, and who ended it.

@Suite("Events for the observer")
struct ObserverTests {
  @Test("The observer receives each upstream connection once, with the time that it took")
  func connecting() async throws {
    try await withGateway { rig async throws in
      let answers = try await blocking {
        let client = try rig.connect()
        return try (0..<3).map { _ in
          try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          return try client.readResponse()
        }
      }
      #expect(answers.map(\.status) == [200, 200, 200])
      #expect(await eventually { rig.log.statuses.count == 3 })
      #expect(rig.log.connectTimes.count == 1)
      #expect(rig.log.connectTimes.allSatisfy { $0 > .zero })
      #expect(rig.log.failures == [])
    }
  }

  @Test("The observer receives the version of a request and the pseudonym from the gate")
  func versionAndUser() async throws {
    try await withGateway(
      gate: { path, _ in .forward(ForwardingDirective(label: .init(number: 1), user: path == "/known" ? 42 : nil)) },
      { rig async throws in
        _ = try await rig.exchange("GET /known HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        _ = try await rig.exchange("GET / HTTP/1.0\r\nHost: a\r\n\r\n")
        #expect(await eventually { rig.log.usesHTTP11 == [true, false] })
        #expect(rig.log.users == [42, nil])
      })
  }

  @Test(
    "The observer receives the opening of a tunnel, and its end, by either side, is not a failure",
    arguments: [true, false])
  func tunnel(endedByClient: Bool) async throws {
    try await withGateway(
      script: { socket, _ in
        _ = try socket.readHead()
        try socket.send("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n")
        if endedByClient { _ = try? socket.readHead() }
      },
      { rig async throws in
        let answer = try await blocking {
          let client = try rig.connect()
          try client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n")
          return try client.readResponse(toHead: true)
        }
        #expect(answer.status == 101)
        #expect(await eventually { rig.log.statuses == [101] })
        #expect(rig.log.tunnelsOpened == 1)
        #expect(rig.log.failures == [])
      })
  }

  @Test("The observer receives the reason why the upstream failed")
  func failures() async throws {
    try await withGateway(
      script: { socket, number in
        _ = try socket.readHead()
        if number == 1 { try socket.send("no HTTP at all\r\n\r\n") }
        if number == 2 { try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf") }
      },
      { rig async throws in
        for _ in 0..<3 { _ = try? await rig.exchange("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") }
        #expect(await eventually { rig.log.statuses.count == 3 })
        #expect(rig.log.failures == [.upstreamClosed, .upstreamMalformed, .upstreamClosed])
      })
  }

  @Test("An application that stops within its response has not closed its connection: that is a timeout")
  func stoppedMidway() async throws {
    try await withGateway(
      upstream: { $0.timeouts.bodyProgress = .milliseconds(100) },
      script: { socket, _ in
        _ = try socket.readHead()
        try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
        _ = try? socket.readToEnd()
      },
      { rig async throws in
        let all = try await blocking {
          let client = try rig.connect()
          try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          return String(decoding: try client.readToEnd(), as: UTF8.self)
        }
        #expect(all.hasSuffix("\r\n\r\nhalf"))
        #expect(await eventually { rig.log.statuses == [200] })
        #expect(rig.log.failures == [.upstreamTimeout])
      })
  }

  @Test("A client that stops within its request is at fault, however short the wait for the application is")
  func stoppedWithinRequest() async throws {
    try await withGateway(
      listener: { $0.timeouts.bodyProgress = .seconds(1) },
      upstream: { $0.timeouts.bodyProgress = .milliseconds(100) },
      script: { socket, _ in _ = try? socket.readToEnd() },
      { rig async throws in
        let answer = try await rig.exchange("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf")
        #expect(answer.status == 408)
        #expect(await eventually { rig.log.statuses == [408] })
        #expect(rig.log.failures == [])
      })
  }

  @Test("An upstream whose name is not found is reported as unresolved")
  func unresolved() async throws {
    try await withGateway(
      upstream: { $0.addresses = [.tcp(host: "no-such-host.invalid", port: 80, tls: false)] },
      { rig async throws in
        #expect(try await rig.exchange("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").status == 502)
        #expect(await eventually { rig.log.failures == [.upstreamUnresolved] })
      })
  }

  /// A request for `/`, by itself on its connection.
  private static func request(over version: HTTPProtocol) -> [UInt8] {
    guard version == .http2 else { return Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8) }
    // Windows of 2 GiB, then HEADERS out of HPACK's static table (RFC 7541, appendix A).
    let settings: [UInt8] = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0x7F, 0xFF, 0xFF, 0xFF]
    let update: [UInt8] = [0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7F, 0, 0, 0]
    let head: [UInt8] = [0, 0, 6, 1, 0x5, 0, 0, 0, 1, 0x82, 0x86, 0x84, 0x01, 1, 0x61]
    return Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + settings + update + head
  }

  @Test(
    "An exchange that the gateway aborts at the end of a shutdown is cut off: its client has not left",
    arguments: [HTTPProtocol.http1, .http2])
  func shutdown(version: HTTPProtocol) async throws {
    try await withGateway(
      listener: { $0.main.protocols = [version] },
      script: { socket, _ in
        _ = try socket.readHead()
        _ = try? socket.readToEnd()
      },
      { rig async throws in
        let client = try rig.connect()
        try client.send(Self.request(over: version))
        #expect(await eventually { rig.log.upstreams == 1 })
        #expect(await rig.listener.drain(within: .milliseconds(100)) == 1)
        #expect(rig.log.failures == [.aborted])
        client.close()
      })
  }

  @Test(
    "An exchange whose client does not read its response is cut off", arguments: [HTTPProtocol.http1, .http2])
  func unread(version: HTTPProtocol) async throws {
    let piece = [UInt8](repeating: 0x78, count: 1_000_000)
    try await withGateway(
      listener: {
        $0.main.protocols = [version]
        $0.timeouts.writeProgress = .seconds(1)
      },
      script: { socket, _ in
        _ = try socket.readHead()
        try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
        for _ in 0..<100 { try socket.send(piece) }
      },
      { rig async throws in
        let client = try rig.connect(receiveBuffer: 4_096)
        try client.send(Self.request(over: version))
        #expect(await eventually { !rig.log.statuses.isEmpty })
        #expect(rig.log.statuses == [200] && rig.log.failures == [.aborted])
        client.close()
      })
  }
}
