import Foundation
import Testing

// HTTP/1.1 requests that no honest client sends (RFC 9112), on a public route, so that nothing but the parser is in the
// way.
//
// - Two framings, broken lengths, codings and chunks: refused, the connection closed, not one byte of it upstream.
// - Broken lines, fields, hosts, methods, versions: the same.
// - Slow heads and bodies are given up; a reader that never reads holds nobody else up.
// After each, the same process serves the next honest request, and another client's connection is untouched.

@SystemActor
@Suite(
  "Requests that nobody honest sends", .serialized,
  .site(adjust: {
    $0["listen.timeouts", "head"] = "\"3s\""
    $0["listen.timeouts", "body_progress"] = "\"3s\""
    $0.ending = """
      [[route]]
      path = "/"
      access = "public"
      """
  }))
struct RequestAttackTests {
  private let site: Site

  init() throws {
    site = try Site.current
    site.upstream.forget()
  }

  /// Sends the bytes (`HOST` stands for our own) on a connection of their own, while another client is in the middle of
  /// a kept connection; expects a refusal, the end of the connection, and silence upstream.
  private func expectRefused(
    _ text: String, statuses: Set<Int> = [400], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let pid = site.gateway.process.pid
    let honest = try site.gateway.connect()
    try honest.send("GET /honest-before HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\r\n")
    #expect(try HTTPResponse.read(from: honest).status == 200, sourceLocation: sourceLocation)
    site.upstream.forget()

    let connection = try site.gateway.connect()
    try? connection.send(text.replacingOccurrences(of: "HOST", with: site.gateway.client.authority))
    let status = try HTTPResponse.read(from: connection).status
    #expect(statuses.contains(status), "\(status)", sourceLocation: sourceLocation)
    try connection.waitForClose()
    #expect(site.upstream.requests.isEmpty, sourceLocation: sourceLocation)

    try honest.send("GET /honest-after HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\r\n")
    #expect(
      try HTTPResponse.read(from: honest).text == "upstream saw GET /honest-after", sourceLocation: sourceLocation)
    #expect(site.gateway.process.isRunning && site.gateway.process.pid == pid, sourceLocation: sourceLocation)
  }

  private nonisolated static let smuggled = "GET /smuggled HTTP/1.1\r\nHost: HOST\r\n\r\n"

  private nonisolated static let framings = [
    "Content-Length: 5\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 5",
    "Content-Length: 5\r\nContent-Length: 6", "Content-Length: 5\r\nContent-Length: 5", "Content-Length: 5, 5",
    "Content-Length: +5", "Content-Length: -0", "Content-Length: 0x10", "Content-Length: 5 5", "Content-Length: ",
    "Content-Length: 9223372036854775808", "Content-Length: 18446744073709551621", "Content-Length: 5;",
    "Content-Length: ٥",
    "Content-Length: 5.0", "Content-Length: \"5\"", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked, chunked", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: identity",
    "Transfer-Encoding: chunked, identity", "Transfer-Encoding: xchunked", "Transfer-Encoding: \u{B}chunked",
    "Transfer-Encoding: chunked;q=1", "Transfer-Encoding:", "Transfer-Encoding: \"chunked\"",
    "Transfer-Encoding: , chunked",
    "Transfer_Encoding: chunked\r\nTransfer-Encoding: nothing",
  ]

  @Test("A body with two framings, or a broken one, is refused", arguments: framings)
  func framing(fields: String) throws {
    try expectRefused("POST /x HTTP/1.1\r\nHost: HOST\r\n\(fields)\r\n\r\n\(Self.smuggled)", statuses: [400, 413, 501])
  }

  @Test("Transfer-Encoding in HTTP/1.0 is refused")
  func oldTransferEncoding() throws {
    try expectRefused(
      "POST /x HTTP/1.0\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", statuses: [400, 501])
  }

  private nonisolated static let chunks = [
    "+5\r\nhello\r\n", "0x5\r\nhello\r\n", "5_0\r\nhello\r\n", "-1\r\nhello\r\n", "FFFFFFFFFFFFFFFFF\r\nhello\r\n",
    "8000000000000000\r\nhello\r\n", "\r\nhello\r\n", "g\r\nhello\r\n", " 5\r\nhello\r\n", "5\nhello\r\n",
    "5\r\nhello0\r\n\r\n",
    "5\r\nhello\n0\r\n\r\n", "5\r\nhelloXX0\r\n\r\n", "5\rhello\r\n", "5;a\nb\r\nhello\r\n",
    String(repeating: "0", count: 65_536) + "\r\n\r\n", "5;" + String(repeating: "x", count: 100_000) + "\r\nhello\r\n",
    "0\r\nno-colon\r\n\r\n", "0\r\n folded: 1\r\n\r\n", "0\r\nX : 1\r\n\r\n",
  ]

  @Test(
    "Bytes that are not a chunk end the exchange: no whole request reaches the application", arguments: chunks.indices)
  func chunk(index: Int) throws {
    let pid = site.gateway.process.pid
    let connection = try site.gateway.connect()
    try connection.send(
      "POST /x HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\nTransfer-Encoding: chunked\r\n\r\n")
    try? connection.send(Self.chunks[index] + Self.smuggled)
    // Refused, or closed without an answer when the request was on its way already; never passed on.
    if let response = try? HTTPResponse.read(from: connection) { #expect((400..<503).contains(response.status)) }
    try connection.waitForClose()
    #expect(!site.upstream.requests.contains { $0.target == "/x" || $0.target == "/smuggled" })
    let next = try site.gateway.client.get("/next")
    #expect(next.text == "upstream saw GET /next")
    #expect(site.gateway.process.pid == pid && site.gateway.process.isRunning)
  }

  private nonisolated static let heads = [
    "GET /x HTTP/1.1\nHost: HOST\n\n", "GET /x HTTP/1.1\r\nHost: HOST\nX: 1\r\n\r\n",
    "GET /x HTTP/1.1\r\nHost: HOST\r\nX: a\rb\r\n\r\n",
    "GET /x HTTP/1.1\r\nHost: HOST\r\nX: a\n\r\n\r\n", "GET /x HTTP/1.1\r\nHost: HOST\r\nX: a\r\n b\r\n\r\n",
    "GET /x HTTP/1.1\r\n Host: HOST\r\n\r\n", "GET /x HTTP/1.1\r\nHost : HOST\r\n\r\n",
    "GET /x HTTP/1.1\r\nHost: HOST\r\nX : 1\r\n\r\n",
    "GET /x HTTP/1.1\r\nHost: HOST\r\nX: a\u{0}b\r\n\r\n", "GET /x HTTP/1.1\r\nHost: HOST\r\n: 1\r\n\r\n",
    "GET /x HTTP/1.1\r\nHost: HOST\r\nX\r\n\r\n", "GET /x HTTP/1.1\r\nHost: HOST\r\nX(y): 1\r\n\r\n",
    "GET /x HTTP/1.1\r\nHost: HOST\r\nX\u{e9}: 1\r\n\r\n", "GET /x HTTP/1.1\r\nHost: HOST\r\nX: a\u{7f}b\r\n\r\n",
    "GET  /x HTTP/1.1\r\nHost: HOST\r\n\r\n", "GET /x  HTTP/1.1\r\nHost: HOST\r\n\r\n",
    "GET\t/x\tHTTP/1.1\r\nHost: HOST\r\n\r\n",
    " GET /x HTTP/1.1\r\nHost: HOST\r\n\r\n", "GET /x HTTP/1.1 \r\nHost: HOST\r\n\r\n", "GET /x\r\nHost: HOST\r\n\r\n",
    "GET /x http/1.1\r\nHost: HOST\r\n\r\n", "GET /x HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n",
    "GET /x HTTP/1.1\r\nHost:\r\n\r\n",
    "GET /x HTTP/1.1\r\n\r\n", "GET /x HTTP/1.1\r\nHost: a b\r\n\r\n", "GET /x HTTP/1.1\r\nHost: HOST/\r\n\r\n",
    "GET /x HTTP/1.1\r\nHost: HOST, HOST\r\n\r\n", "GET /x HTTP/1.1\r\nHost: u@HOST\r\n\r\n",
    "G@T /x HTTP/1.1\r\nHost: HOST\r\n\r\n",
    "GET /x HTTP/1.1\r\nHost: HOST\r\nUpgrade: h2c\r\nConnection: Upgrade\r\nHTTP2-Settings: AAMAAABk\r\nContent-Length: +1\r\n\r\n",
    "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\u{fc}\u{3}\u{3}\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "GET /x HTTP/1.1\r\nHost: HOST\r\nExpect: everything\r\n\r\n", "GET /x HTTP/1.32\r\nHost: HOST\r\n\r\n",
    "GET /x HTTP/2.0\r\nHost: HOST\r\n\r\n", "GET /x HTTP/1.1.1\r\nHost: HOST\r\n\r\n",
    "TRACE /x HTTP/1.1\r\nHost: HOST\r\n\r\n",
    "CONNECT HOST HTTP/1.1\r\nHost: HOST\r\n\r\n",
  ]

  @Test("A head that is not a head is refused", arguments: heads.indices)
  func head(index: Int) throws {
    try expectRefused(Self.heads[index], statuses: [400, 405, 417, 421, 501, 505])
  }

  @Test("Upgrade: h2c is not an upgrade")
  func noCleartextUpgrade() throws {
    let connection = try site.gateway.connect()
    try connection.send(
      """
      GET /x HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n\
      HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n
      """)
    let response = try HTTPResponse.read(from: connection)
    #expect(response.status != 101)
    #expect(
      site.upstream.requests.allSatisfy { !$0.fields.contains("Upgrade") && !$0.fields.contains("HTTP2-Settings") })
  }

  @Test("In absolute form the target's host counts, not Host")
  func absoluteForm() throws {
    let connection = try site.gateway.connect()
    try connection.send("GET \(site.origin)/absolute HTTP/1.1\r\nHost: evil.example\r\n\r\n")
    let status = try HTTPResponse.read(from: connection).status
    #expect([200, 400, 421].contains(status))
    for request in site.upstream.requests where request.target.contains("absolute") {
      #expect(request.fields["Host"] == site.gateway.client.authority)
      #expect(!request.headText.contains("evil.example"))
    }
  }

  @Test("In absolute form another host is answered 421, whatever Host says")
  func foreignAbsoluteForm() throws {
    let connection = try site.gateway.connect()
    try connection.send("GET http://evil.example/x HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\r\n")
    #expect(try HTTPResponse.read(from: connection).status == 421)
    #expect(site.upstream.requests.isEmpty)
  }

  @Test("A head that does not come to its end is given up with 408")
  func slowHead() throws {
    let connection = try site.gateway.connect()
    try connection.send("GET /slow HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\nX-")
    #expect(try HTTPResponse.read(from: connection).status == 408)
    try connection.waitForClose()
    #expect(site.upstream.requests.isEmpty)
  }

  @Test("A body that does not come to its end is given up, and the application sees that it is not whole")
  func slowBody() throws {
    try site.surviving {
      let connection = try site.gateway.connect()
      try connection.send(
        "POST /slow HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\nContent-Length: 10\r\n\r\nhalf")
      if let response = try? HTTPResponse.read(from: connection) { #expect(response.status == 408) }
      try connection.waitForClose()
      #expect(!site.upstream.requests.contains { $0.target == "/slow" })
    }
  }

  @Test("Two hundred clients that stall in their heads keep nobody else out")
  func stalledClients() throws {
    try site.surviving {
      let stalled = try (0..<200).map { _ in
        let connection = try site.gateway.connect()
        try connection.send("GET /stalled HTTP/1.1\r\nHost: ")
        return connection
      }
      let honest = try site.gateway.client.get("/honest")
      #expect(honest.status == 200)
      for connection in stalled { connection.reset() }
    }
  }

  @Test("A client that resets in the middle of a request, a response or a kept connection harms nobody")
  func resets() throws {
    try site.surviving {
      for text in [
        "GET /x HTTP/1.1\r\nHo", "POST /x HTTP/1.1\r\nHost: HOST\r\nContent-Length: 100\r\n\r\nhalf",
        "GET /x HTTP/1.1\r\nHost: HOST\r\n\r\n", "",
      ] {
        for _ in 0..<20 {
          let connection = try site.gateway.connect()
          try connection.send(text.replacingOccurrences(of: "HOST", with: site.gateway.client.authority))
          connection.reset()
        }
      }
      let next = try site.gateway.client.get("/next")
      #expect(next.status == 200)
    }
  }
}
