internal import WebFormats

/// Writes the first line of a head, its field lines, and its end.
extension HTTP2HeadAssembly {
  /// Ends the head of a request.
  /// - Parameter isWhole: whether no body follows.
  mutating func finishRequest(isWhole: Bool) -> Outcome {
    if isTooLarge { return .refused(status: 431, "head too large") }
    if part == .pseudoFields { writeFirstLine() }
    if let problem { return .malformed(problem) }
    let bytes = RawSpan(_unsafeBytes: pseudo.bytes)
    if let connectsTo {
      guard bytes.equals("websocket", connectsTo) else {
        return .refused(status: 501, "extended CONNECT for something other than WebSocket")
      }
      // There is no content, only a tunnel's bytes (RFC 9110, 9.3.6). An application that got a length and responded
      // without switching would wait for that many bytes on a kept connection, and take the next request for them.
      guard !announcesLength else { return .malformed("Content-Length in an extended CONNECT") }
    } else if bytes.equals("CONNECT", method) {
      // RFC 9113, 8.5.
      guard scheme.isEmpty, path.isEmpty, authority != nil else { return .malformed("a path in a CONNECT") }
      return .refused(status: 405, "CONNECT is not for a gateway")
    }
    guard bytes.equalsIgnoringCase("https", scheme) || bytes.equalsIgnoringCase("http", scheme) else {
      return .malformed("malformed :scheme")
    }
    if cookies.count > 0 { write(line: "Cookie", cookies.bytes, .cookie) }
    if connectsTo != nil {
      write(line: "Connection", "Upgrade", .connection)
      write(line: "Upgrade", "websocket", .upgrade)
      WebSocketKey.withNew { write(line: "Sec-WebSocket-Key", $0, .other) }
    } else if !isWhole, !announcesLength {
      write(line: "Transfer-Encoding", "chunked", .transferEncoding)
    }
    text.append("\r\n")
    return .head
  }

  /// Ends the head of a response.
  /// - Parameter requiresLength: whether the head has to state the length of the body.
  mutating func finishResponse(hasBody: Bool, requiresLength: Bool) -> Outcome {
    if isTooLarge { return .malformed("head too large") }
    if part == .pseudoFields { writeFirstLine() }
    if let problem { return .malformed(problem) }
    // The length of a 304 is that of the content it stands for (RFC 9110, 8.6), which is not known.
    let isNotModified = RawSpan(_unsafeBytes: pseudo.bytes).equals("304", status)
    if requiresLength, !announcesLength, hasBody || !isNotModified {
      if hasBody {
        write(line: "Transfer-Encoding", "chunked", .transferEncoding)
      } else {
        write(line: "Content-Length", "0", .contentLength)
      }
    }
    text.append("\r\n")
    return .head
  }

  /// Whether the head of a response is that of an interim one (RFC 9110, 15.2).
  var isInterim: Bool { !status.isEmpty && pseudo.bytes[status.lowerBound] == 0x31 }

  /// Begins a trailer section: field lines and nothing else.
  mutating func beginTrailers() {
    reset()
    part = .trailers
  }

  /// The field lines of a trailer section, nil where it is malformed or too large.
  func finishTrailers(_ policy: HTTP2Policy) -> [UInt8]? {
    guard problem == nil, !isTooLarge, byteCount <= policy.trailerBytes, fieldCount <= policy.trailerFields else {
      return nil
    }
    return Array(text.bytes)
  }

  // MARK: The first line

  /// The request line and `Host`, or the status line. Validated here byte by byte, since its characters could divide
  /// lines.
  mutating func writeFirstLine() {
    part = .fields
    if !status.isEmpty { return writeStatusLine() }
    let bytes = RawSpan(_unsafeBytes: pseudo.bytes)
    if method.isEmpty || !method.allSatisfy({ CharacterClass.token.contains(bytes.byte(at: $0)) }) {
      refuse("malformed :method")
    }
    let isConnect = bytes.equals("CONNECT", method)
    if !isConnect || connectsTo != nil, !isPath(bytes) { refuse("malformed :path") }
    // RFC 8441, 4.
    if connectsTo != nil, !isConnect || authority == nil { refuse("malformed extended CONNECT") }
    guard problem == nil else { return }
    if connectsTo != nil { text.append("GET") } else { text.append(pseudo(method)) }
    text.append(" ")
    text.append(pseudo(path))
    text.append(" HTTP/1.1\r\n")
    fieldsStart = text.count
    // RequestSemantics validates the host.
    if let authority { write(line: "Host", pseudo(authority), .host) }
  }

