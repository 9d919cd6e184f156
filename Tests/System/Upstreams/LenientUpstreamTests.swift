import Foundation
import Testing

// Applications whose responses are not quite HTTP.
//
// - Each mistake is 502 by default, told in the log with the key that would accept it, and counted as malformed.
// - With its key each passes, and what the client gets is clean.
// - A space after a chunk size always passes; chunks that are broken before the head has left are 502.
// - Health tells an application that answers badly from one that does not answer.

@SystemActor
@Suite("Applications whose responses are not quite HTTP")
struct LenientUpstreamTests {
  private nonisolated static let mistakes: [(key: String, response: String)] = [
    ("bare-lf", "HTTP/1.1 200 OK\nContent-Length: 4\nX-Mark: 1\n\nfine"),
    ("bare-lf", "HTTP/1.1 200 OK\r\nContent-Length: 4\nX-Mark: 1\r\n\nfine"),
    ("duplicate-length", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX-Mark: 1\r\nContent-Length: 4\r\n\r\nfine"),
    ("duplicate-length", "HTTP/1.1 200 OK\r\nContent-Length: 4, 4\r\nX-Mark: 1\r\n\r\nfine"),
    ("status-range", "HTTP/1.1 999 Denied\r\nContent-Length: 4\r\nX-Mark: 1\r\n\r\nfine"),
    ("control-bytes", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX-Mark: 1\r\nX-Odd: a\u{1}b\0c\u{7f}d\r\n\r\nfine"),
    ("control-bytes", "HTTP/1.1 200 O\u{1}K\r\nContent-Length: 4\r\nX-Mark: 1\r\n\r\nfine"),
  ]

  private func application() throws -> RawUpstream {
    try RawUpstream { request, connection in
      let number = Int(request.target.dropFirst()) ?? 0
      try connection.send(Self.mistakes[number].response)
    }
  }

  @Test("Each mistake is refused by default, and the log names the key that would accept it")
  func refused() throws {
    let upstream = try application()
    let gateway = try GatewayProcess.open(to: upstream) { $0["listen", "workers"] = "1" }
    defer { gateway.stop() }
    for (number, mistake) in Self.mistakes.enumerated() {
      #expect(try gateway.client.get("/\(number)").status == 502, "\(mistake.key)")
      try gateway.waitForLog("lenient = [\\\"\(mistake.key)\\\"]")
    }
    try gateway.waitForLog("malformed upstream response")
    let metrics = try gateway.admin.get("/metrics").text
    let address = "upstream=\"default\",address=\"http://127.0.0.1:\(upstream.port)\""
    #expect(metrics.contains("cordon_upstream_failures_total{reason=\"malformed\"} \(Self.mistakes.count)\n"))
    #expect(metrics.contains("cordon_upstream_address_malformed_total{\(address)} \(Self.mistakes.count)\n"))
    try poll("health to tell them apart") {
      try gateway.admin.get("/healthz").text.contains("answers with malformed responses") ? () : nil
    }
  }

  @Test("With its key each mistake passes, clean, over HTTP/1.1 and HTTP/2", arguments: [[], ["h2"]])
  func accepted(_ protocols: [String]) throws {
    let upstream = try application()
    let gateway = try GatewayProcess.open(to: upstream) {
      $0["upstream", "lenient"] = "[\"bare-lf\", \"duplicate-length\", \"status-range\", \"control-bytes\"]"
      $0.acceptHTTP2()
    }
    defer { gateway.stop() }
    for (number, mistake) in Self.mistakes.enumerated() {
      let status = mistake.key == "status-range" ? 999 : 200
      guard protocols.isEmpty else {
        let answer = try HTTP2Client(gateway).get("/\(number)")
        #expect(answer.status == "\(status)" && answer.body == "fine", "\(mistake.key)")
        continue
      }
      let connection = try gateway.connect()
      try connection.send(
        "GET /\(number) HTTP/1.1\r\nHost: \(gateway.client.authority)\r\nConnection: close\r\n\r\n")
      let bytes = try connection.readToEnd()
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(text.hasPrefix("HTTP/1.1 \(status) ") && text.hasSuffix("\r\n\r\nfine"), "\(text)")
      #expect(text.contains("\r\nX-Mark: 1\r\n"), "\(text)")
      #expect(text.components(separatedBy: "Content-Length").count == 2, "\(text)")
      let isClean = !bytes.contains { $0 < 0x20 && $0 != 0x0D && $0 != 0x0A || $0 == 0x7F }
      #expect(isClean && text.components(separatedBy: "\r\n").allSatisfy { !$0.contains("\n") }, "\(text)")
      if text.contains("X-Odd") { #expect(text.contains("X-Odd: a b c d\r\n")) }
    }
  }

  @Test("With every key, what is not a head is refused all the same")
  func neverAccepted() throws {
    let upstream = try RawUpstream { request, connection in
      let heads = [
        "HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: b\r\nContent-Length: 4\r\n\r\nfine",
        "HTTP/1.1 200 OK\nContent-Length: 4\nContent-Length: 5\n\nfine!",
        "HTTP/1.1 200 OK\nX\u{1}Y: 1\nContent-Length: 4\n\nfine", "\nHTTP/1.1 200 OK\n\n",
        "HTTP/1.1 200 OK\n\u{1}folded: 1\n\n", "HTTP/1.1 1000 OK\n\n", "fine",
        "HTTP/1.1 200 OK\r\nContent-Length: 4, 5\r\n\r\nfine!", "HTTP/1.1 200 OK\r\nContent-Length: +4, +4\r\n\r\nfine",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 4\r\n\r\nfine",
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n folded: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      ]
      try connection.send(heads[Int(request.target.dropFirst()) ?? 0])
      connection.close()
    }
    let gateway = try GatewayProcess.open(to: upstream) {
      $0["upstream", "lenient"] =
        "[\"bare-lf\", \"duplicate-length\", \"duplicate-framing\", \"status-range\", \"control-bytes\"]"
    }
    defer { gateway.stop() }
    for number in 0..<11 { #expect(try gateway.client.get("/\(number)").status == 502, "\(number)") }
  }

  @Test("A head with mistakes is read in whatever pieces it comes")
  func inPieces() throws {
    let upstream = try RawUpstream { _, connection in
      for byte in Array(Self.mistakes[0].response.utf8) { try connection.send([byte]) }
    }
    let gateway = try GatewayProcess.open(to: upstream) { $0["upstream", "lenient"] = "[\"bare-lf\"]" }
    defer { gateway.stop() }
    for _ in 0..<3 { #expect(try gateway.client.get("/").text == "fine") }
  }

  // MARK: Chunks

  private nonisolated static let framings = [
    "Content-Length: 4\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 3",
    "Transfer-Encoding: chunked\r\ntransfer-encoding: chunked", "Transfer-Encoding: chunked, chunked",
  ]

  @Test(
    "Chunks that are announced twice, or with a length, pass with the key, and end their connection",
    arguments: framings)
  func duplicateFraming(_ lines: String) throws {
    let upstream = try RawUpstream { _, connection in
      try connection.send("HTTP/1.1 200 OK\r\n\(lines)\r\nX-Mark: 1\r\n\r\n4\r\nfine\r\n0\r\n\r\n")
    }
    let strict = try GatewayProcess.open(to: upstream)
    defer { strict.stop() }
    #expect(try strict.client.get("/").status == 502)
    try strict.waitForLog("lenient = [\\\"duplicate-framing\\\"]")
    let gateway = try GatewayProcess.open(to: upstream) {
      $0["listen", "workers"] = "1"
      $0["upstream", "lenient"] = "[\"duplicate-framing\"]"
      $0.acceptHTTP2()
    }
    defer { gateway.stop() }
    for number in 1...2 {
      let response = try gateway.client.get("/")
      #expect(response.status == 200 && response.text == "fine")
      #expect(response.fields["Content-Length"] == nil && response.fields["X-Mark"] == "1")
      #expect(upstream.connectionCount == 1 + number)
    }
    let answer = try HTTP2Client(gateway).get("/")
    #expect(answer.status == "200" && answer.body == "fine")
  }

  @Test("An interim response that announces chunks with a length passes with the key, and ends its connection")
  func interimFraming() throws {
    let upstream = try RawUpstream { request, connection in
      let line = request.target == "/usual" ? "X-Mark: 1" : Self.framings[0]
      try connection.send("HTTP/1.1 103 Early Hints\r\n\(line)\r\n\r\n" + RawUpstream.response(body: "fine"))
    }
    let gateway = try GatewayProcess.open(to: upstream) {
      $0["listen", "workers"] = "1"
      $0["upstream", "lenient"] = "[\"duplicate-framing\"]"
    }
    defer { gateway.stop() }
    for (target, connections) in [("/", 1), ("/", 2), ("/usual", 3), ("/usual", 3)] {
      #expect(try gateway.client.get(target).text == "fine")
      #expect(upstream.connectionCount == connections, "\(target)")
    }
  }

  private nonisolated static let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

  @Test("White space after a chunk size passes")
  func paddedChunks() throws {
    let bodies = ["5   \r\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n0  \r\n\r\n", "5 ; a=b\r\nhello\r\n0\t\r\n\r\n"]
    let upstream = try RawUpstream { request, connection in
      try connection.send(Self.head + bodies[Int(request.target.dropFirst()) ?? 0])
    }
    let gateway = try GatewayProcess.open(to: upstream) { $0.acceptHTTP2() }
    defer { gateway.stop() }
    for number in bodies.indices {
      #expect(try gateway.client.get("/\(number)").text == "hello", "\(number)")
      #expect(try HTTP2Client(gateway).get("/\(number)").body == "hello", "\(number)")
    }
    // Never in a request.
    let client = try gateway.connect()
    try client.send(
      "POST / HTTP/1.1\r\nHost: \(gateway.client.authority)\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "5 \r\nhello\r\n0\r\n\r\n"
    )
    #expect(try HTTPResponse.read(from: client).status == 400)
  }

  @Test("Chunks that are broken before the head has left are answered with 502")
  func brokenChunks() throws {
    let upstream = try RawUpstream { request, connection in
      try connection.send(Self.head + (request.target == "/late" ? "5\r\nhello\r\nx\r\n" : "x\r\n"))
      connection.close()
    }
    let gateway = try GatewayProcess.open(to: upstream) { $0.acceptHTTP2() }
    defer { gateway.stop() }
    for path in ["/", "/late"] {
      #expect(try gateway.client.get(path).status == 502)
      #expect(try HTTP2Client(gateway).get(path).status == "502")
    }
  }
}
