import HTTPTypes
import Testing
import WaitingTesting

@testable import DataPlane

// Cases: keep-alive, pipelining, methods without a body, framings both ways, HTTP/1.0, interim responses.

@Suite("Exchanges over sockets")
struct ExchangeTests {
  @Test("Requests on one connection are answered one after the other over one upstream connection")
  func keepAlive() async throws {
    try await withGateway { rig async throws in
      let answers = try await blocking {
        let client = try rig.connect()
        return try (0..<3).map { _ in
          try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          return try client.readResponse().text
        }
      }
      #expect(answers == ["0.0:", "0.1:", "0.2:"])
      #expect(rig.upstream.accepted == 1)
      #expect(await eventually { rig.log.statuses == [200, 200, 200] })
      #expect(rig.log.sent == [4, 4, 4] && rig.log.began == 3)
      #expect(rig.log.requests.first == "GET /")
    }
  }

  @Test("A hundred pipelined requests are answered in their order")
  func pipelining() async throws {
    try await withGateway { rig async throws in
      let answers = try await blocking {
        let client = try rig.connect()
        try client.send(String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 100))
        return try (0..<100).map { _ in try client.readResponse().text }
      }
      #expect(answers == (0..<100).map { "0.\($0):" })
    }
  }

  @Test("Bytes that are pipelined after a body are the next request", arguments: [true, false])
  func behindBody(_ chunked: Bool) async throws {
    try await withGateway { rig async throws in
      let post =
        chunked
        ? "POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
        : "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde"
      let bytes = Array((post + "GET /g HTTP/1.1\r\nHost: a\r\n\r\n" + post).utf8)
      let answers = try await blocking {
        let client = try rig.connect()
        try client.send(bytes)
        let whole = try (0..<3).map { _ in try client.readResponse().text }
        // And in pieces that end anywhere.
        for start in stride(from: 0, to: bytes.count, by: 7) {
          try client.send(Array(bytes[start..<min(start + 7, bytes.count)]))
        }
        return try whole + (0..<3).map { _ in try client.readResponse().text }
      }
      #expect(answers == ["0.0:abcde", "0.1:", "0.2:abcde", "0.3:abcde", "0.4:", "0.5:abcde"])
      #expect(await eventually { rig.log.received == [5, 0, 5, 5, 0, 5] })
    }
  }

  @Test("Responses to HEAD, 204 and 304 have no body, whatever length they name, and the connection is kept")
  func withoutBody() async throws {
    try await withGateway(
      script: { socket, _ in
        while true {
          let head = try socket.readHead()
          if head.hasPrefix("HEAD") {
            try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
          } else if head.contains("/204") {
            try socket.send("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n")
          } else if head.contains("/304") {
            try socket.send("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nETag: x\r\n\r\n")
          } else {
            try socket.answer("body")
          }
        }
      },
      { rig async throws in
        let answers = try await blocking {
          let client = try rig.connect()
          return try ["HEAD /", "GET /204", "GET /304", "HEAD /x", "GET /"].map { line in
            try client.send("\(line) HTTP/1.1\r\nHost: a\r\n\r\n")
            return try client.readResponse(toHead: line.hasPrefix("HEAD"))
          }
        }
        #expect(answers.map(\.status) == [200, 204, 304, 200, 200])
        #expect(answers[0].value("content-length") == "1000")
        #expect(answers[1].value("content-length") == nil && answers[2].value("etag") == "x")
        #expect(answers[4].text == "body" && rig.upstream.accepted == 1)
      })
  }

  @Test("Chunks come through both ways with the trailers that may pass, and without extensions")
  func chunkedBothWays() async throws {
    try await withGateway(
      script: { socket, _ in
        let head = try socket.readHead()
        let raw = try socket.read(through: "0\r\n") + socket.read(through: "\r\n\r\n")
        try socket.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n")
        let echo = head.contains("Transfer-Encoding: chunked\r\n") ? raw : "none"
        try socket.send(
          "\(String(echo.utf8.count, radix: 16));ext=1\r\n\(echo)\r\n0\r\nX-Sum: 7\r\nSet-Cookie: a=b\r\n\r\n")
        _ = try? socket.readHead()
      },
      { rig async throws in
        let answer = try await rig.exchange(
          "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: CHUNKED\r\n\r\n3;evil=\"x\"\r\nabc\r\n0\r\n"
            + "X-Fine: 1\r\nX_Forwarded_User: root\r\nCookie: __Host-cordon=x\r\nContent-Length: 4\r\n\r\n")
        #expect(answer.text == "3\r\nabc\r\n0\r\nX-Fine: 1\r\n\r\n")
        #expect(answer.trailers == "X-Sum: 7\r\n")
        #expect(answer.value("trailer") == nil)
      })
  }

  @Test("A body until the close is put into chunks, and the client's connection is kept")
  func closeDelimited() async throws {
    try await withGateway(
      script: { socket, _ in
        _ = try socket.readHead()
        try socket.send("HTTP/1.0 200 OK\r\nContent-Type: x\r\n\r\nuntil ")
        try socket.send("the end")
      },
      { rig async throws in
        let answers = try await blocking {
          let client = try rig.connect()
          return try (0..<2).map { _ in
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            return try client.readResponse()
          }
        }
        for answer in answers {
          #expect(answer.text == "until the end" && answer.value("transfer-encoding") == "chunked")
          #expect(answer.head.hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
      })
  }

  @Test("An HTTP/1.0 client gets no chunks: the end of its connection is the end of the body")
  func oldClient() async throws {
    try await withGateway(
      script: { socket, _ in
        while true {
          let head = try socket.readHead()
          if head.contains("/length") {
            try socket.answer("known")
          } else {
            try socket.send(
              "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n")
          }
        }
      },
      { rig async throws in
        let chunked = try await rig.exchange("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        #expect(chunked.text == "abcde" && chunked.value("transfer-encoding") == nil)
        #expect(chunked.value("connection") == "close")
        let kept = try await blocking {
          let client = try rig.connect()
          return try (0..<2).map { _ in
            try client.send("GET /length HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n")
            return try client.readResponse()
          }
        }
        #expect(kept.map(\.text) == ["known", "known"] && kept[0].value("connection") == "keep-alive")
        let once = try await blocking {
          let client = try rig.connect()
          try client.send("GET /length HTTP/1.0\r\n\r\n")
          return (try client.readResponse(), try client.isEnded())
        }
        #expect(once.0.text == "known" && once.0.value("connection") == "close" && once.1)
      })
  }

  @Test("Interim responses are relayed to HTTP/1.1 clients, and 100 releases the body")
  func interim() async throws {
    try await withGateway(
      script: { socket, _ in
        while true {
          let head = try socket.readHead()
          try socket.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
          let body = head.contains("Content-Length") ? try socket.read(count: 5) : []
          try socket.answer(String(decoding: body, as: UTF8.self))
        }
      },
      { rig async throws in
        let request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
        let answers = try await blocking {
          let client = try rig.connect()
          try client.send(request)
          var answers = [try client.readResponse(), try client.readResponse()]
          try client.send("hello")
          answers.append(try client.readResponse())
          return answers
        }
        // The gateway's own 100 comes at once; the application's is not forwarded in addition.
        #expect(answers.map(\.status) == [100, 103, 200])
        #expect(answers[1].value("link") == "</a>" && answers[2].text == "hello")
        #expect(try await rig.exchange("GET / HTTP/1.0\r\n\r\n").status == 200)
        #expect(await eventually { rig.log.statuses == [200, 200] })
      })
  }

  @Test("A response before the end of the request's body reaches the client, and both connections end")
  func earlyResponse() async throws {
    try await withGateway(
      script: { socket, number in
        _ = try socket.readHead()
        if number == 0 { _ = try socket.read(count: 4) }
        try socket.answer("early", status: "403 Forbidden")
        _ = try? socket.readToEnd()
      },
      { rig async throws in
        let (answer, ended) = try await blocking {
          let client = try rig.connect()
          try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\npart")
          let answer = try client.readResponse()
          return (answer, try client.isEnded())
        }
        #expect(answer.status == 403 && answer.text == "early" && ended)
        #expect(await eventually { rig.log.upstreams == 0 && rig.log.clients == 0 })
      })
  }

  @Test(
    "A connection that ends after its response is read for a while if its client may have sent another request",
    arguments: [("1.1", "", true), ("1.1", "Connection: close\r\n", false), ("1.0", "", false)])
  func lingering(_ version: String, _ field: String, lingers: Bool) async throws {
    try await withGateway(
      script: { socket, _ in
        _ = try socket.readHead()
        _ = try socket.read(count: 4)
        try socket.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        _ = try socket.read(count: 4)
        try socket.send("3\r\nend\r\n0\r\n\r\n")
      },
      { rig async throws in
        let (all, isReset) = try await blocking {
          let client = try rig.connect()
          try client.send("POST / HTTP/\(version)\r\nHost: a\r\n\(field)Content-Length: 8\r\n\r\npart")
          let head = try client.readHead()
          try client.send("rest")
          let body = String(decoding: try client.readToEnd(), as: UTF8.self)
          try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          try RawSocket.pause()
          return (head + body, client.isReset)
        }
        #expect(all.contains("Connection: close\r\n") && all.contains("end") && isReset == !lingers)
        #expect(await eventually { rig.log.clients == 0 })
      })
  }

  @Test(
    "A large response to a slow reader arrives whole, although the connection closes after it",
    arguments: ["1.0", "1.1"])
  func largeAndClosing(_ version: String) async throws {
    let size = 5_000_000
    try await withGateway(
      script: { socket, _ in
        _ = try socket.readHead()
        try socket.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
        try socket.send([UInt8](repeating: 0x79, count: size))
        _ = try? socket.readToEnd()
      },
      { rig async throws in
        let all = try await blocking {
          let client = try rig.connect(receiveBuffer: 4_096)
          try client.send("GET / HTTP/\(version)\r\nHost: a\r\nConnection: close\r\n\r\n")
          let head = try client.readHead()
          return (head, try client.readToEnd())
        }
        #expect(all.0.contains("Connection: close\r\n") && all.1.count == size)
        #expect(await eventually { rig.log.sent == [size] && rig.log.clients == 0 })
      })
  }

  @Test("A large response of the gateway itself arrives whole, although the connection closes after it")
  func largeAnswer() async throws {
    let size = 8_000_000
    try await withGateway(
      gate: { _, _ in
        .answer(ControlResponse(.ok, body: [UInt8](repeating: 0x7A, count: size)), label: .init(number: 0))
      },
      { rig async throws in
        let rest = try await blocking {
          let client = try rig.connect(receiveBuffer: 4_096)
          try client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
          _ = try client.readHead()
          return try client.readToEnd().count
        }
        #expect(rest == size)
        #expect(await eventually { rig.log.clients == 0 })
      })
  }
}
