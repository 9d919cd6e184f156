import HTTPWire
import NIOCore
import Testing

@testable import DataPlane

// Cases: fields of one connection, our cookies, odd status lines, lengths, spaces before colons, trailers.

@Suite("Responses as they go to the client")
struct ResponseForwardingTests {
  private func forward(
    _ text: String, chunked: Bool = false, connection: ResponseForwarding.Connection = .implied,
    mayUpgrade: Bool = false, privateLines: String? = nil
  ) -> String {
    let bytes = Array(text.utf8)
    var head = ResponseHead()
    let parser = ResponseHeadParser(limits: HeadLimits(headBytes: 65_535, fieldCount: 200, targetBytes: 0))
    let outcome = parser.parse(bytes.span.bytes, into: &head)
    guard outcome == .complete else { return "\(outcome)" }
    var buffer = ByteBuffer()
    let rules = ForwardingRules(reservedNames: [], sessionCookieName: "__Host-cordon", scheme: "https")
    let hop = ResponseForwarding.Hop(connection: connection, isChunked: chunked, mayUpgrade: mayUpgrade)
    let context = ResponseForwarding.Context(privateLines: privateLines.map { Array($0.utf8) })
    ResponseForwarding.write(head, bytes.span.bytes, rules: rules, context: context, on: hop, to: &buffer)
    return String(buffer: buffer)
  }

  @Test("An ordinary response head is forwarded unchanged")
  func ordinary() {
    let head = "HTTP/1.1 200 OK\r\nServer:  x \r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\nContent-Length: 5\r\n\r\n"
    #expect(forward(head) == head)
  }

