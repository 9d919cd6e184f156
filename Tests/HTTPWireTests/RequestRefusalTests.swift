import Testing

@testable import HTTPWire

/// A request that is refused, and why.
struct Refusal: CustomTestStringConvertible, Sendable {
  let text: String
  let violation: HeadViolation

  init(_ text: String, _ violation: HeadViolation) {
    self.text = text
    self.violation = violation
  }

  /// A refused set of fields after an ordinary request line.
  init(fields: String, _ violation: HeadViolation) {
    self.init("POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n", violation)
  }

  var testDescription: String { text.prefix(120).debugDescription }
}

// Cases: the HTTP/1.1 paragraph of what is thrown at a gateway: request line, line ends, names, Host, framing.

@Suite("Requests that are refused")
struct RequestRefusalTests {
  static let requestLines = [
    Refusal("GET /\r\n\r\n", .target), Refusal("GET / HTTP/1.1\nHost: a\r\n\r\n", .requestLine),
    Refusal("GET / HTTP/1.32\r\nHost: a\r\n\r\n", .requestLine), Refusal("GET / HTTP/1.2\r\nHost: a\r\n\r\n", .version),
    Refusal("GET / HTTP/2.0\r\nHost: a\r\n\r\n", .version), Refusal("GET / HTTP/0.9\r\nHost: a\r\n\r\n", .version),
    Refusal("GET / http/1.1\r\nHost: a\r\n\r\n", .requestLine),
    Refusal("GET / HTTP/1.1 \r\nHost: a\r\n\r\n", .requestLine),
    Refusal("GET / HTTP/11\r\n\r\nHost: a\r\n\r\n", .requestLine),
    Refusal("GET / HTTP/+1.1\r\nHost: a\r\n\r\n", .requestLine),
    Refusal("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", .target), Refusal("GET /  HTTP/1.1\r\nHost: a\r\n\r\n", .requestLine),
    Refusal("GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", .requestLine),
    Refusal(" GET / HTTP/1.1\r\nHost: a\r\n\r\n", .requestLine),
    Refusal("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", .requestLine),
    Refusal("GET /\t HTTP/1.1\r\nHost: a\r\n\r\n", .target),
    Refusal("GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", .target),
    Refusal("GET /#f HTTP/1.1\r\nHost: a\r\n\r\n", .target), Refusal("GET /?a#f HTTP/1.1\r\nHost: a\r\n\r\n", .target),
    Refusal("GET a HTTP/1.1\r\nHost: a\r\n\r\n", .target), Refusal("GET ?a HTTP/1.1\r\nHost: a\r\n\r\n", .target),
    Refusal("GET http:// HTTP/1.1\r\nHost: a\r\n\r\n", .target),
    Refusal("GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n", .target),
    Refusal("GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", .target),
    Refusal("GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n", .target),
    Refusal("GET http://a%2f/ HTTP/1.1\r\nHost: a\r\n\r\n", .target),
    Refusal("GET http:a/ HTTP/1.1\r\nHost: a\r\n\r\n", .target),
    Refusal("G@T / HTTP/1.1\r\nHost: a\r\n\r\n", .requestLine),
    Refusal("G\0T / HTTP/1.1\r\nHost: a\r\n\r\n", .requestLine),
    Refusal("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", .requestLine),
    Refusal("\rGET / HTTP/1.1\r\nHost: a\r\n\r\n", .requestLine),
    Refusal("TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", .traceMethod),
    Refusal("CONNECT /a HTTP/1.1\r\nHost: a\r\n\r\n", .connectMethod),
    Refusal("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", .connectMethod),
    Refusal("delete / HTTP/1.1\r\nHost: a\r\n\r\n", .methodCase),
    Refusal("Get / HTTP/1.1\r\nHost: a\r\n\r\n", .methodCase),
    Refusal("PURGe / HTTP/1.1\r\nHost: a\r\n\r\n", .methodCase),
    Refusal("connect a:443 HTTP/1.1\r\nHost: a\r\n\r\n", .methodCase),
    Refusal(String(repeating: "M", count: 33) + " / HTTP/1.1\r\nHost: a\r\n\r\n", .method),
    Refusal("\u{16}\u{03}\u{01}\u{02}", .requestLine),
  ]

