import NIOCore
import Testing

@testable import HTTPWire

// Cases: whole bodies at every split, attacks on sizes, extensions, line ends and trailers, limits, other framings.

@Suite("Bodies and chunks")
struct ChunkTests {
  struct Sample: Sendable {
    let text: String
    let content: String
    let trailers: String
    let rest: String

    init(_ text: String, _ content: String, trailers: String = "", rest: String = "") {
      self.text = text
      self.content = content
      self.trailers = trailers
      self.rest = rest
    }
  }

  static let samples = [
    Sample("0\r\n\r\n", ""), Sample("5\r\nhello\r\n0\r\n\r\n", "hello"),
    Sample("1\r\n\n\r\n2\r\n\r\n\r\n000\r\n\r\n", "\n\r\n"),
    Sample("a\r\n0123456789\r\n0B\r\n01234567890\r\n0\r\n\r\nGET /", "012345678901234567890", rest: "GET /"),
    Sample("5;a=b\r\nhello\r\n0;c=\"d;e\"\r\n\r\n", "hello"),
    Sample("5;a;b=c;d=\" \\\" \t~\";e\r\nhello\r\n0\r\n\r\n", "hello"),
    Sample("3\r\nabc\r\n0\r\nX-Sum: 1\r\nY:\r\n\r\nrest", "abc", trailers: "X-Sum: 1\r\nY:\r\n", rest: "rest"),
    Sample("0000000000000005\r\nhello\r\n0000000000000000\r\n\r\n", "hello"),
  ]

  @Test("A chunked body is the same whole, byte by byte, and cut at every place", arguments: samples)
  func splits(_ sample: Sample) {
    let bytes = Array(sample.text.utf8)
    var expected = DecodedBody()
    expected.content = Array(sample.content.utf8)
    expected.trailers = Array(sample.trailers.utf8)
    expected.rest = Array(sample.rest.utf8)
    #expect(decode([bytes]) == expected)
    #expect(decode(bytes.map { [$0] }) == expected)
    for place in 0...bytes.count {
      #expect(decode([Array(bytes[..<place]), Array(bytes[place...])]) == expected, "\(place)")
    }
  }

  @Test(
    "White space after a chunk size is skipped in a response, and refused in a request",
    arguments: ["5 \r\nhello\r\n0\r\n\r\n", "5\t \r\nhello\r\n0 \r\n\r\n", "5 ; a = b\r\nhello\r\n0\r\n\r\n"])
  func paddedSize(_ text: String) {
    let limits = ChunkLimits(applicationHeads: HeadLimits(headBytes: 1_000, fieldCount: 10, targetBytes: 0))
    var (content, isWhole): ([UInt8], Bool) = ([], false)
    var decoder = BodyDecoder(BodyFraming.chunked, limits: limits)
    for byte in Array(text.utf8) {
      var buffer = ByteBuffer(bytes: [byte])
      loop: while true {
        switch decoder.next(&buffer) {
        case .content(let count): content += buffer.readBytes(length: count) ?? []
        case .end:
          isWhole = true
          break loop
        case .incomplete: break loop
        case .violation(let violation):
          Issue.record("\(violation)")
          break loop
        }
      }
    }
    #expect(content == Array("hello".utf8) && isWhole)
    #expect(decode([Array(text.utf8)]).violation == .size)
  }

  @Test("A body that has not ended is incomplete, wherever it stops", arguments: samples)
  func beginnings(_ sample: Sample) {
    let bytes = Array(sample.text.utf8)
    for count in 0..<bytes.count - sample.rest.utf8.count {
      let decoded = decode([Array(bytes[..<count])])
      #expect(!decoded.isComplete && decoded.violation == nil, "\(count)")
    }
  }

