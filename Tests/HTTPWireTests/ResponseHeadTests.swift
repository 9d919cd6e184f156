import Testing

@testable import HTTPWire

// Cases: status lines, framing by status and method, persistence, white space before the colon, refusals.

@Suite("Response heads")
struct ResponseHeadTests {
  @Test("A response head is read with status, reason and fields")
  func ordinary() {
    let text = "HTTP/1.1 404 Not  Found\r\nServer: x\r\nContent-Length: 5\r\n\r\n"
    let read = readResponse(text + "hello")
    #expect(read.outcome == .complete && read.status == 404 && read.reason == "Not  Found")
    #expect(read.fields == [["Server", "x"], ["Content-Length", "5"]])
    #expect(read.framing == .length(5) && read.keepAlive && read.byteCount == text.utf8.count)
  }

  @Test("A reason phrase may be empty, hold obs-text, or be missing with its space")
  func reasons() {
    #expect(readResponse("HTTP/1.1 200 \r\n\r\n").outcome == .complete)
    #expect(readResponse("HTTP/1.1 200\r\n\r\n").outcome == .complete)
    #expect(readResponse("HTTP/1.1 200 \u{e9}t\u{e9}\tx\r\n\r\n").reason == "\u{e9}t\u{e9}\tx")
  }

  @Test(
    "Malformed status lines are refused",
    arguments: [
      "HTTP/1.2 200 OK\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 99 x\r\n\r\n", "HTTP/1.1 600 x\r\n\r\n",
      "HTTP/1.1 000 x\r\n\r\n", "HTTP/1.1 2000\r\n\r\n", "HTTP/1.1 +20 x\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n",
      "HTTP/1.1 200OK\r\n\r\n", "HTTP/1.1 200 OK\n\n", "HTTP/1.1 200 O\0K\r\n\r\n", "HTTP/1.1 200 O\rK\r\n\r\n",
      "http/1.1 200 OK\r\n\r\n", "ICY 200 OK\r\n\r\n  ", "<html><body>", "\r\nHTTP/1.1 200 OK\r\n\r\n",
      "HTTP/1.1\t200 OK\r\n\r\n",
    ])
  func statusLines(_ text: String) {
    let violation = readResponse(text).violation
    #expect(violation.map { [.statusLine, .statusRange, .lineEnding, .fieldValue].contains($0) } == true)
  }

  @Test(
    "Field lines and framing that two readers could see differently are refused",
    arguments: [
      ("A: b\r\n folded", HeadViolation.obsoleteFolding), ("A: b\nC: d", .lineEnding), ("A: b\rC: d", .lineEnding),
      ("A: \0", .fieldValue), (": b", .fieldName), ("A b: c", .fieldName),
      ("Content-Length: 5\r\nContent-Length: 5", .contentLength), ("Content-Length: 5, 5", .contentLength),
      ("Content-Length: +5", .contentLength), ("Content-Length:", .contentLength),
      ("Content-Length : 5\r\ncontent-length: 6", .contentLength),
      ("Content-Length: 5\r\nTransfer-Encoding: chunked", .lengthAndEncoding),
      ("Transfer-Encoding : chunked\r\nContent-Length: 5", .lengthAndEncoding),
      ("Transfer-Encoding: gzip, chunked", .transferEncoding), ("Transfer-Encoding: identity", .encodingNotChunked),
      ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", .encodingNotChunked),
    ])
  func refusals(_ fields: String, _ violation: HeadViolation) {
    #expect(readResponse("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n").violation == violation)
  }

  @Test("A response whose Connection names more than 64 fields is refused, as a request is")
  func nominations() {
    func head(_ count: Int) -> String {
      "HTTP/1.1 200 OK\r\nConnection: close, " + (0..<count).map { "x\($0)" }.joined(separator: ",") + "\r\n\r\n"
    }
    #expect(readResponse(head(64)).outcome == .complete)
    #expect(readResponse(head(65)).violation == .tooManyNominations)
    let lines = String(repeating: "Connection: x\r\n", count: 65)
    #expect(readResponse("HTTP/1.1 200 OK\r\n\(lines)\r\n").violation == .tooManyNominations)
    #expect(readResponse("HTTP/1.1 200 OK\r\nA: b\r\n\r\n").nominations == [])
    let usual = String(repeating: "close,, keep-alive,Upgrade,", count: 100)
    let read = readResponse("HTTP/1.1 200 OK\r\nConnection: \(usual) x-A\r\nConnection: b ,\(usual)\r\n\r\n")
    #expect(read.nominations == ["x-A", "b"], "they are recorded once, without the usual options")
  }