  static let fieldLines = [
    Refusal(fields: "A: b\nC: d", .lineEnding), Refusal(fields: "A: b\rC: d", .lineEnding),
    Refusal(fields: "A: b\r\rC: d", .lineEnding), Refusal(fields: "A: b\r\n folded", .obsoleteFolding),
    Refusal(fields: "A: b\r\n\tfolded", .obsoleteFolding), Refusal(fields: "A : b", .spaceBeforeColon),
    Refusal(fields: "A\t: b", .spaceBeforeColon), Refusal(fields: ": b", .fieldName), Refusal(fields: "A", .lineEnding),
    Refusal(fields: "A\0: b", .fieldName), Refusal(fields: "A: b\0c", .fieldValue),
    Refusal(fields: "A: b\u{1}c", .fieldValue), Refusal(fields: "A: \u{7f}", .fieldValue),
    Refusal(fields: "A\u{e9}: b", .fieldName), Refusal(fields: "A(b): c", .fieldName),
    Refusal(fields: "\"A\": c", .fieldName), Refusal(fields: "A: b\r\n\rC: d", .lineEnding),
    Refusal(fields: "A: b\r\n\nC: d", .lineEnding), Refusal("GET / HTTP/1.1\r\n Host: a\r\n\r\n", .obsoleteFolding),
    Refusal("GET / HTTP/1.1\r\nHost: a\n\n", .lineEnding),
    Refusal(fields: "Connection: close\(String(repeating: ", x", count: 65))", .tooManyNominations),
  ]

  static let hosts =
    [
      Refusal("GET / HTTP/1.1\r\n\r\n", .hostMissing),
      Refusal("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", .hostRepeated),
      Refusal("GET / HTTP/1.0\r\nhost: a\r\nHOST: b\r\n\r\n", .hostRepeated),
      Refusal("GET http://a/ HTTP/1.1\r\n\r\n", .hostMissing),
      Refusal("GET http://a/ HTTP/1.1\r\nHost: u@b\r\n\r\n", .hostMalformed),
    ]
    + [
      "", "a b", "a,b", "a/b", "u@a", "a:", "a:x", "a:+80", "a:65536", "a:123456", "a:80:80", ":80", "[::1", "::1",
      "[]", "[:]",
      "[::1]x", "[::1]:", "[fe80::1%25eth0]", "[g::]", "a\u{e9}", "a?b", "a#b", "a\\b", "a%41", "a;b", "<a>", "a'b",
      String(repeating: "a", count: 263),
    ].map { Refusal("GET / HTTP/1.1\r\nHost: \($0)\r\n\r\n", .hostMalformed) }

  static let framings =
    [
      Refusal(fields: "Content-Length: 5\r\nTransfer-Encoding: chunked", .lengthAndEncoding),
      Refusal(fields: "Transfer-Encoding: chunked\r\nContent-Length: 5", .lengthAndEncoding),
      Refusal(fields: "Transfer-Encoding: chunked\r\nContent-Length:", .lengthAndEncoding),
      Refusal(fields: "Content-Length: 5\r\nContent-Length: 5", .contentLength),
      Refusal(fields: "Content-Length: 5\r\nCONTENT-LENGTH: 6", .contentLength),
      Refusal("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", .encodingVersion),
      Refusal(fields: "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", .encodingNotChunked),
      Refusal(fields: "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", .transferEncoding),
      Refusal(fields: "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip", .encodingNotChunked),
      Refusal(fields: "Expect: 200-ok\r\nContent-Length: 1", .expectation),
      Refusal(fields: "Expect: 100-continue, x\r\nContent-Length: 1", .expectation),
      Refusal(fields: "Expect:\r\nContent-Length: 1", .expectation),
      Refusal(fields: "Expect: 100-continue\r\nExpect: 100-continue", .expectation),
    ]
    + [
      "5\t", "5 \t ", "5, 5", "5,5", "+5", "-0", "-1", "0x10", "5 5", "", "9223372036854775808", "18446744073709551621",
      "1000000000000000000", "5;", "5.0", "1e3", "\u{ff15}", "5\u{0b}", "０",
    ].map { Refusal(fields: "Content-Length: \($0)", $0.contains("\u{0b}") ? .fieldValue : .contentLength) }
    + [
      "", "gzip", "chunked, gzip", "chunked, chunked", "identity", "xchunked", "chunked;q=1", "\"chunked\"", "chunkedx",
      "chunked gzip", "ch\u{75}nkedé",
    ].map { Refusal(fields: "Transfer-Encoding: \($0)", .encodingNotChunked) }
    + ["chunked\t", "gzip, chunked", "chunked,"].map { Refusal(fields: "Transfer-Encoding: \($0)", .transferEncoding) }