  @Test(
    "Malformed chunks are refused, whole and byte by byte",
    arguments: [
      ("+5\r\nhello\r\n", ChunkViolation.size), ("-5\r\n", .size), ("0x5\r\nhello\r\n", .size), ("5_0\r\n", .size),
      (" 5\r\nhello\r\n", .size), ("5 \r\nhello\r\n", .size), ("5 ;a\r\n", .size), ("\r\n", .size), (";a\r\n", .size),
      ("g\r\n", .size), ("5,5\r\n", .size), ("\u{ff15}\r\n", .size), ("5\nhello\n", .size), ("5\0\r\n", .size),
      ("0\t\r\n\r\n", .size), ("@\r\n", .size), ("`\r\n", .size), ("/\r\n", .size), (":\r\n", .size),
      ("ffffffffffffffff\r\n", .sizeTooLarge), ("8000000000000000\r\n", .sizeTooLarge),
      ("10000000000000005\r\nhello\r\n", .sizeTooLarge), ("00000000000000005\r\nhello\r\n", .sizeTooLarge),
      ("800000000000000\r\n", .sizeTooLarge),
      ("5\r\nhello0\r\n\r\n", .lineEnding), ("5\r\nhello\n0\r\n\r\n", .lineEnding),
      ("5\r\nhello\r0\r\n\r\n", .lineEnding),
      ("5\r\nhelloworld\r\n0\r\n\r\n", .lineEnding), ("5\rhello\r\n", .lineEnding), ("5;a\nhello\r\n", .lineEnding),
      ("5;a\rhello\r\n", .lineEnding), ("5;a\0\r\n", .lineEnding), ("5;\u{7f}\r\n", .lineEnding),
      ("5;a\u{e9}\r\n", .extensionMalformed), ("5;\r\n", .extensionMalformed), ("5;=b\r\n", .extensionMalformed),
      ("5;a=\r\n", .extensionMalformed), ("5;a b\r\n", .extensionMalformed), ("5; a\r\n", .extensionMalformed),
      ("5;a=\"b\r\n", .lineEnding), ("5;a=\"b\"c\r\n", .extensionMalformed), ("5;a=b\"c\"\r\n", .extensionMalformed),
      ("5;a;;b\r\n", .extensionMalformed), ("5;a=\"\\\r\n", .lineEnding), ("5;a=b=c\r\n", .extensionMalformed),
      ("0\r\n\n", .lineEnding), ("0\r\nA: b\n\r\n", .lineEnding), ("0\r\n bad: b\r\n\r\n", .trailer),
      ("0\r\nA : b\r\n\r\n", .trailer), ("0\r\nA\r\n\r\n", .trailer), ("0\r\nA: b\rc\r\n\r\n", .trailer),
      ("0\r\n: b\r\n\r\n", .trailer), ("0\r\nA: b\r\n fold\r\n\r\n", .trailer), ("0\r\nA: \0\r\n\r\n", .trailer),
    ])
  func malformed(_ text: String, _ violation: ChunkViolation) {
    let bytes = Array(text.utf8)
    #expect(decode([bytes]).violation == violation)
    #expect(decode(bytes.map { [$0] }).violation == violation)
  }

  @Test("Zeros without end are refused at the seventeenth")
  func zeros() {
    let decoded = decode([Array(repeating: 0x30, count: 65_536)])
    #expect(decoded.violation == .sizeTooLarge && decoded.content.isEmpty)
  }

  @Test("The largest size that is taken is announced without a trap")
  func largestSize() {
    let decoded = decode([Array("7fffffffffffff\r\nab".utf8)])
    #expect(decoded.violation == nil && decoded.content == Array("ab".utf8))
  }

  @Test("Extensions and trailers are bounded over the whole body")
  func limits() {
    var limits = ChunkLimits()
    limits.extensionBytes = 10
    limits.trailerBytes = 20
    limits.trailerFields = 2
    let five = "1;abcde\r\nx\r\n"
    #expect(decode([Array((five + five + "0\r\n\r\n").utf8)], limits: limits).content == Array("xx".utf8))
    #expect(decode([Array((five + five + "0;a\r\n\r\n").utf8)], limits: limits).violation == .extensionTooLong)
    #expect(decode([Array("0\r\nA:b\r\nC:d\r\n\r\n".utf8)], limits: limits).isComplete)
    #expect(decode([Array("0\r\nA:b\r\nC:d\r\nE:f\r\n\r\n".utf8)], limits: limits).violation == .trailer)
    #expect(decode([Array("0\r\nAAAA: 0123456789012".utf8)], limits: limits).violation == nil)
    #expect(decode([Array("0\r\nAAAA: 01234567890123456".utf8)], limits: limits).violation == .trailer)
  }