  private mutating func writeStatusLine() {
    let bytes = RawSpan(_unsafeBytes: pseudo.bytes)
    guard status.count == 3, bytes.decimal(status) != nil else { return refuse("malformed :status") }
    text.append("HTTP/1.1 ")
    text.append(pseudo(status))
    text.append(" \r\n")
  }

  private func pseudo(_ place: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: pseudo.bytes[place])
  }

  /// An absolute path, or `*` for OPTIONS (RFC 9113, 8.3.1): nothing that HTTP/1.1 would take for another form.
  private func isPath(_ bytes: RawSpan) -> Bool {
    guard !path.isEmpty, path.allSatisfy({ CharacterClass.isOfTarget(bytes.byte(at: $0)) }) else { return false }
    if bytes.byte(at: path.lowerBound) == 0x2F { return !path.contains { bytes.byte(at: $0) == 0x23 } }
    return bytes.equals("*", path) && bytes.equals("OPTIONS", method)
  }

  // MARK: Field lines

  /// Writes a field line, and records its range.
  @inline(__always)
  mutating func write(line name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ known: KnownField) {
    let start = text.count
    text.append(line: name, value)
    let end = text.count
    fields.append(
      FieldLine(
        start: Int32(truncatingIfNeeded: start), nameLength: Int32(truncatingIfNeeded: name.count),
        valueStart: Int32(truncatingIfNeeded: start + name.count + 2), valueEnd: Int32(truncatingIfNeeded: end - 2),
        end: Int32(truncatingIfNeeded: end), known: known))
  }

  mutating func write(line name: StaticString, _ value: UnsafeRawBufferPointer, _ known: KnownField) {
    write(line: UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), value, known)
  }

  mutating func write(line name: StaticString, _ value: StaticString, _ known: KnownField) {
    write(line: name, UnsafeRawBufferPointer(start: value.utf8Start, count: value.utf8CodeUnitCount), known)
  }

  // MARK: Values of the lines

  /// Hands over what the lines of the request that has just been ended say, as ``RequestHeadParser`` would read it out
  /// of `text`.
  mutating func takeRequest(into request: inout RequestHead) -> HeadParse {
    request.reset()
    // Between the method with its space, and " HTTP/1.1".
    let targetEnd = fieldsStart - " HTTP/1.1\r\n".utf8.count
    let target = targetEnd - path.count..<targetEnd
    guard target.count <= limits.targetBytes else { return .violation(.targetTooLong) }
    guard fields.lines.count <= limits.fieldCount else { return .violation(.tooManyFields) }
    guard text.count - 2 <= limits.headBytes else { return .violation(.headTooLarge) }
    swap(&request.fields, &fields)
    request.methodRange = 0..<target.lowerBound - 1
    request.target = target
    request.isHTTP11 = true
    request.fieldsStart = fieldsStart
    request.byteCount = text.count
    do {
      try RequestSemantics.apply(RawSpan(_unsafeBytes: text.bytes), &request)
      return .complete
    } catch {
      return .violation(error)
    }
  }
}

/// `Sec-WebSocket-Key` (RFC 6455, 4.1): 16 random bytes in base64. HTTP/2 has none, HTTP/1.1 requires one.
private enum WebSocketKey {
  static func withNew(_ body: (UnsafeRawBufferPointer) -> Void) {
    var random = SystemRandomNumberGenerator()
    let numbers: [UInt64] = [random.next(), random.next()]
    numbers.withUnsafeBytes { Base64.encode($0).withUnsafeBytes(body) }
  }
}
