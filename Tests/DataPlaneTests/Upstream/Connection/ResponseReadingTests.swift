import HTTPWire
import Testing

@testable import DataPlane

@Suite("Reading the responses of an upstream")
struct ResponseReadingTests {
  private static let limits = HeadLimits(headBytes: 65_535, fieldCount: 100, targetBytes: 0)

  /// The key that is proposed for a head which is refused.
  private func key(_ lines: String, _ lenient: [UpstreamLenience] = [], proposes: Bool = true) -> String? {
    var settings = UpstreamSettings(address: .tcp(host: "127.0.0.1", port: 9, tls: false))
    settings.lenient = lenient
    let reading = ResponseReading(settings, limits: Self.limits, proposesLenience: proposes)
    let bytes = Array("HTTP/1.1 200 OK\r\n\(lines)\r\n\r\n".utf8)
    var head = ResponseHead()
    let parse = reading.parser.parse(bytes.span.bytes, into: &head)
    guard case .violation(let violation) = parse else {
      Issue.record("\(lines) was taken: \(parse)")
      return nil
    }
    return reading.lenientKey(for: violation, bytes.span.bytes)
  }

  @Test(
    "The key that a refused response needs is named",
    arguments: [
      ("Content-Length: 4\r\nContent-Length: 4", "duplicate-length"), ("A: b\nContent-Length: 4", "bare-lf"),
      ("A: b\u{1}", "control-bytes"), ("Transfer-Encoding: chunked\r\nContent-Length: 4", "duplicate-framing"),
      ("Transfer-Encoding: chunked, chunked", "duplicate-framing"),
      // One after the other.
      ("A: b\u{1}\r\nTransfer-Encoding: chunked\r\nContent-Length: 4", "control-bytes"),
      ("A: b\u{1}\nC: d", "control-bytes"),
    ])
  func named(_ lines: String, _ expected: String) {
    #expect(key(lines) == expected)
    #expect(key(lines, proposes: false) == nil)
  }

  @Test(
    "No key is named that would not help",
    arguments: [
      "Transfer-Encoding: identity", "Transfer-Encoding: gzip", "Transfer-Encoding: chunked, gzip",
      "Transfer-Encoding: gzip, chunked\r\nContent-Length: 4", "Transfer-Encoding: identity\r\nContent-Length: 4",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip, chunked\r\nContent-Length: 4",
      "Content-Length: 4, 5", "Content-Length: 4\r\nContent-Length: 5", "Content-Length: x", "Content-Length: +4",
    ])
  func notNamed(_ lines: String) {
    #expect(key(lines) == nil)
    #expect(key(lines, UpstreamLenience.allCases) == nil)
  }
}