  @Test("White space before a colon is passed over, and the field is known for what it is")
  func spaceBeforeColon() {
    let read = readResponse("HTTP/1.1 200 OK\r\nContent-Length \t: 5\r\nX-Other :y\r\n\r\n")
    #expect(read.framing == .length(5))
    #expect(read.fields == [["Content-Length", "5"], ["X-Other", "y"]])
  }

  @Test("The framing of a body follows from status, method and fields (RFC 9112, 6.3)")
  func framing() {
    func framing(_ status: Int, _ fields: String) -> BodyFraming {
      readResponse("HTTP/1.1 \(status) x\r\n\(fields)\r\n").framing
    }
    #expect(framing(200, "") == .untilClose)
    #expect(framing(200, "Content-Length: 0\r\n") == .none)
    #expect(framing(200, "Content-Length: 9\r\n") == .length(9))
    #expect(framing(200, "Transfer-Encoding: CHUNKED\r\n") == .chunked)
    for status in [100, 103, 204, 304] {
      #expect(framing(status, "") == .none && framing(status, "Content-Length: 9\r\n") == .none)
      #expect(framing(status, "Transfer-Encoding: chunked\r\n") == .none)
    }
    let read = readResponse("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
    #expect(read.framingToHead == .none && read.framing == .length(9))
  }

  @Test("Only a 204 or 304 that announces chunks may be followed by the last one of a body that it does not have")
  func strayChunks() {
    for status in [101, 200, 204, 205, 206, 304, 404] {
      let head = "HTTP/1.1 \(status) x\r\n"
      let chunked = readResponse(head + "Transfer-Encoding: chunked\r\n\r\n")
      #expect(chunked.announcesStrayChunks == (status == 204 || status == 304), "\(status)")
      #expect(!readResponse(head + "Content-Length: 5\r\n\r\n").announcesStrayChunks, "\(status)")
      #expect(!readResponse(head + "\r\n").announcesStrayChunks, "\(status)")
    }
  }

  @Test("A status is 100 to 599, and up to 999 where that mistake is allowed")
  func statusRange() {
    for (status, isOrdinary, isAllowed) in [
      ("099", false, false), ("100", true, true), ("599", true, true), ("600", false, true), ("999", false, true),
    ] {
      let text = "HTTP/1.1 \(status) x\r\n\r\n"
      let violation: HeadViolation? = isOrdinary ? nil : .statusRange
      #expect(readResponse(text).violation == violation, "\(status)")
      #expect(readResponse(text, lenience: [.bareLF, .controlBytes]).violation == violation, "\(status)")
      let lenient: HeadViolation? = isAllowed ? nil : .statusRange
      #expect(readResponse(text, lenience: .statusRange).violation == lenient, "\(status)")
    }
  }

  @Test("Version and Connection decide whether a server keeps its connection")
  func persistence() {
    #expect(readResponse("HTTP/1.1 200 OK\r\n\r\n").keepAlive)
    #expect(!readResponse("HTTP/1.1 200 OK\r\nConnection: Close\r\n\r\n").keepAlive)
    #expect(!readResponse("HTTP/1.0 200 OK\r\n\r\n").keepAlive)
    #expect(readResponse("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n").keepAlive)
    #expect(readResponse("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").violation == .encodingVersion)
  }

  @Test("Every beginning of a head is incomplete")
  func prefixes() {
    let bytes = Array("HTTP/1.1 200 OK\r\nServer : x\r\nSet-Cookie: a=b\r\n\r\n".utf8)
    for count in 0..<bytes.count {
      let text = String(decoding: bytes[..<count], as: UTF8.self)
      #expect(readResponse(text).outcome == .incomplete, "\(count)")
    }
  }

  @Test("A head beyond its limits is refused before it is whole")
  func limits() {
    let tight = HeadLimits(headBytes: 60, fieldCount: 2, targetBytes: 0)
    let long = "HTTP/1.1 200 OK\r\nA: " + String(repeating: "x", count: 60)
    #expect(readResponse(long, limits: tight).violation == .headTooLarge)
    #expect(readResponse("HTTP/1.1 200 " + String(repeating: "x", count: 60), limits: tight).violation == .headTooLarge)
    #expect(readResponse("HTTP/1.1 200 OK\r\nA: b\r\nA: b\r\nA: b\r\n\r\n", limits: tight).violation == .tooManyFields)
  }

  @Test("Limits of a head beyond what its offsets can count are lowered to that")
  func greatestLimits() {
    let greatest = HeadLimits(headBytes: 65_535, fieldCount: 60_000, targetBytes: 10)
    #expect(greatest.headBytes == 65_535 && greatest.fieldCount == maximumFieldCount)
    #expect(HeadLimits(headBytes: 65_536, fieldCount: 60_001, targetBytes: 10) == greatest)
    #expect(HeadLimits(headBytes: .max, fieldCount: .max, targetBytes: 10) == greatest)
  }
}
