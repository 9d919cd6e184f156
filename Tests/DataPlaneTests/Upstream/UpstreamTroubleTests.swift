import Dispatch
import SocketTransport
import Testing
import WaitingTesting

@testable import DataPlane

// Cases: refusing, closing at each stage, broken responses, surplus bytes, unasked responses, stale connections,
// silence.

@Suite("Failing upstreams")
struct UpstreamTroubleTests {
  private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
  private static let post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"

  @Test("An upstream that refuses connections is 502, and the client's connection is kept")
  func refusing() async throws {
    try await withGateway { rig async throws in
      rig.upstream.stop()
      let answers = try await blocking {
        let client = try rig.connect()
        return try [Self.get, Self.post, Self.get].map {
          try client.send($0)
          return try client.readResponse()
        }
      }
      #expect(answers.map(\.status) == [502, 502, 502])
      #expect(answers.allSatisfy { $0.value("x-request-id")?.utf8.count == 32 })
      #expect(await eventually { rig.log.statuses == [502, 502, 502] })
      #expect(rig.log.failures == [.upstreamRefused, .upstreamRefused, .upstreamRefused])
      #expect(rig.log.upstreams == 0)
    }
  }

  /// Bytes that a broken upstream sends on its first connection before it closes it.
  static let broken: [(String, String)] = [
    ("nothing", ""), ("half a status line", "HTTP/1.1 20"), ("half a head", "HTTP/1.1 200 OK\r\nServer: x\r\n"),
    ("an interim response only", "HTTP/1.1 100 Continue\r\n\r\n"), ("garbage", "<html>no HTTP at all</html>"),
    ("HTTP/0.9", "hello"), ("two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
    ("length and chunked", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ("obs-fold", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 0\r\n\r\n"),
    ("bare LF", "HTTP/1.1 200 OK\nContent-Length: 0\n\n"), ("NUL", "HTTP/1.1 200 OK\r\nA: \0\r\n\r\n"),
    ("an unasked upgrade", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"),
    ("endless interim responses", String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 10_001)),
    ("an endless head", "HTTP/1.1 200 OK\r\nA: " + String(repeating: "x", count: 70_000)),
    ("too many fields", "HTTP/1.1 200 OK\r\n" + String(repeating: "A: b\r\n", count: 1_001) + "\r\n"),
    (
      "too many names in Connection",
      "HTTP/1.1 200 OK\r\nConnection: " + String(repeating: "x,", count: 65) + "\r\n\r\n"
    ),
    ("another coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"),
    // While the head has not left.
    ("a chunk that is too long", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n"),
    ("a signed size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n+1\r\nd\r\n0\r\n\r\n"),
    ("a bad trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nbad trailer\r\n\r\n"),
  ]

  @Test("A response that breaks HTTP, or ends before its head does, is 502", arguments: broken)
  func brokenHeads(_ name: String, _ bytes: String) async throws {
    try await withGateway(
      script: answeringFirst { socket in
        try socket.send(bytes)
      },
      { rig async throws in
        let answers = try await blocking {
          let client = try rig.connect()
          try client.send(Self.get)
          var answer = try client.readResponse()
          while answer.status < 200 { answer = try client.readResponse() }
          // The same client connection still works, over another upstream connection.
          try client.send(Self.get)
          return [answer, try client.readResponse()]
        }
        #expect(answers.map(\.status) == [502, 200])
        #expect(rig.upstream.accepted == 2)
        #expect(await eventually { rig.log.statuses == [502, 200] && rig.log.upstreams == 1 })
      })
  }

  @Test(
    "A body that ends too early ends the client's connection too early",
    arguments: [
      "Content-Length: 10\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n5\r\nab",
      "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    ])
  func brokenBodies(_ rest: String) async throws {
    try await withGateway(
      script: answeringFirst { socket in
        try socket.send("HTTP/1.1 200 OK\r\n" + rest)
      },
      { rig async throws in
        let all = try await blocking {
          let client = try rig.connect()
          try client.send(Self.get)
          return String(decoding: try client.readToEnd(), as: UTF8.self)
        }
        #expect(!all.hasSuffix("0\r\n\r\n") && !all.hasSuffix("abcdefghij"))
        #expect(await eventually { rig.log.upstreams == 0 && rig.log.clients == 0 })
        #expect(try await rig.isWell())
      })
  }

  @Test("A body that ends too early resets the connection of an HTTP/1.0 client, for which its end is that of the body")
  func brokenBodyOverHTTP10() async throws {
    try await withGateway(
      script: { socket, _ in
        _ = try socket.readHead()
        try socket.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n")
        _ = try socket.read(count: 1)
      },
      { rig async throws in
        try await blocking {
          let client = try rig.connect()
          try client.send("POST / HTTP/1.0\r\nHost: a\r\nContent-Length: 1\r\n\r\n")
          _ = try client.readHead()
          _ = try client.read(through: "part")
          // Only now, because a reset may overtake what was sent before it.
          try client.send("x")
          try waitUntil { client.isReset }
        }
      })
  }

  @Test("A reset in the middle of a body without a length is not taken for its end")
  func resetMidway() async throws {
    try await withGateway(
      script: { socket, _ in
        _ = try socket.readHead()
        try socket.send("HTTP/1.1 200 OK\r\n\r\npart")
        _ = try socket.read(count: 1)
        socket.reset()
      },
      { rig async throws in
        let all = try await blocking {
          let client = try rig.connect()
          try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n")
          let head = try client.readHead()
          let part = try client.read(through: "part")
          try client.send("x")
          return head + part + String(decoding: try client.readToEnd(), as: UTF8.self)
        }
        #expect(all.contains("part") && !all.hasSuffix("0\r\n\r\n"))
      })
  }

  @Test("Surplus bytes after a response are discarded with their connection, never taken for the next response")
  func surplus() async throws {
    try await withGateway(
      script: answeringFirst { socket in
        try socket.send(
          "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
        _ = try? socket.readToEnd()
      },
      { rig async throws in
        let first = try await rig.exchange(Self.get)
        let second = try await rig.exchange(Self.get)
        #expect(first.text == "ok" && second.text == "1.0:")
      })
  }

  @Test(
    "The last chunk of a response that has no content is never taken for the next response",
    arguments: ["204 No Content", "304 Not Modified"])
  func chunkedNoContent(_ status: String) async throws {
    try await withGateway(
      script: answeringFirst { socket in
        try socket.send("HTTP/1.1 \(status)\r\nTransfer-Encoding: chunked\r\n\r\n")
        // With the next request, should that come here.
        _ = try? socket.readHead()
        try socket.send("0\r\n\r\n")
        _ = try? socket.readToEnd()
      },
      { rig async throws in
        #expect(try await rig.exchange(Self.get).status == Int(status.prefix(3)))
        let next = try await rig.exchange(Self.get)
        #expect(next.status == 200 && next.text == "1.0:")
      })
  }

  @Test("A response to no request closes its idle connection")
  func unasked() async throws {
    try await withGateway(
      script: answeringFirst { socket in
        try socket.answer("ok")
        _ = try? socket.read(through: "never")
      },
      { rig async throws in
        #expect(try await rig.exchange(Self.get).text == "ok")
        #expect(await eventually { rig.log.upstreams == 1 && rig.log.statuses == [200] })
        try rig.upstream.sockets[0].send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
        #expect(await eventually { rig.log.upstreams == 0 })
        #expect(try await rig.exchange(Self.get).text == "1.0:")
      })
  }

  /// Answers the first request of each connection, and closes upon the second without a word.
  private static let stale: ScriptedUpstream.Script = { socket, number in
    let first = try socket.readRequest()
    try socket.answer("\(number):" + String(decoding: first.body, as: UTF8.self))
    _ = try socket.readHead()
    socket.reset()
  }

  @Test("A GET on a kept connection that ends is sent again on a new one")
  func staleGet() async throws {
    try await withGateway(
      script: Self.stale,
      { rig async throws in
        #expect(try await rig.exchange(Self.get).text == "0:")
        #expect(try await rig.exchange(Self.get).text == "1:")
        #expect(rig.upstream.accepted == 2)
      })
  }

  @Test("A POST is not sent on a kept connection whose end has come, also if the event loop has not read that yet")
  func endedUnread() async throws {
    try await withGateway(
      script: { socket, number in
        _ = try socket.readRequest()
        try socket.answer("\(number)")
        // Until the test ends it.
        _ = try? socket.readRequest()
      },
      { rig async throws in
        let loop = rig.group.loops[0]
        let answers = try await blocking {
          let client = try rig.connect()
          try client.send(Self.post)
          let first = try client.readResponse()
          // In one turn of the loop: the request comes first, then the end of the connection.
          let isHeld = DispatchSemaphore(value: 0)
          let isOver = DispatchSemaphore(value: 0)
          loop.execute {
            isHeld.signal()
            isOver.wait()
          }
          isHeld.wait()
          try client.send(Self.post)
          rig.upstream.sockets[0].finish()
          isOver.signal()
          return [first, try client.readResponse()]
        }
        #expect(answers.map(\.status) == [200, 200] && answers.map(\.text) == ["0", "1"], "\(answers)")
      })
  }

  @Test("A POST that has waited for a connection is not sent on one that has ended after the response before it")
  func endedBeforeHandOver() async throws {
    let hasCome = DispatchSemaphore(value: 0)
    try await withGateway(
      upstream: { $0.maximumConnections = 1 },
      script: { socket, number in
        _ = try socket.readRequest()
        hasCome.signal()
        if number > 0 { try socket.answer("\(number)") }
        // Until the test ends it.
        _ = try? socket.readRequest()
      },
      { rig async throws in
        let loop = rig.group.loops[0]
        let clients = try await blocking {
          let clients = [try rig.connect(), try rig.connect()]
          try clients[0].send(Self.get)
          hasCome.wait()
          try clients[1].send(Self.post)
          return clients
        }
        #expect(await eventually { rig.target.status.first?.waiting == 1 })
        let answers = try await blocking {
          let isHeld = DispatchSemaphore(value: 0)
          let isOver = DispatchSemaphore(value: 0)
          loop.execute {
            isHeld.signal()
            isOver.wait()
          }
          isHeld.wait()
          // In one turn of the loop: it reads the response, then the connection ends, then the request gets it.
          try rig.upstream.sockets[0].answer("0")
          loop.execute { rig.upstream.sockets[0].finish() }
          isOver.signal()
          return try clients.map { try $0.readResponse() }
        }
        #expect(answers.map(\.status) == [200, 200] && answers.map(\.text) == ["0", "1"], "\(answers)")
      })
  }

  @Test("A WebSocket handshake on a kept connection that ends is sent again on a new one")
  func staleHandshake() async throws {
    try await withGateway(
      gate: { _, _ in .forward(ForwardingDirective(label: .init(number: 0), allowsUpgrade: true)) },
      script: { socket, number in
        let head = try socket.readHead()
        guard !head.contains("Upgrade:") else {
          return try socket.send(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
              + "X-Number: \(number)\r\n\r\n")
        }
        try socket.answer("\(number)")
        _ = try socket.readHead()
        socket.reset()
      },
      { rig async throws in
        #expect(try await rig.exchange(Self.get).text == "0")
        let head = try await blocking {
          let client = try rig.connect()
          try client.send(
            "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
              + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
          return try client.readHead()
        }
        #expect(head.hasPrefix("HTTP/1.1 101 ") && head.contains("X-Number: 1"), "\(head)")
        #expect(rig.upstream.accepted == 2)
      })
  }

  @Test("An upstream that says close, or speaks HTTP/1.0, is not asked again on that connection")
  func closing() async throws {
    try await withGateway(
      script: { socket, number in
        _ = try socket.readHead()
        try socket.answer("\(number)", fields: "Connection: close\r\n")
        _ = try? socket.readToEnd()
      },
      { rig async throws in
        let answers = try await blocking {
          let client = try rig.connect()
          return try (0..<2).map { _ in
            try client.send(Self.get)
            return try client.readResponse()
          }
        }
        #expect(answers.map(\.text) == ["0", "1"] && answers[0].value("connection") == nil)
      })
  }

  @Test("An upstream that stays silent is 504")
  func silence() async throws {
    try await withGateway(
      upstream: { $0.timeouts.firstByte = .milliseconds(100) },
      script: { socket, _ in _ = try? socket.readToEnd() },
      { rig async throws in
        #expect(try await rig.exchange(Self.get).status == 504)
        #expect(await eventually { rig.log.upstreams == 0 })
      })
  }

  @Test("A name with several addresses is reached at one that answers")
  func severalAddresses() async throws {
    try await withGateway(
      upstream: { settings in
        if case .tcp(_, let port, _)? = settings.addresses.first {
          settings.addresses = [.tcp(host: "localhost", port: port, tls: false)]
        }
      },
      { rig async throws in
        for _ in 0..<3 { #expect(try await rig.exchange(Self.get).status == 200) }
        #expect(rig.upstream.accepted == 1)
      })
  }
}
