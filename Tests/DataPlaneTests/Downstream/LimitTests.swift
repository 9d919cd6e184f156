import Synchronization
import Testing
import WaitingTesting

@testable import DataPlane

// Cases: refused heads, body limits, time-outs, back-pressure both ways, clients that leave, drain, sessions that end.

@Suite("Limits and ends")
struct LimitTests {
  @Test(
    "A refused head is answered, its connection closed, and nothing goes upstream",
    arguments: [
      ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
      ("TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 405),
      ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
      ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n", 400),
      ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 400),
      ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n", 417),
      ("GET /\(String(repeating: "x", count: 8_200)) HTTP/1.1\r\n", 414),
      ("GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "A: b\r\n", count: 101), 431),
      ("GET / HTTP/1.1\r\nHost: a\r\nA: " + String(repeating: "x", count: 33_000), 431),
      ("\u{16}\u{3}\u{1}\u{2}\u{0}", 400),
    ])
  func refusedHeads(_ request: String, _ status: Int) async throws {
    try await withGateway { rig async throws in
      let (answer, ended) = try await blocking {
        let client = try rig.connect()
        try client.send(request)
        let answer = try client.readResponse()
        return (answer, try client.isEnded())
      }
      #expect(answer.status == status && ended && answer.value("connection") == "close")
      #expect(rig.upstream.accepted == 0)
      #expect(try await rig.isWell())
    }
  }

  @Test("A body announced beyond the limit is 413 before anything goes upstream")
  func tooLarge() async throws {
    try await withGateway(
      listener: { $0.limits.bodyBytes = 10 },
      { rig async throws in
        let answer = try await rig.exchange("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n")
        #expect(answer.status == 413 && answer.value("connection") == "close" && rig.upstream.accepted == 0)
        let within = try await rig.exchange("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789")
        #expect(within.text == "0.0:0123456789")
      })
  }

  @Test("Chunks that grow beyond the limit are 413, and their upstream connection is cut")
  func tooManyChunks() async throws {
    try await withGateway(
      listener: { $0.limits.bodyBytes = 10 },
      { rig async throws in
        let chunk = "6\r\nabcdef\r\n"
        let answer = try await rig.exchange(
          "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(chunk)\(chunk)0\r\n\r\n")
        #expect(answer.status == 413)
        let late = try await blocking {
          let client = try rig.connect()
          try client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(chunk)")
          try waitUntil { rig.upstream.accepted >= 1 && rig.log.upstreams >= 1 }
          try client.send(chunk)
          return (try client.readResponse(), try client.isEnded())
        }
        #expect(late.0.status == 413 && late.1)
        #expect(await eventually { rig.log.upstreams == 0 })
        #expect(try await rig.isWell())
      })
  }

  @Test("Malformed chunks are 400, and their upstream connection is cut")
  func malformedChunks() async throws {
    try await withGateway { rig async throws in
      let answer = try await rig.exchange(
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n+5\r\nhello\r\n")
      #expect(answer.status == 400)
      #expect(await eventually { rig.log.upstreams == 0 })
    }
  }

  @Test("A chunk violation after a response has begun ends both connections")
  func lateViolation() async throws {
    try await withGateway(
      script: answeringFirst { socket in
        try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun")
        _ = try? socket.readToEnd()
      },
      { rig async throws in
        let rest = try await blocking {
          let client = try rig.connect()
          try client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
          _ = try client.readHead()
          _ = try client.read(through: "begun")
          try client.send("+5\r\nhello\r\n")
          return try client.readToEnd()
        }
        #expect(rest.isEmpty)
        #expect(await eventually { rig.log.clients == 0 && rig.log.upstreams == 0 })
        #expect(try await rig.isWell())
      })
  }

  @Test("A head that does not come in time is 408, also after an exchange on the same connection")
  func slowHead() async throws {
    try await withGateway(
      listener: { $0.timeouts.head = .seconds(4) },
      { rig async throws in
        async let first = rig.exchange("GET / HTTP/1.1\r\nHo")
        async let silent = blocking { try rig.connect().isEnded() }
        let second = try await blocking {
          let client = try rig.connect()
          try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          let first = try client.readResponse()
          try client.send("GET / HT")
          return [first, try client.readResponse()]
        }
        #expect(second.map(\.status) == [200, 408] && second[1].value("connection") == "close")
        #expect(try await first.status == 408)
        #expect(try await silent)
        #expect(await eventually { rig.log.clients == 0 })
      })
  }

  @Test("A body that does not come in time is 408, and its upstream connection is cut")
  func slowBody() async throws {
    try await withGateway(
      listener: { $0.timeouts.bodyProgress = .milliseconds(100) },
      { rig async throws in
        let answer = try await rig.exchange("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab")
        #expect(answer.status == 408)
        #expect(await eventually { rig.log.upstreams == 0 })
      })
  }

  @Test("An idle connection is closed without a response")
  func idle() async throws {
    try await withGateway(
      listener: { $0.timeouts.idle = .milliseconds(100) },
      { rig async throws in
        let ended = try await blocking {
          let client = try rig.connect()
          try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          _ = try client.readResponse()
          return try client.isEnded()
        }
        #expect(ended)
      })
  }

  /// Sends a response of `size` bytes.
  /// - Parameter isFull: called with the number of bytes that were sent when no more could be.
  private static func respond(_ size: Int, by socket: RawSocket, isFull: (Int) -> Void) throws {
    try socket.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
    let first = socket.sendUntilFull(limit: size)
    isFull(first)
    try socket.send([UInt8](repeating: 0x78, count: size - first))
  }

  @Test("A client that does not read stops the upstream's sending, and gets everything once it reads")
  func slowReader() async throws {
    let size = 64 * 1_048_576
    let sent = Mutex(0)
    try await withGateway(
      script: { socket, _ in
        _ = try socket.readHead()
        try Self.respond(size, by: socket) { first in sent.withLock { $0 = first } }
        _ = try? socket.readToEnd()
      },
      { rig async throws in
        let count = try await blocking {
          let client = try rig.connect(receiveBuffer: 4_096)
          try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          try waitUntil { sent.withLock { $0 } > 0 }
          _ = try client.readHead()
          return try client.read(count: size).count
        }
        #expect(count == size)
        // The systems' buffers held a part of it; the gateway held no more than its limit.
        #expect(sent.withLock { $0 } < 48 * 1_048_576)
      })
  }

  @Test("A response is not given up for the silence of an application that waits for the client")
  func heldResponse() async throws {
    let size = 64 * 1_048_576
    let sent = Mutex(0)
    try await withGateway(
      upstream: { $0.timeouts.bodyProgress = .seconds(4) },
      script: { socket, _ in
        let isSilent = try socket.readHead().contains("/silent")
        if isSilent {
          try socket.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
        } else {
          try Self.respond(size, by: socket) { first in sent.withLock { $0 = first } }
        }
        _ = try? socket.readToEnd()
      },
      { rig async throws in
        let count = try await blocking {
          let client = try rig.connect(receiveBuffer: 4_096)
          try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          try waitUntil { sent.withLock { $0 } > 0 }
          // It takes as long as an application may be silent.
          let other = try rig.connect()
          try other.send("GET /silent HTTP/1.1\r\nHost: a\r\n\r\n")
          _ = try other.readToEnd()
          try RawSocket.pause()
          _ = try client.readHead()
          return try client.read(count: size).count
        }
        #expect(count == size)
      })
  }

  @Test("An application that has begun its response may be silent for as long as the request goes on, and after it")
  func earlyHead() async throws {
    try await withGateway(
      upstream: { $0.timeouts.bodyProgress = .seconds(4) },
      script: { socket, _ in
        _ = try socket.readHead()
        try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
        _ = try socket.read(count: 8)
        for _ in 0..<3 { try RawSocket.pause() }
        try socket.send("done")
        _ = try? socket.readToEnd()
      },
      { rig async throws in
        let text = try await blocking {
          let client = try rig.connect()
          try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\n")
          for _ in 0..<8 {
            try RawSocket.pause()
            try RawSocket.pause()
            try client.send("x")
          }
          return try client.readResponse().text
        }
        #expect(text == "done")
      })
  }

  @Test("An application that says every now and then that it is at work is waited for (102)")
  func processing() async throws {
    let interim = "HTTP/1.1 102 Processing\r\n\r\n"
    try await withGateway(
      upstream: { $0.timeouts.firstByte = .seconds(4) },
      script: { socket, _ in
        _ = try socket.readHead()
        try socket.send(String(repeating: interim, count: 40))
        for _ in 0..<16 {
          try RawSocket.pause()
          try socket.send(interim)
        }
        try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")
        _ = try? socket.readToEnd()
      },
      { rig async throws in
        let text = try await blocking {
          let client = try rig.connect()
          try client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
          return String(decoding: try client.readToEnd(), as: UTF8.self)
        }
        #expect(text.hasSuffix("done"))
        #expect(text.ranges(of: "HTTP/1.1 102").count == 32, "more are not passed on")
      })
  }

  @Test("An HTTP/2 client that does not read interim responses is closed when they hold too much memory")
  func unreadInterim() async throws {
    let fields = (0..<16).map { "Link\($0): " + String(repeating: "v", count: 3_900) + "\r\n" }.joined()
    let interim = "HTTP/1.1 103 Early Hints\r\n\(fields)\r\n"
    try await withGateway(
      listener: {
        $0.main.protocols = [.http2]
        $0.timeouts.writeProgress = .seconds(3_600)
      },
      // The limit is shared out among them: 4 MiB each.
      loops: 16,
      script: { socket, _ in
        _ = try socket.readHead()
        for _ in 0..<32 { try socket.send(interim) }
        _ = try? socket.readToEnd()
      },
      { rig async throws in
        let client = try rig.connect(receiveBuffer: 4_096)
        let requests = (0..<12).flatMap { number -> [UInt8] in
          [0, 0, 6, 1, 0x5, 0, 0, 0, UInt8(2 * number + 1), 0x82, 0x86, 0x84, 0x01, 1, UInt8(ascii: "a")]
        }
        try client.send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0] + requests)
        #expect(await eventually { rig.log.statuses.count == 12 })
        #expect(rig.log.failures.count == 12 && rig.log.failures.allSatisfy { $0 == .aborted })
        client.close()
      })
  }

