internal import NIOCore

/// The first line of a head, and what stands behind its fields.
extension HTTP2HeadAssembly {
  /// Ends the head of a request.
  /// - Parameter isWhole: whether no body follows.
  mutating func finishRequest(isWhole: Bool) -> Outcome {
    if isTooLarge { return .refused(status: 431, "head too large") }
    if !hasLine { writeFirstLine() }
    if let problem { return .malformed(problem) }
    let pseudo = pseudo
    let bytes = pseudo.readableBytesSpan
    if let connectsTo {
      guard bytes.equals("websocket", connectsTo) else {
        return .refused(status: 501, "extended CONNECT for something other than WebSocket")
      }
      // There is no content, only a tunnel's bytes (RFC 9110 9.3.6). An application that was told of a length and answered
      // without switching would wait for it on a connection that is kept, and take the next request for it.
      guard !announcesLength else { return .malformed("Content-Length in an extended CONNECT") }
    } else if bytes.equals("CONNECT", method) {
      return .refused(status: 405, "CONNECT is not for a gateway")
    }
    guard bytes.equalsIgnoringCase("https", scheme) || bytes.equalsIgnoringCase("http", scheme) else {
      return .malformed("malformed :scheme")
    }
    writeCookies()
    if connectsTo != nil {
      head.writeStaticString("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: ")
      WebSocketKey.write(to: &head)
      head.writeStaticString("\r\n")
    } else if !isWhole, !announcesLength {
      head.writeStaticString("Transfer-Encoding: chunked\r\n")
    }
    head.writeStaticString("\r\n")
    return .head
  }

  /// Ends the head of a response.
  /// - Parameter saysSo: whether the head has to say how long the body is, if any.
  mutating func finishResponse(hasBody: Bool, saysSo: Bool) -> Outcome {
    if isTooLarge { return .malformed("head too large") }
    if !hasLine { writeFirstLine() }
    if let problem { return .malformed(problem) }
    if saysSo, !announcesLength {
      head.writeStaticString(hasBody ? "Transfer-Encoding: chunked\r\n" : "Content-Length: 0\r\n")
    }
    head.writeStaticString("\r\n")
    return .head
  }

  /// Whether the head of a response is that of an interim one (RFC 9110 15.2).
  var isInterim: Bool { !status.isEmpty && pseudo.readableBytesSpan.byte(at: status.lowerBound) == 0x31 }

  /// Begins a trailer section: field lines and nothing else.
  mutating func beginTrailers() {
    reset()
    hasLine = true
    isTrailers = true
  }

  /// The field lines of a trailer section, nil where it is malformed or too large.
  func finishTrailers(_ policy: HTTP2Policy) -> [UInt8]? {
    guard problem == nil, !isTooLarge, byteCount <= policy.trailerBytes, fieldCount <= policy.trailerFields else {
      return nil
    }
    return Array(head.readableBytesView)
  }

  /// The request line and `Host`, or the status line. Judged here byte by byte, since what stands in it divides lines.
  mutating func writeFirstLine() {
    hasLine = true
    if !status.isEmpty { return writeStatusLine() }
    let pseudo = pseudo
    let bytes = pseudo.readableBytesSpan
    if method.isEmpty || !method.allSatisfy({ CharacterClass.token.contains(bytes.byte(at: $0)) }) {
      refuse("malformed :method")
    }
    let isConnect = bytes.equals("CONNECT", method) && connectsTo == nil
    if !isConnect, !isPath(bytes) { refuse("malformed :path") }
    guard problem == nil else { return }
    if connectsTo != nil { head.writeStaticString("GET") } else { head.writeBytes(bytes.extracting(method)) }
    head.writeStaticString(" ")
    head.writeBytes(bytes.extracting(path))
    head.writeStaticString(" HTTP/1.1\r\n")
    guard let authority else { return }
    // Before it goes into a line: letters, digits, and nothing that ends it or names a user.
    guard Authority.isWellFormed(bytes, authority) else { return refuse("malformed :authority") }
    head.writeStaticString("Host: ")
    head.writeBytes(bytes.extracting(authority))
    head.writeStaticString("\r\n")
  }

  private mutating func writeStatusLine() {
    let pseudo = pseudo
    let bytes = pseudo.readableBytesSpan
    guard status.count == 3, bytes.decimal(status) != nil else { return refuse("malformed :status") }
    head.writeStaticString("HTTP/1.1 ")
    head.writeBytes(bytes.extracting(status))
    head.writeStaticString(" \r\n")
  }

  /// An absolute path, or `*` for OPTIONS (RFC 9113 8.3.1): nothing that HTTP/1.1 would take for another form.
  private func isPath(_ bytes: RawSpan) -> Bool {
    guard !path.isEmpty, path.allSatisfy({ CharacterClass.target.contains(bytes.byte(at: $0)) }) else { return false }
    if bytes.byte(at: path.lowerBound) == 0x2F { return !path.contains { bytes.byte(at: $0) == 0x23 } }
    return bytes.equals("*", path) && bytes.equals("OPTIONS", method)
  }

  private mutating func writeCookies() {
    guard cookies.readableBytes > 0 else { return }
    head.writeStaticString("Cookie: ")
    head.writeBuffer(&cookies)
    head.writeStaticString("\r\n")
  }
}

extension ByteBuffer {
  /// A field line.
  mutating func writeLine(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    let count = name.count + value.count + 4
    writeWithUnsafeMutableBytes(minimumWritableBytes: count) { line in
      line.copyMemory(from: name)
      line[name.count] = 0x3A
      line[name.count + 1] = 0x20
      UnsafeMutableRawBufferPointer(rebasing: line[(name.count + 2)...]).copyMemory(from: value)
      line[count - 2] = 0x0D
      line[count - 1] = 0x0A
      return count
    }
  }
}

/// `Sec-WebSocket-Key` (RFC 6455 4.1): 16 random bytes in base64. HTTP/2 has none, HTTP/1.1 wants one.
private enum WebSocketKey {
  static func write(to buffer: inout ByteBuffer) {
    var random = SystemRandomNumberGenerator()
    var rest: UInt64 = random.next()
    for place in 0..<21 {
      if place == 10 { rest = random.next() }
      buffer.writeInteger(Base64Digit.of(Int(rest & 63)))
      rest >>= 6
    }
    // 128 bits are 21 digits and two bits more.
    buffer.writeInteger(Base64Digit.of(Int(rest & 3) << 4))
    buffer.writeStaticString("==")
  }
}
