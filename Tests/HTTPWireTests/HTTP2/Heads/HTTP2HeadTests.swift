import NIOCore
import Testing

@testable import HTTPWire

// Cases: what a request becomes as an HTTP/1.1 head; what is malformed, pseudo-header fields above all; cookie crumbs,
// Host, extended CONNECT; limits.

@Suite("Heads of HTTP/2")
struct HTTP2HeadTests {
  private func head(_ fields: [(String, String)], end: Bool = true) -> String? {
    let rig = HTTP2Rig()
    rig.request(fields, end: end)
    return rig.heads.first
  }

  @Test("A request becomes one head of HTTP/1.1, with the authority as Host")
  func ordinary() {
    #expect(
      head(ordinaryFields + [("accept", "*/*"), ("x-a", "")])
        == "GET /a?b HTTP/1.1\r\nHost: app.example.com\r\naccept: */*\r\nx-a: \r\n\r\n")
  }

  @Test("Cookie crumbs are joined into one line before anything looks")
  func crumbs() {
    let text = head(ordinaryFields + [("cookie", "a=1"), ("x", "y"), ("cookie", "__Host-cordon=2"), ("cookie", "c=3")])
    #expect(text?.hasSuffix("x: y\r\nCookie: a=1; __Host-cordon=2; c=3\r\n\r\n") == true)
    #expect(readRequest(text ?? "").gatewayCookies.count == 1)
  }

  @Test("A body without a length is chunked for the application, one with a length is not")
  func framing() {
    #expect(head(ordinaryFields, end: false)?.contains("Transfer-Encoding: chunked\r\n") == true)
    let long = head(ordinaryFields + [("content-length", "3")], end: false)
    #expect(long?.contains("content-length: 3\r\n") == true)
    #expect(long?.contains("Transfer-Encoding") == false)
  }

  @Test("Host alone is the authority, and together with :authority it must be equal")
  func host() {
    let bare = ordinaryFields.filter { $0.0 != ":authority" }
    #expect(readRequest(head(bare + [("host", "app.example.com")]) ?? "").authority == "app.example.com")
    let both = head(ordinaryFields + [("host", "app.example.com")])
    #expect(both?.split(separator: "\r\n").filter { $0.lowercased().hasPrefix("host:") }.count == 1)
    #expect(head(ordinaryFields + [("host", "other.example.com")]) == nil)
  }

  @Test("An extended CONNECT for WebSocket becomes an upgrade with a key of the gateway, and with no other")
  func webSocket() {
    let fields = [
      (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"), (":path", "/chat"),
      (":authority", "app.example.com"), ("origin", "https://app.example.com"), ("sec-websocket-key", "theirs"),
    ]
    let text = head(fields, end: false) ?? ""
    let request = readRequest(text)
    #expect(request.wantsUpgrade)
    #expect(request.kind == .get)
    #expect(request.framing == .none)
    let keys = request.fields.filter { $0[0].lowercased() == "sec-websocket-key" }
    #expect(keys.count == 1)
    #expect(keys.first?[1].utf8.count == 24 && keys.first?[1].hasSuffix("==") == true)
    #expect(text != head(fields, end: false), "each request has a new key")
  }

  @Test("A tunnel has no length: an extended CONNECT that announces one is malformed", arguments: ["0", "5", "100000"])
  func tunnelWithLength(length: String) {
    let fields = [
      (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"), (":path", "/chat"),
      (":authority", "app.example.com"), ("origin", "https://app.example.com"), ("content-length", length),
    ]
    #expect(head(fields, end: false) == nil)
  }

  static let malformed: [[(String, String)]] = {
    let rest = ordinaryFields
    func without(_ name: String, _ value: String? = nil) -> [(String, String)] {
      rest.filter { $0.0 != name } + (value.map { [(name, $0)] } ?? [])
    }
    return [
      // Pseudo-header fields: missing, repeated, unknown, after others, of responses.
      without(":method"), without(":scheme"), without(":path"), rest + [(":path", "/b")], rest + [(":method", "PUT")],
      rest + [(":unknown", "x")], rest + [(":status", "200")], [("accept", "*/*")] + rest, rest + [(":authority", "b")],
      rest + [(":scheme", "https")], [(":status", "200")] + rest, [(":status", "200")], without(":authority", ""),
      [("cookie", "a=1")] + rest, [("content-length", "0")] + rest, without(":authority"), rest + [(":", "x")],
      rest + [(":path ", "/")], rest + [(":Path", "/")], [(":path", "")] + without(":path"),
      // CONNECT (RFC 9113, 8.5, RFC 8441, 4).
      rest + [(":protocol", "websocket")], without(":method", "CONNECT"), [(":method", "CONNECT")],
      [(":method", "CONNECT"), (":authority", "app.example.com:443"), (":scheme", "https")],
      [(":method", "CONNECT"), (":authority", "app.example.com:443"), (":path", "/")],
      without(":authority") + [(":protocol", "websocket"), ("host", "app.example.com")],
      without(":method", "CONNECT").filter { $0.0 != ":authority" } + [(":protocol", "websocket")],
      without(":method", "CONNECT") + [(":protocol", "websocket"), (":protocol", "websocket")],
      without(":method", "CONNECT") + [(":protocol", "")],
      // Their grammar.
      without(":path", ""), without(":path", "/ HTTP/1.1"), without(":path", "/#a"), without(":path", "a"),
      without(":path", "http://evil.example/"), without(":path", "*"),
      without(":path", "/\r\nX: y"), without(":method", "G ET"), without(":method", ""), without(":method", "GET\r\n"),
      without(":scheme", ""), without(":scheme", "ftp"), without(":scheme", "https://"),
      without(":authority", "u@app.example.com"), without(":authority", "app.example.com/"),
      without(":authority", "app.example.com\r\nX: y"), without(":authority", "a b"),
      // Fields of one connection, and others that mean something else in HTTP/1.1.
      rest + [("connection", "close")], rest + [("connection", "x-forwarded-user")], rest + [("upgrade", "h2c")],
      rest + [("transfer-encoding", "chunked")], rest + [("keep-alive", "1")], rest + [("proxy-connection", "a")],
      rest + [("te", "gzip")], rest + [("te", "trailers, deflate")], rest + [("te", "")],
      rest + [("host", "app.example.com"), ("host", "app.example.com")],
      rest + [("host", "evil.example")],
      // Names and values.
      rest + [("X-Upper", "a")], rest + [("x a", "b")], rest + [("x:a", "b")], rest + [("", "b")],
      rest + [("x", "a\nb")], rest + [("x", "a\rb")], rest + [("x", "a\0b")], rest + [("x", "\u{7F}")],
      rest + [("x", " \u{7F} ")], rest + [("x", "a\r\n ")], without(":path", " /"), without(":path", "/ "),
      without(":authority", "app.example.com "), without(":method", " GET"),
      rest + [("x", String(repeating: "a", count: 40) + "\r\nx-forwarded-user: root")],
      rest + [("cookie", "a=1\r\nx: y")], rest + [("host", "app.example.com\r\nx: y")],
      rest + [("x-y\r\nx-forwarded-user", "root")], rest + [("cOokie", "a=1")], rest + [("x\u{E9}", "a")],
      // Lengths.
      rest + [("content-length", "5")], rest + [("content-length", "0"), ("content-length", "0")],
      rest + [("content-length", "+0")], rest + [("content-length", "a")], rest + [("content-length", "-1")],
    ]
  }()

  @Test("A malformed request is a stream error, and is not reported as a request", arguments: malformed.indices)
  func refusals(_ index: Int) {
    let rig = HTTP2Rig()
    rig.request(Self.malformed[index])
    let told = rig.heads.filter { readRequest($0).outcome == .complete }
    #expect(told.isEmpty, "\(Self.malformed[index])")
    #expect(rig.refused.isEmpty)
    let frames = rig.frames()
    let isOver = frames.contains { $0.type == RawFrame.reset || $0.type == RawFrame.goAway }
    #expect(isOver || !rig.heads.isEmpty, "\(Self.malformed[index])")
    // The connection is as good as before.
    rig.request(ordinaryFields, stream: 3)
    #expect(rig.heads.last?.hasPrefix("GET /a?b ") == true, "\(Self.malformed[index])")
  }

  @Test(
    "White space around a value, which some clients send, is dropped as in HTTP/1.1",
    arguments: [(" a", "a"), ("a ", "a"), ("\t a b\t ", "a b"), (" ", ""), ("\t", "")])
  func whiteSpace(sent: String, kept: String) {
    let rig = HTTP2Rig()
    rig.request(ordinaryFields + [("x", sent), ("y", "z")])
    #expect(rig.heads.last?.hasSuffix("\r\nx: \(kept)\r\ny: z\r\n\r\n") == true, "\(rig.heads)")
  }

  @Test("CONNECT, and extended CONNECT for anything else, are answered")
  func connect() {
    let rig = HTTP2Rig()
    rig.request([(":method", "CONNECT"), (":authority", "app.example.com:443")], end: false)
    rig.request(
      [
        (":method", "CONNECT"), (":protocol", "connect-udp"), (":scheme", "https"), (":path", "/"),
        (":authority", "app.example.com"),
      ], stream: 3, end: false)
    #expect(rig.refused == [405, 501])
  }

  @Test("A head beyond a limit is answered 431, and the next request is as good as ever")
  func limits() {
    let rig = HTTP2Rig()
    rig.request(ordinaryFields + (0..<110).map { ("x-\($0)", "a") })
    rig.request(ordinaryFields + [("x", String(repeating: "a", count: 12_000))], stream: 3)
    rig.request(ordinaryFields, stream: 5)
    #expect(rig.refused == [431])
    #expect(rig.heads.count == 2)
    // What came before says which host and which kind of answer the client wants.
    let head = rig.refusedHeads.first ?? ""
    #expect(head.hasPrefix("GET /a?b HTTP/1.1\r\nHost: ") && head.contains("\r\nx-0: a\r\n"))
  }

  @Test("Fields that are only named again and again end the connection at the cap, however short their frame is")
  func headerBomb() {
    let rig = HTTP2Rig()
    // One field of 4,000 bytes goes into the table (RFC 7541, 6.2.1); each byte after it is the whole field again.
    let value = [UInt8](repeating: 0x61, count: 3_900)
    var length = 3_900 - 127
    var block: [UInt8] = section(ordinaryFields) + [0x40, 1, 0x78, 127]
    while length >= 128 {
      block.append(UInt8(length & 127 | 128))
      length >>= 7
    }
    block += [UInt8(length)] + value + [UInt8](repeating: 0x80 | 62, count: 10_000)
    rig.receive(
      RawFrame(type: RawFrame.headers, flags: RawFrame.endHeaders | RawFrame.endStream, stream: 1, payload: block))
    #expect(rig.heads.isEmpty)
    #expect(rig.goAwayCode() == HTTP2ErrorCode.enhanceYourCalm.rawValue)
    #expect(rig.session.isOver)
  }

  /// A section with a field of so many bytes that goes into the table, and is then named so many times again.
  private func repeating(fieldOf bytes: Int, times: Int) -> RawFrame {
    // RFC 7541, 6.2.1 and 6.1.
    let field = [0x40] + section([("x", String(repeating: "a", count: bytes - 1))]).dropFirst()
    return RawFrame(
      type: RawFrame.headers, flags: RawFrame.endHeaders | RawFrame.endStream, stream: 1,
      payload: section(ordinaryFields) + field + [UInt8](repeating: 0x80 | 62, count: times))
  }

  @Test("The bytes of a section are limited, however few fields they are", arguments: [(60, false), (70, true)])
  func sectionBytes(times: Int, isOver: Bool) {
    let rig = HTTP2Rig()
    rig.receive(repeating(fieldOf: 4_000, times: times))
    #expect(rig.heads.isEmpty)
    #expect(rig.goAwayCode() == (isOver ? HTTP2ErrorCode.enhanceYourCalm.rawValue : nil))
  }

  @Test("The fields of a section are limited, however short they are", arguments: [(1_900, false), (2_100, true)])
  func sectionFields(times: Int, isOver: Bool) {
    let rig = HTTP2Rig()
    rig.receive(repeating(fieldOf: 2, times: times))
    #expect(rig.heads.isEmpty)
    #expect(rig.goAwayCode() == (isOver ? HTTP2ErrorCode.enhanceYourCalm.rawValue : nil))
  }
}