  @Test("Malformed request lines are refused", arguments: requestLines)
  func requestLine(_ refusal: Refusal) { #expect(readRequest(refusal.text).violation == refusal.violation) }

  @Test("Malformed field lines are refused", arguments: fieldLines)
  func fieldLine(_ refusal: Refusal) { #expect(readRequest(refusal.text).violation == refusal.violation) }

  @Test("A missing, repeated or malformed Host is refused", arguments: hosts)
  func host(_ refusal: Refusal) { #expect(readRequest(refusal.text).violation == refusal.violation) }

  @Test("A body framed in any but one plain way is refused", arguments: framings)
  func framing(_ refusal: Refusal) { #expect(readRequest(refusal.text).violation == refusal.violation) }

  @Test(
    "However a refused head is cut into pieces, it is never taken for a whole one",
    arguments: requestLines + fieldLines + hosts + framings)
  func pieces(_ refusal: Refusal) {
    let bytes = Array(refusal.text.utf8)
    for count in 0...bytes.count {
      #expect(readRequest(Array(bytes[..<count])).outcome != .complete, "\(count)")
    }
  }

  @Test("The version is judged alike, however the request line is cut")
  func versionInPieces() {
    let bytes = Array("GET / HTTP/2.0\r\nHost: a\r\n\r\n".utf8)
    for count in 0..<16 { #expect(readRequest(Array(bytes[..<count])).outcome == .incomplete) }
    #expect(readRequest(Array(bytes[..<16])).violation == .version)
  }

  @Test(
    "Hosts of letters, digits, dots, hyphens, underscores and bracketed IPv6 are taken",
    arguments: [
      "a", "A.b-c_d.example", "127.0.0.1", "[::1]", "[2001:DB8::1]:443", "[::ffff:1.2.3.4]", "a:1", "a:65535", "a:080",
      "a.",
      String(repeating: "a", count: 255),
    ])
  func goodHosts(_ host: String) {
    #expect(readRequest("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n").authority == host)
  }

  @Test("Plain lengths and chunked, in any case, frame a body")
  func goodFramings() {
    func framing(_ field: String) -> RequestFraming {
      readRequest("POST / HTTP/1.1\r\nHost: a\r\n\(field)\r\n\r\n").framing
    }
    #expect(framing("Content-Length: 0") == .none)
    #expect(framing("Content-Length: 000") == .none)
    #expect(framing("content-length:\t17 ") == .length(17))
    #expect(framing("Content-Length: 999999999999999999") == .length(999_999_999_999_999_999))
    #expect(framing("Transfer-Encoding: Chunked") == .chunked)
  }

  @Test("Each violation has the status that its RFC gives it")
  func statuses() {
    let special: [HeadViolation: Int] = [
      .version: 505, .connectMethod: 405, .traceMethod: 405, .targetTooLong: 414, .tooManyFields: 431,
      .tooManyNominations: 431, .headTooLarge: 431, .transferEncoding: 501, .methodCase: 501,
      .expectation: 417,
    ]
    for violation in HeadViolation.allCases { #expect(violation.status == special[violation] ?? 400) }
  }
}
