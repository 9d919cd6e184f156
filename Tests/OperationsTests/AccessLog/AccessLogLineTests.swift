import Foundation
import Testing

@testable import Operations

@Suite("The access log")
struct AccessLogLineTests {
  private func line() -> AccessLogLine {
    AccessLogLine(
      time: Timestamp(microseconds: 1_795_246_590_123_000), status: 200, bytesIn: 512, bytesOut: 1_300,
      durationNanoseconds: 12_345_678, upstreamNanoseconds: 9_000_000, route: "signed-in", user: 0x9F,
      peer: "203.0.113.7")
  }

  private func render(
    _ line: AccessLogLine, _ format: LineFormat, request: String = "GET /app/orders?code=secret#x"
  ) -> String {
    var buffer = LogBuffer()
    line.append(request: Array(request.utf8).span, requestID: Array("r-1".utf8).span, to: &buffer, as: format)
    return buffer.text
  }

  @Test("A request is one JSON object")
  func json() throws {
    let expected =
      #"{"time":"2026-11-21T07:36:30.123Z","kind":"access","request":"r-1","method":"GET","path":"/app/orders","#
      + #""version":"HTTP/1.1","status":200,"bytes_in":512,"bytes_out":1300,"duration":0.012345,"upstream":0.009000,"#
      + #""route":"signed-in","user":"000000000000009f","peer":"203.0.113.7"}"# + "\n"
    #expect(render(line(), .json) == expected)
    #expect(try JSONSerialization.jsonObject(with: Data(expected.utf8)) is [String: Any])
  }

