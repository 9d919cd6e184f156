import RandomTesting
import Testing

@testable import HTTPWire

// Response heads with mistakes that a setting allows (ResponseHeadRepair): what comes out the strict reader takes.

@Suite("Repaired response heads")
struct ResponseRepairTests {
  private func repair(_ text: String, _ allowed: ResponseLenience, limit: Int = 65_535) -> ResponseHeadRepair.Outcome {
    let bytes = Array(text.utf8)
    return ResponseHeadRepair.repair(bytes.span.bytes, allowed, limit: limit)
  }

  private func head(_ text: String, from original: String) -> ResponseHeadRepair.Outcome {
    .head(Array(text.utf8), count: original.utf8.count)
  }

  private static let all: ResponseLenience = [
    .bareLF, .duplicateLength, .statusRange, .controlBytes, .duplicateFraming,
  ]

  @Test("Lines that end with LF alone end with CR LF, and what follows the head stays")
  func bareLF() {
    let text = "HTTP/1.1 200 OK\nA: b\r\nC: d\n\n"
    let right = "HTTP/1.1 200 OK\r\nA: b\r\nC: d\r\n\r\n"
    #expect(repair(text + "body\n\n", .bareLF) == head(right, from: text))
    #expect(repair(text, [.duplicateLength, .controlBytes]) == .none)
    for count in 0..<text.utf8.count {
      #expect(repair(String(decoding: text.utf8.prefix(count), as: UTF8.self), .bareLF) == .incomplete)
    }
  }

