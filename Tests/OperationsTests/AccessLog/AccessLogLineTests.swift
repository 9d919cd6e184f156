import Foundation
import Testing

@testable import Operations

@Suite("The access log")
struct AccessLogLineTests {
  private func line(path: String = "/app/orders?code=secret#x", method: String = "GET") -> AccessLogLine {
    AccessLogLine(
      time: Timestamp(microseconds: 1_795_246_590_123_000), requestID: Array("r-1".utf8), method: Array(method.utf8),
      path: Array(path.utf8), status: 200, bytesIn: 512, bytesOut: 1_300, durationNanoseconds: 12_345_678,
      upstreamNanoseconds: 9_000_000, route: "signed-in", user: "u-9f", peer: "203.0.113.7")
  }

  private func render(_ line: AccessLogLine, _ format: LineFormat) -> String {
    var bytes: [UInt8] = []
    line.append(to: &bytes, as: format)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test("A request is one JSON object")
  func json() throws {
    let expected =
      #"{"time":"2026-11-21T07:36:30.123Z","kind":"access","request":"r-1","method":"GET","path":"/app/orders","#
      + #""version":"HTTP/1.1","status":200,"bytes_in":512,"bytes_out":1300,"duration":0.012345,"upstream":0.009000,"#
      + #""route":"signed-in","user":"u-9f","peer":"203.0.113.7"}"# + "\n"
    #expect(render(line(), .json) == expected)
    #expect(try JSONSerialization.jsonObject(with: Data(expected.utf8)) is [String: Any])
  }

  @Test("A request is one line of text")
  func text() {
    #expect(
      render(line(), .text)
        == "2026-11-21T07:36:30.123Z access request=r-1 method=GET path=/app/orders version=HTTP/1.1 status=200 "
        + "bytes_in=512 bytes_out=1300 duration=0.012345 upstream=0.009000 route=signed-in user=u-9f peer=203.0.113.7\n"
    )
  }

  @Test("The query is never told", arguments: [LineFormat.json, .text])
  func noQuery(format: LineFormat) {
    #expect(!render(line(), format).contains("secret"))
    #expect(!render(line(path: "/a?code=secret"), format).contains("code"))
    #expect(!render(line(path: "/a#id_token=secret"), format).contains("secret"))
  }

  @Test("No value can begin a line of its own", arguments: [LineFormat.json, .text])
  func noInjection(format: LineFormat) {
    var hostile = line(path: "/a\r\n2026-11-21T07:36:30.123Z access\u{2028}", method: "GET\n")
    hostile.peer = "\n1.2.3.4"
    hostile.user = "x\" ,\"user\":\"admin"
    let rendered = render(hostile, format)
    #expect(rendered.utf8.filter { $0 == 0x0A }.count == 1)
    #expect(rendered.utf8.last == 0x0A)
    #expect(!rendered.utf8.contains(0x0D))
    #expect(!rendered.contains("\u{2028}"))
    #expect(!rendered.contains(#""user":"admin"#))
  }

  @Test("Lines are appended to what is there, and what is not known is left out")
  func appends() {
    var bytes = Array("before\n".utf8)
    var line = line()
    line.user = nil
    line.upstreamNanoseconds = nil
    line.failure = "client_closed"
    line.status = -5
    line.append(to: &bytes, as: .text)
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.hasPrefix("before\n2026-"))
    #expect(!text.contains("user=") && !text.contains("upstream="))
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