  @Test("Padding and extensions of a response are bounded in each chunk, so that it may have any number of chunks")
  func longResponse() {
    var limits = ChunkLimits(applicationHeads: HeadLimits(headBytes: 1_000, fieldCount: 10, targetBytes: 0))
    limits.extensionBytes = 10
    let chunks = (0..<100).flatMap { _ in Array("1       \r\nx\r\n1;name=a\r\nx\r\n".utf8) }
    let decoded = decode([chunks + Array("0       \r\n\r\n".utf8)], limits: limits)
    #expect(decoded.isComplete && decoded.content.count == 200)
    for long in ["1            \r\nx\r\n", "1;name=values\r\nx\r\n"] {
      #expect(decode([chunks + Array(long.utf8)], limits: limits).violation == .extensionTooLong)
    }
  }

  @Test("A body of known length ends exactly there")
  func length() {
    let bytes = Array("helloGET".utf8)
    for place in 0...bytes.count {
      let decoded = decode([Array(bytes[..<place]), Array(bytes[place...])], .length(5))
      #expect(decoded.content == Array("hello".utf8) && decoded.isComplete && decoded.rest == Array("GET".utf8))
    }
    #expect(!decode([Array("hell".utf8)], .length(5)).isComplete)
  }

  @Test("No body is whole at once, and a body until the end never is")
  func otherFramings() {
    var none = BodyDecoder(BodyFraming.none)
    var empty = ByteBuffer()
    #expect(none.isComplete && !none.endsWithConnection && none.next(&empty) == .end(trailers: []))
    let decoded = decode([[1, 2], [], [3]], .untilClose)
    #expect(decoded.content == [1, 2, 3] && !decoded.isComplete)
    #expect(
      BodyDecoder(BodyFraming.untilClose).endsWithConnection && !BodyDecoder(BodyFraming.chunked).endsWithConnection)
  }

  @Test("The decoder reads what the encoder writes, at every size around a digit")
  func roundTrip() {
    for size in Array(1...40) + [255, 256, 257, 4_095, 4_096, 65_535, 65_536, 1_048_575, 1_048_576] {
      var buffer = ByteBuffer()
      let content = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
      for piece in [content, [0x30]] {
        ChunkedEncoder.writeSize(piece.count, to: &buffer)
        buffer.writeBytes(piece)
        buffer.writeString("\r\n")
      }
      #expect(buffer.readableBytesView.starts(with: Array("\(String(size, radix: 16))\r\n".utf8)))
      buffer.writeString("0\r\n\r\n")
      let decoded = decode([Array(buffer.readableBytesView)])
      #expect(decoded.content == content + [0x30] && decoded.isComplete && decoded.rest.isEmpty)
    }
  }

  @Test("Trailer lines are reported one by one, and none of a malformed section")
  func trailerLines() {
    var lines: [[String]] = []
    let section = Array("X-A: 1\r\nCookie: c\r\n".utf8)
    #expect(
      TrailerSection.forEachLine(section) { line, bytes in
        lines.append([bytes.string(line.name), bytes.string(line.value), "\(line.known)"])
      })
    #expect(lines == [["X-A", "1", "other"], ["Cookie", "c", "cookie"]])
    #expect(TrailerSection.forEachLine([]) { _, _ in })
    #expect(!TrailerSection.forEachLine(Array("X-A: 1".utf8)) { _, _ in })
    #expect(!TrailerSection.isWellFormed(section, fieldCount: 1) && TrailerSection.isWellFormed(section, fieldCount: 2))
  }
}