  @Test("A length that is repeated is written once; another length stays, to be refused")
  func lengths() {
    let text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: b\r\ncontent-length:\t5 \r\n\r\n"
    #expect(
      repair(text, .duplicateLength) == head("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: b\r\n\r\n", from: text))
    let other = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"
    #expect(repair(other, .duplicateLength) == head(other, from: other))
  }

  @Test(
    "A length that is repeated in a list is written once, also beside other lines; any other list stays, to be refused",
    arguments: [
      ("Content-Length: 5, 5", "Content-Length: 5"), ("content-length:5,5\t, 5 ", "content-length:5"),
      ("Content-Length: 5, 5\r\nContent-Length: 5", "Content-Length: 5"),
      ("Content-Length: 5\r\nContent-Length: 5,5", "Content-Length: 5"),
      ("Content-Length: 5, 6", nil), ("Content-Length: 5,", nil), ("Content-Length: ,5", nil),
      ("Content-Length: 5, 05", nil),
      ("Content-Length: 5, 5\r\nContent-Length: 6, 6", "Content-Length: 5\r\nContent-Length: 6"),
      ("Content-Length: 5 5", nil), ("Content-Length: 5\t", nil), ("Content-Length: +5, +5", "Content-Length: +5"),
    ] as [(String, String?)])
  func lengthList(_ lines: String, _ repaired: String?) {
    let text = "HTTP/1.1 200 OK\r\n\(lines)\r\nA: b\r\n\r\n"
    let expected = "HTTP/1.1 200 OK\r\n\(repaired ?? lines)\r\nA: b\r\n\r\n"
    #expect(repair(text, .duplicateLength) == head(expected, from: text))
    #expect(repair(text, []) == head(text, from: text))
  }

  @Test(
    "Chunked is announced once, without a length, and for the last response of the connection",
    arguments: [
      "Content-Length: 5\r\nTransfer-Encoding: chunked",
      "Transfer-Encoding: chunked\r\ncontent-length: 5\r\nContent-Length: x",
      "Transfer-Encoding: chunked\r\ntransfer-encoding:\tChunked ",
      "Transfer-Encoding: chunked, chunked\r\nContent-Length: 5", "Transfer-Encoding: chunked,chunked ",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    ])
  func duplicateFraming(_ lines: String) {
    let text = "HTTP/1.1 200 OK\r\n\(lines)\r\nA: b\r\n\r\n"
    let expected = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: b\r\nConnection: close\r\n\r\n"
    #expect(repair(text, .duplicateFraming) == head(expected, from: text))
    #expect(repair(text, []) == head(text, from: text))
    #expect(repair(expected, .duplicateFraming) == head(expected, from: expected))
  }

  @Test(
    "Other codings, and a length in place of the status line, stay to be refused",
    arguments: [
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\nContent-Length: 5\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\n",
      "Content-Length: 5\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
    ])
  func otherFraming(_ text: String) {
    guard case .head(let head, _) = repair(text, Self.all) else {
      Issue.record("no whole head")
      return
    }
    var response = ResponseHead()
    let parser = ResponseHeadParser(limits: HeadLimits(headBytes: 65_535, fieldCount: 100, targetBytes: 8_192))
    let parse = parser.parse(head.span.bytes, into: &response)
    guard case .violation = parse else {
      Issue.record("\(text) was taken: \(parse)")
      return
    }
  }

  @Test("Control characters become spaces; a lone CR is never taken")
  func controls() {
    let text = "HTTP/1.1 200 OK\r\nA: b\u{1}c\0d\u{7f}e\tf\r\n\r\n"
    #expect(repair(text, .controlBytes) == head("HTTP/1.1 200 OK\r\nA: b c d e\tf\r\n\r\n", from: text))
    #expect(repair(text, [.bareLF, .duplicateLength, .statusRange]) == .none)
    #expect(repair("HTTP/1.1 200 OK\r\nA: b\rC: d\r\n\r\n", Self.all) == .none)
  }

  @Test("A head beyond the limit, and one that begins with an empty line, are not heads")
  func limits() {
    #expect(repair("HTTP/1.1 200 OK\nA: \(String(repeating: "x", count: 100))\n\n", Self.all, limit: 50) == .none)
    #expect(repair(String(repeating: "x", count: 51), Self.all, limit: 50) == .none)
    #expect(repair("\nHTTP/1.1 200 OK\n\n", Self.all) == .none)
  }

  @Test("A setting is proposed that could help, unless it is allowed already and did not")
  func proposals() {
    let proposals: [(HeadViolation, ResponseLenience, String)] = [
      (.lineEnding, .bareLF, "bare-lf"), (.contentLength, .duplicateLength, "duplicate-length"),
      (.statusRange, .statusRange, "status-range"), (.fieldValue, .controlBytes, "control-bytes"),
      (.lengthAndEncoding, .duplicateFraming, "duplicate-framing"),
      (.encodingNotChunked, .duplicateFraming, "duplicate-framing"),
    ]
    for (violation, lenience, key) in proposals {
      #expect(violation.lenientKey(beyond: []) == key)
      #expect(violation.lenientKey(beyond: Self.all.subtracting(lenience)) == key)
      #expect(violation.lenientKey(beyond: lenience) == nil)
    }
    #expect(HeadViolation.obsoleteFolding.lenientKey(beyond: []) == nil)
  }

  @Test("A repaired response head has no byte that the strict reader would refuse")
  func clean() {
    var generator = SeededNumbers(seed: 19)
    var repaired = 0
    let parts = ["HTTP/1.1 200 OK", "\n", "\r\n", "\r", "A: b", "Content-Length: 5", "\u{1}", "\0", " ", ":", "\n\n"]
    for _ in 0..<20_000 {
      let text = (0..<Int.random(in: 1...12, using: &generator)).map { _ in parts.randomElement(using: &generator)! }
        .joined()
      guard case .head(let head, let count) = repair(text, Self.all) else { continue }
      repaired += 1
      #expect(count <= text.utf8.count)
      let lines = String(decoding: head, as: UTF8.self).components(by: "\r\n")
      #expect(lines.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 } }, "\(head)")
      #expect(head.suffix(4) == [13, 10, 13, 10])
    }
    #expect(repaired > 100)
  }
}

extension String {
  fileprivate func components(by separator: String) -> [String] {
    var (lines, line): ([String], [UInt8]) = ([], [])
    for byte in utf8 {
      line.append(byte)
      if line.suffix(2) == [13, 10] {
        lines.append(String(decoding: line.dropLast(2), as: UTF8.self))
        line = []
      }
    }
    return lines + [String(decoding: line, as: UTF8.self)]
  }
}
