import Testing

@testable import HTTPWire

// Cases: plain heads, target forms, connection options, splits, reuse of a head, limits.

@Suite("Request heads")
struct RequestHeadTests {
  @Test("An ordinary head is read with method, target, path, query, authority and fields in order")
  func ordinary() {
    let text = "GET /a/b?c=d HTTP/1.1\r\nHost: app.example.com:8080\r\nAccept:text/html \t\r\nX-Empty:\r\n\r\nrest"
    let read = readRequest(text)
    #expect(read.outcome == .complete)
    #expect(read.method == "GET" && read.kind == .get)
    #expect(read.target == "/a/b?c=d" && read.path == "/a/b" && read.query == "?c=d")
    #expect(read.authority == "app.example.com:8080")
    #expect(read.fields == [["Host", "app.example.com:8080"], ["Accept", "text/html"], ["X-Empty", ""]])
    #expect(read.framing == .none && read.keepAlive && read.isHTTP11)
    #expect(read.byteCount == text.utf8.count - 4)
  }

  @Test(
    "The methods that matter are distinguished by their exact letters",
    arguments: [
      ("GET", RequestHead.Method.get), ("PUT", .put), ("POST", .post), ("HEAD", .head), ("PATCH", .patch),
      ("DELETE", .delete), ("OPTIONS", .options), ("PROPFIND", .other), ("M-SEARCH", .other),
      ("GETS", .other),
    ])
  func methods(_ name: String, _ kind: RequestHead.Method) {
    let read = readRequest("\(name) / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(read.outcome == .complete)
    #expect(read.kind == kind && read.method == name)
  }

  @Test("One empty line before a request is passed over, a second is not")
  func emptyLineBefore() {
    let read = readRequest("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(read.outcome == .complete && read.method == "GET" && read.byteCount == 29)
    #expect(readRequest("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").violation == .requestLine)
  }

  @Test("The authority of an absolute form wins over Host, and its path may be missing")
  func absoluteForm() {
    let read = readRequest("GET http://real.example/p?q HTTP/1.1\r\nHost: other.example\r\n\r\n")
    #expect(read.isAbsoluteForm && read.authority == "real.example" && read.path == "/p" && read.query == "?q")
    let bare = readRequest("GET HTTPS://real.example:444?q HTTP/1.1\r\nHost: other.example\r\n\r\n")
    #expect(bare.isAbsoluteForm && bare.authority == "real.example:444" && bare.path.isEmpty && bare.query == "?q")
    let old = readRequest("GET http://real.example/ HTTP/1.0\r\n\r\n")
    #expect(old.isAbsoluteForm && old.authority == "real.example")
  }

  @Test("An asterisk is a target of OPTIONS only")
  func asterisk() {
    #expect(readRequest("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").isAsteriskForm)
    #expect(readRequest("GET * HTTP/1.1\r\nHost: a\r\n\r\n").violation == .target)
    #expect(readRequest("OPTIONS *x HTTP/1.1\r\nHost: a\r\n\r\n").violation == .target)
  }

  @Test(
    "Version and Connection decide whether a client's connection is kept",
    arguments: [
      ("HTTP/1.1", "", true), ("HTTP/1.1", "close", false), ("HTTP/1.1", "Keep-Alive", true),
      ("HTTP/1.1", "keep-alive, CLOSE", false), ("HTTP/1.0", "", false), ("HTTP/1.0", "keep-alive", true),
      ("HTTP/1.0", "close, keep-alive", false), ("HTTP/1.1", ", ,close,", false),
    ])
  func persistence(_ version: String, _ options: String, _ expected: Bool) {
    let line = options.isEmpty ? "" : "Connection: \(options)\r\n"
    let read = readRequest("GET / \(version)\r\nHost: a\r\n\(line)\r\n")
    #expect(read.outcome == .complete && read.keepAlive == expected)
  }

  @Test("A second Connection line counts as the first does")
  func repeatedConnection() {
    let read = readRequest("GET / HTTP/1.1\r\nHost: a\r\nConnection: x-one\r\nConnection: close\r\n\r\n")
    #expect(!read.keepAlive && read.nominatesFields)
  }

  @Test("An upgrade wants Connection, Upgrade and HTTP/1.1 together")
  func upgrade() {
    let fields = "Host: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n"
    #expect(readRequest("GET / HTTP/1.1\r\n" + fields).wantsUpgrade)
    #expect(!readRequest("GET / HTTP/1.0\r\n" + fields).wantsUpgrade)
    #expect(!readRequest("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n\r\n").wantsUpgrade)
    #expect(!readRequest("GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n").wantsUpgrade)
  }

  @Test(
    "An upgrade to another HTTP, within which requests would pass unseen, is not an upgrade",
    arguments: ["h2c", "H2C", "websocket, h2c", "HTTP/2.0", "TLS/1.2", "h2c\r\nUpgrade: websocket"])
  func smuggledUpgrade(_ protocols: String) {
    let read = readRequest(
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: \(protocols)\r\n\r\n")
    #expect(read.outcome == .complete && !read.wantsUpgrade)
  }

  @Test("100-continue is waited for only by an HTTP/1.1 client with a body")
  func expectation() {
    let length = "Host: a\r\nContent-Length: 3\r\nExpect: 100-Continue\r\n\r\n"
    #expect(readRequest("POST / HTTP/1.1\r\n" + length).expectsContinue)
    #expect(!readRequest("POST / HTTP/1.0\r\n" + length).expectsContinue)
    #expect(!readRequest("GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n").expectsContinue)
  }

  @Test("A head that served before remembers nothing of it")
  func reuse() {
    var head = RequestHead()
    let full =
      "POST http://x/y?z HTTP/1.1\r\nHost: a\r\nCookie: __Host-cordon=v\r\nConnection: upgrade, foo\r\nUpgrade: ws\r\n"
      + "Expect: 100-continue\r\nTransfer-Encoding: chunked\r\nForwarded: a\r\nForwarded: b\r\n\r\n"
    #expect(readRequest(Array(full.utf8), into: &head).outcome == .complete)
    let read = readRequest(Array("GET /plain HTTP/1.1\r\nHost: b\r\n\r\n".utf8), into: &head)
    #expect(read.framing == .none && read.authority == "b" && read.query.isEmpty && read.kind == .get)
    #expect(!read.isAbsoluteForm && !read.expectsContinue && !read.wantsUpgrade && !read.nominatesFields)
    #expect(read.gatewayCookies.isEmpty && read.fields == [["Host", "b"]])
    for field in KnownField.allCases where field != .host && field != .other {
      #expect(!head.fields.has(field) && !head.fields.isRepeated(field) && head.fields.index(of: field) == nil)
    }
  }

  @Test("Every beginning of a head is incomplete, never complete and never refused")
  func prefixes() {
    let samples = [
      "\r\nGET /a?b HTTP/1.1\r\nHost: a\r\nCookie: a=b; c=d\r\nX: \t y \r\n\r\n",
      "POST http://a/ HTTP/1.0\r\nHost: a\r\nContent-Length: 12\r\n\r\n",
    ]
    for sample in samples {
      let bytes = Array(sample.utf8)
      for count in 0..<bytes.count {
        #expect(readRequest(Array(bytes[..<count])).outcome == .incomplete, "\(count) of \(sample.debugDescription)")
      }
      #expect(readRequest(bytes).outcome == .complete)
    }
  }

  @Test("Targets, fields and heads beyond their limits are refused, at the limits they pass")
  func limits() {
    let tight = HeadLimits(headBytes: 100, fieldCount: 3, targetBytes: 10)
    let ten = "/123456789"
    #expect(readRequest("GET \(ten) HTTP/1.1\r\nHost: a\r\n\r\n", limits: tight).outcome == .complete)
    #expect(readRequest("GET \(ten)0 HTTP/1.1\r\nHost: a\r\n\r\n", limits: tight).violation == .targetTooLong)
    #expect(readRequest("GET \(ten)0", limits: tight).violation == .targetTooLong)
    let three = "GET / HTTP/1.1\r\nHost: a\r\nA: b\r\nA: b\r\n"
    #expect(readRequest(three + "\r\n", limits: tight).outcome == .complete)
    #expect(readRequest(three + "A: b\r\n\r\n", limits: tight).violation == .tooManyFields)
    let long = "GET / HTTP/1.1\r\nHost: a\r\nA: " + String(repeating: "x", count: 80)
    #expect(readRequest(long + "\r\n\r\n", limits: tight).violation == .headTooLarge)
    #expect(readRequest(long, limits: tight).violation == .headTooLarge)
    #expect(readRequest(String(repeating: "A", count: 33), limits: tight).violation == .method)
  }

  @Test("Bytes that are pipelined after a head do not count towards its size")
  func pipelined() {
    let tight = HeadLimits(headBytes: 64, fieldCount: 3, targetBytes: 10)
    let head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    let read = readRequest(String(repeating: head, count: 10), limits: tight)
    #expect(read.outcome == .complete && read.byteCount == head.utf8.count)
  }
}