  @Test("A request is one line of text")
  func text() {
    #expect(
      render(line(), .text)
        == "2026-11-21T07:36:30.123Z access request=r-1 method=GET path=/app/orders version=HTTP/1.1 status=200 "
        + "bytes_in=512 bytes_out=1300 duration=0.012345 upstream=0.009000 route=signed-in user=000000000000009f peer=203.0.113.7\n"
    )
  }

  @Test("A line of the Combined Log Format is what web statistics read, without queries and on one line")
  func combined() {
    func render(_ line: AccessLogLine, _ request: String, hidden: String = "") -> String {
      var buffer = LogBuffer()
      line.appendCombined(request: Array(request.utf8).span, hidden: Array(hidden.utf8), to: &buffer)
      return buffer.text
    }
    #expect(
      render(line(), "GET /app/orders?code=secret\0app.example.com\0Mozilla/5.0 (X)\0https://a.example/b?c=secret\0")
        == "203.0.113.7 - 000000000000009f [21/Nov/2026:07:36:30 +0000] \"GET /app/orders HTTP/1.1\" 200 1300 "
        + "\"https://a.example/b\" \"Mozilla/5.0 (X)\"\n")
    var nobody = line()
    nobody.user = nil
    nobody.bytesOut = 0
    #expect(
      render(nobody, "GET /i/secret\0\0a\"b\\c\u{7F}\u{E9}\0\0", hidden: "/i/")
        == "203.0.113.7 - - [21/Nov/2026:07:36:30 +0000] \"GET /i/ HTTP/1.1\" 200 - \"-\" "
        + "\"a\\\"b\\\\c\\x7f\\xc3\\xa9\"\n")
    #expect(render(nobody, "").hasSuffix("\"- - HTTP/1.1\" 200 - \"-\" \"-\"\n"), "no head came")
  }

  @Test("A line has the fields that are asked for, in their order, and no query of the referer")
  func fields() {
    var line = line()
    line.upstreamAddress = "http://127.0.0.1:3000"
    var buffer = LogBuffer()
    let request = "GET /a?x\0app.example.com\0Mozilla/5.0 \"x\"\0https://app.example.com/b?code=secret\0abc"
    line.append(
      request: Array(request.utf8).span, requestID: Array("r-1".utf8).span,
      fields: [.userAgent, .host, .referer, .trace, .gateway, .upstreamAddress, .path, .method], to: &buffer, as: .json)
    #expect(
      buffer.text
        == #"{"time":"2026-11-21T07:36:30.123Z","kind":"access","user_agent":"Mozilla/5.0 \"x\"","#
        + #""host":"app.example.com","referer":"https://app.example.com/b","trace":"abc","gateway":0.003345,"#
        + #""upstream_address":"http://127.0.0.1:3000","path":"/a","method":"GET"}"# + "\n")
    var empty = LogBuffer()
    line.append(
      request: Array("GET /a\0\0\0".utf8).span, requestID: Array("r-1".utf8).span,
      fields: [.host, .userAgent, .referer, .status], to: &empty, as: .text)
    #expect(empty.text == "2026-11-21T07:36:30.123Z access status=200\n", "what is not there is left out")
  }

  @Test("The query is never logged", arguments: [LineFormat.json, .text])
  func noQuery(format: LineFormat) {
    #expect(!render(line(), format).contains("secret"))
    #expect(!render(line(), format, request: "GET /a?code=secret").contains("code"))
    #expect(!render(line(), format, request: "GET /a#id_token=secret").contains("secret"))
  }

  @Test("The rest of a hidden path is never logged, neither of the target nor of the referer")
  func hidden() {
    func path(_ request: String, hidden: String = "/.auth/invite/") -> String {
      var buffer = LogBuffer()
      line().append(
        request: Array(request.utf8).span, requestID: Array("r-1".utf8).span, fields: [.path, .referer],
        hidden: Array(hidden.utf8), to: &buffer, as: .text)
      return buffer.text.replacingOccurrences(of: "2026-11-21T07:36:30.123Z access", with: "")
    }
    #expect(path("GET /.auth/invite/SECRET") == " path=/.auth/invite/\n")
    #expect(path("POST /.auth/invite/SECRET/more?x") == " path=/.auth/invite/\n")
    #expect(path("GET /.auth/invite/") == " path=/.auth/invite/\n")
    #expect(path("GET /.auth/invite") == " path=/.auth/invite\n")
    #expect(path("GET /.auth/invites/x") == " path=/.auth/invites/x\n")
    #expect(path("GET /app/.auth/invite/x") == " path=/app/.auth/invite/x\n", "the application's own")
    #expect(path("GET /.auth/invite/SECRET", hidden: "") == " path=/.auth/invite/SECRET\n", "nothing is hidden")
    #expect(
      path("GET /b\0\0\0https://a.example/.auth/invite/SECRET?x")
        == " path=/b referer=https://a.example/.auth/invite/\n")
  }

  @Test("No value can begin a line of its own", arguments: [LineFormat.json, .text])
  func noInjection(format: LineFormat) {
    var hostile = line()
    hostile.peer = "\n1.2.3.4\" ,\"user\":\"admin"
    let rendered = render(
      hostile, format, request: "GET\n /a\r\n2026-11-21T07:36:30.123Z access\u{2028}")
    #expect(rendered.utf8.filter { $0 == 0x0A }.count == 1)
    #expect(rendered.utf8.last == 0x0A)
    #expect(!rendered.utf8.contains(0x0D))
    #expect(!rendered.contains("\u{2028}"))
    #expect(!rendered.contains(#""user":"admin"#))
  }

  @Test("Lines are appended to what is there, and what is not known is left out")
  func appends() {
    var buffer = LogBuffer()
    buffer.append("before\n")
    var line = line()
    line.user = nil
    line.upstreamNanoseconds = nil
    line.failure = "client_closed"
    line.status = -5
    let unknown: [UInt8] = []
    line.append(request: Array("GET".utf8).span, requestID: unknown.span, to: &buffer, as: .text)
    let text = buffer.text
    #expect(text.hasPrefix("before\n2026-"))
    #expect(!text.contains("user=") && !text.contains("upstream="))
    #expect(text.contains("request=\"\" method=GET path=\"\" "))
    #expect(text.contains("status=0 ") && text.hasSuffix("failure=client_closed\n"))
  }

  @Test(
    "Durations are seconds with six digits",
    arguments: [(0, "0.000000"), (999, "0.000000"), (61_000_001_000, "61.000001")] as [(UInt64, String)])
  func durations(nanoseconds: UInt64, expected: String) {
    var line = line()
    line.durationNanoseconds = nanoseconds
    #expect(render(line, .json).contains("\"duration\":\(expected),"))
  }
}

extension LogBuffer {
  /// Its content, as text.
  var text: String { withBytes { String(decoding: $0.withUnsafeBufferPointer { Array($0) }, as: UTF8.self) } }
}