  @Test("A length is written as the number that was read", arguments: [("0005", "5"), ("000", "0"), ("0", "0")])
  func length(came: String, written: String) {
    #expect(
      forward("HTTP/1.1 200 OK\r\nContent-Length: \(came)\r\nX: y\r\n\r\n")
        == "HTTP/1.1 200 OK\r\nContent-Length: \(written)\r\nX: y\r\n\r\n")
  }

  @Test("Hop-by-hop fields of a response are not forwarded, nor those that Connection nominates")
  func hopByHop() {
    #expect(
      forward(
        "HTTP/1.1 200 OK\r\nConnection: close, X-Hop\r\nKeep-Alive: 1\r\nX-Hop: 1\r\nTrailer: X\r\nUpgrade: h2c\r\n"
          + "Proxy-Authenticate: x\r\nTransfer-Encoding: chunked\r\nX-Stays: 1\r\n\r\n", chunked: true)
        == "HTTP/1.1 200 OK\r\nX-Stays: 1\r\nTransfer-Encoding: chunked\r\n\r\n")
    #expect(
      forward("HTTP/1.1 200 OK\r\nConnection: Content-Length\r\nContent-Length: 5\r\n\r\n").contains(
        "Content-Length: 5"))
  }

  @Test("Fields that Connection names are left out, wherever its list names them")
  func nominated() {
    let list = "x-a, close,,X-B" + String(repeating: ",close", count: 1_000) + ",x-c"
    #expect(
      forward("HTTP/1.1 200 OK\r\nConnection: \(list)\r\nX-C: 1\r\nX-AB: 1\r\nx-b: 1\r\nX-A: 1\r\nX-D: 1\r\n\r\n")
        == "HTTP/1.1 200 OK\r\nX-AB: 1\r\nX-D: 1\r\n\r\n")
  }

  @Test("The gateway decides the Connection header of a response")
  func connection() {
    let head = "HTTP/1.1 200 OK\r\nConnection: whatever\r\nContent-Length: 0\r\n\r\n"
    #expect(forward(head, connection: .close).hasSuffix("\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
    #expect(forward(head, connection: .keepAlive).hasSuffix("\r\nConnection: keep-alive\r\n\r\n"))
    #expect(
      forward(
        "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: websocket\r\nX: y\r\n\r\n", connection: .upgrade)
        == "HTTP/1.1 101 Switching\r\nX: y\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
  }

  @Test("An application that answers 426 has its client told of WebSocket, and of no protocol that is not passed on")
  func upgradeRequired() {
    func answer(
      _ status: String, _ fields: String, connection: ResponseForwarding.Connection = .implied, mayUpgrade: Bool = true
    ) -> String {
      forward("HTTP/1.1 \(status)\r\n\(fields)X: y\r\n\r\n", connection: connection, mayUpgrade: mayUpgrade)
    }
    let asked = "Connection: Upgrade\r\nUpgrade: h2c, WebSocket\r\n"
    let told = "HTTP/1.1 426 U\r\nX: y\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    #expect(answer("426 U", asked) == told)
    #expect(answer("426 U", "Connection: Upgrade\r\nUpgrade: h2c\r\nUpgrade: websocket\r\n") == told)
    #expect(
      answer("426 U", asked, connection: .close)
        == "HTTP/1.1 426 U\r\nX: y\r\nConnection: close, Upgrade\r\nUpgrade: websocket\r\n\r\n")
    #expect(
      answer("426 U", asked, connection: .keepAlive, mayUpgrade: false)
        == "HTTP/1.1 426 U\r\nX: y\r\nConnection: keep-alive\r\n\r\n", "HTTP/1.0 has no upgrades")
    #expect(answer("426 U", "Connection: Upgrade\r\nUpgrade: h2c, TLS/1.2\r\n") == "HTTP/1.1 426 U\r\nX: y\r\n\r\n")
    #expect(answer("426 U", "") == "HTTP/1.1 426 U\r\nX: y\r\n\r\n")
    #expect(answer("200 OK", asked) == "HTTP/1.1 200 OK\r\nX: y\r\n\r\n", "an offer that obliges to nothing")
  }

  @Test(
    "An upstream cannot set or take away the gateway's cookies",
    arguments: [
      "Set-Cookie: __Host-cordon=evil", "set-cookie: __host-CORDON=evil; Path=/", "Set-Cookie : __Host-cordon=evil",
      "Set-Cookie:\t__Host-cordon-attempt-1=; Max-Age=0", "Set-Cookie: =__Host-cordon=evil",
      "Set-Cookie: __Host-cordon",
    ])
  func gatewayCookies(_ line: String) {
    let head = forward("HTTP/1.1 200 OK\r\nA: 1\r\n\(line)\r\nSet-Cookie: app=1\r\nContent-Length: 0\r\n\r\n")
    #expect(head == "HTTP/1.1 200 OK\r\nA: 1\r\nSet-Cookie: app=1\r\nContent-Length: 0\r\n\r\n")
  }

  @Test(
    "Lines for one client alone are added only where no shared cache may keep the response",
    arguments: [
      ([], ["Cache-Control: private", "X-Mine: 1"]), (["Cache-Control: private"], ["X-Mine: 1"]),
      (["cache-control: max-age=60, No-Store"], ["X-Mine: 1"]), (["Cache-Control: public"], []),
      (["Cache-Control: no-cache"], []), (["Cache-Control: private=\"x\""], []), (["Cache-Control: privately"], []),
      (["Cache-Control: max-age=60", "Cache-Control: private"], ["X-Mine: 1"]),
      (["Cache-Control: private", "Cache-Control: max-age=60"], ["X-Mine: 1"]),
      (["Cache-Control: private", "CDN-Cache-Control: max-age=60"], []),
      (["Cache-Control: private", "CDN-Cache-Control: no-store"], ["X-Mine: 1"]),
      (["Surrogate-Control: max-age=60", "Cache-Control: private"], []),
      (["Cache-Control: private", "Edge-Control: max-age=60"], []),
      (["Cache-Control: private", "X-Accel-Expires: 60"], []),
      (["Cache-Control: private", "X-Cache-Controlled: 1"], ["X-Mine: 1"]),
    ] as [([String], [String])])
  func privateLines(came: [String], added: [String]) {
    func head(_ lines: [String]) -> String { (["HTTP/1.1 200 OK"] + lines).map { $0 + "\r\n" }.joined() + "\r\n" }
    #expect(forward(head(came), privateLines: "X-Mine: 1\r\n") == head(came + added))
    #expect(forward(head(came)) == head(came))
  }

  @Test("Configured fields are added unless the response has them; those for caches not beside lines for one client")
  func configuredFields() {
    let names = [
      "X-Frame-Options", "Cache-Control", "Expires", "pragma", "CDN-Cache-Control", "Surrogate-Control", "Edge-Control",
      "X-Accel-Expires",
    ]
    let headers = ResponseHeaders(names.map { ResponseHeader(name: $0, value: "1") })
    func added(to lines: [String], isPrivate: Bool) -> [String] {
      let bytes = Array(((["HTTP/1.1 200 OK"] + lines).map { $0 + "\r\n" }.joined() + "\r\n").utf8)
      var head = ResponseHead()
      let parser = ResponseHeadParser(limits: HeadLimits(headBytes: 65_535, fieldCount: 200, targetBytes: 0))
      guard parser.parse(bytes.span.bytes, into: &head) == .complete else { return ["malformed"] }
      var buffer = ByteBuffer(bytes: bytes)
      headers.write(missingIn: head, bytes.span.bytes, isPrivate: isPrivate, to: &buffer)
      return String(buffer: buffer).split(separator: "\r\n").dropFirst(1 + lines.count).map(String.init)
    }
    let all = names.map { "\($0): 1" }
    #expect(added(to: [], isPrivate: false) == all)
    #expect(added(to: [], isPrivate: true) == ["X-Frame-Options: 1"])
    let others = all.filter { $0 != "X-Frame-Options: 1" && $0 != "pragma: 1" }
    #expect(added(to: ["x-frame-options: DENY", "PRAGMA: x"], isPrivate: false) == others)
    #expect(added(to: ["X-Frame-Option: DENY", "X-Frame-Optionz: DENY"], isPrivate: true) == ["X-Frame-Options: 1"])
  }

  @Test("White space before a colon is removed")
  func spaceBeforeColon() {
    #expect(
      forward("HTTP/1.1 200 OK\r\nA: 1\r\nX-Odd \t:  v \r\nContent-Length : 3\r\nB: 2\r\n\r\n")
        == "HTTP/1.1 200 OK\r\nA: 1\r\nX-Odd: v\r\nContent-Length: 3\r\nB: 2\r\n\r\n")
  }

  @Test("A status line without its last space, or of HTTP/1.0, is rewritten")
  func statusLines() {
    #expect(forward("HTTP/1.1 200\r\nA: b\r\n\r\n") == "HTTP/1.1 200 \r\nA: b\r\n\r\n")
    #expect(forward("HTTP/1.0 404 Not here\r\nA: b\r\n\r\n") == "HTTP/1.1 404 Not here\r\nA: b\r\n\r\n")
    #expect(forward("HTTP/1.0 200\r\n\r\n") == "HTTP/1.1 200 \r\n\r\n")
  }

  @Test("204 and interim responses have no length, 304 and answers to HEAD keep theirs")
  func lengths() {
    #expect(
      forward("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\nA: b\r\n\r\n")
        == "HTTP/1.1 204 No Content\r\nA: b\r\n\r\n")
    #expect(
      forward("HTTP/1.1 103 Hints\r\nContent-Length: 5\r\nLink: x\r\n\r\n") == "HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n")
    #expect(forward("HTTP/1.1 304 N\r\nContent-Length: 5\r\n\r\n").contains("Content-Length: 5"))
  }

  @Test("Only trailers that have no meaning before the body are forwarded")
  func trailers() {
    let rules = ForwardingRules(
      reservedNames: ["X-Forwarded-User"], upstreamNames: ["X-Legacy-User"], sessionCookieName: "__Host-cordon",
      scheme: "https")
    var buffer = ByteBuffer()
    let dropped = [
      "X-Legacy-User", "x_legacy.user",
      "X-Forwarded-User", "X_Forwarded_User", "x.forwarded.user", "X-Forwarded-Anything", "X_Forwarded_Proto", "Cookie",
      "Set-Cookie", "Set_Cookie", "Authorization", "Host", "Content-Length", "content_length", "Transfer-Encoding",
      "Transfer_Encoding", "Connection", "TE", "Upgrade", "Trailer", "Content-Type", "Content-Encoding",
      "Content-Range",
      "Location", "Cache-Control", "X-Real-IP", "X_Request_Id", "X-Identity-Assertion", "X-Original-URL",
      "X_Rewrite_URL",
      "Forwarded", "Expect", "Proxy", "Max-Forwards", "Range", "WWW-Authenticate", "Date", "Age", "Expires", "Vary",
      "X-HTTP-Method-Override", "X_HTTP_Method", "X-Method-Override",
    ]
    let section = "X-Sum: 1\r\n" + dropped.map { "\($0): evil\r\n" }.joined() + "Server-Timing:  a;dur=1\r\n"
    TrailerForwarding.write(Array(section.utf8), rules: rules, to: &buffer)
    #expect(String(buffer: buffer) == "0\r\nX-Sum: 1\r\nServer-Timing:  a;dur=1\r\n\r\n")
    buffer.clear()
    TrailerForwarding.write([], rules: rules, to: &buffer)
    #expect(String(buffer: buffer) == "0\r\n\r\n")
  }
}