  @Test("An upstream that does not read stops the client's sending, and gets everything once it reads")
  func slowUpstream() async throws {
    let size = 64 * 1_048_576
    let go = Mutex(false)
    try await withGateway(
      receiveBuffer: 4_096,
      script: { socket, _ in
        _ = try socket.readHead()
        try waitUntil { go.withLock { $0 } }
        try socket.answer("\(try socket.read(count: size).count)")
      },
      { rig async throws in
        let (first, answer) = try await blocking {
          let client = try rig.connect()
          try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n")
          let first = client.sendUntilFull(limit: size)
          go.withLock { $0 = true }
          try client.send([UInt8](repeating: 0x78, count: size - first))
          return (first, try client.readResponse().text)
        }
        #expect(answer == "\(size)" && first < 48 * 1_048_576)
      })
  }

  @Test("Requests of a client that sends many without reading responses wait")
  func neverReading() async throws {
    let body = String(repeating: "x", count: 60_000)
    try await withGateway(
      script: { socket, _ in
        while true {
          _ = try socket.readHead()
          try socket.answer(body)
        }
      },
      { rig async throws in
        let client = try rig.connect(receiveBuffer: 4_096)
        let answered = try await blocking {
          try client.send(String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 2_000))
          var last = -1
          while rig.log.statuses.count != last {
            last = rig.log.statuses.count
            _ = client.sendUntilFull(limit: 0)
            try RawSocket.pause()
          }
          return last
        }
        // All of them would be 120 MB.
        #expect(answered < 500)
        let count = try await blocking {
          try (0..<2_000).map { _ in try client.readResponse().body.count }.reduce(0, +)
        }
        #expect(count == 2_000 * 60_000)
      })
  }

  @Test("A client that leaves midway takes its upstream connection with it, and is counted as 499 before a response")
  func leaving() async throws {
    try await withGateway(
      script: answeringFirst { socket in
        _ = try? socket.readToEnd()
      },
      { rig async throws in
        try await blocking {
          let client = try rig.connect()
          try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          try waitUntil { rig.log.upstreams > 0 }
          client.close()
        }
        #expect(await eventually { rig.log.statuses == [499] && rig.log.upstreams == 0 && rig.log.clients == 0 })
        #expect(try await rig.isWell())
      })
  }
}
