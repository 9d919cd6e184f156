/// Reads response heads (RFC 9112 4). As strict as the request's reader, but for white space before a colon, which
/// RFC 9112 5.1 tells a proxy to remove from responses.
package struct ResponseHeadParser: Sendable {
  package let limits: HeadLimits

  package init(limits: HeadLimits) { self.limits = limits }

  /// Reads the head at the beginning of `bytes` into `head`.
  package func parse(_ bytes: RawSpan, into head: inout ResponseHead) -> HeadParse {
    head.reset()
    do {
      guard let lineEnd = try statusLine(bytes, &head) else {
        return bytes.byteCount > limits.headBytes ? .violation(.headTooLarge) : .incomplete
      }
      head.fieldsStart = lineEnd
      var lines = FieldLineParser(offset: lineEnd, removesSpaceBeforeColon: true)
      scan: while true {
        switch lines.next(bytes) {
        case .line(let line):
          guard head.fields.lines.count < limits.fieldCount else { return .violation(.tooManyFields) }
          head.fields.append(line)
          guard lines.offset <= limits.headBytes else { return .violation(.headTooLarge) }
        case .end: break scan
        case .incomplete:
          return bytes.byteCount > limits.headBytes ? .violation(.headTooLarge) : .incomplete
        case .violation(let violation): return .violation(violation)
        }
      }
      head.byteCount = lines.offset + 2
      try framing(bytes, &head)
      connection(bytes, &head)
      return .complete
    } catch {
      return .violation(error)
    }
  }

  ///     status-line = HTTP-version SP status-code SP [ reason-phrase ]   (RFC 9112 4)
  ///
  /// The second SP may be missing when there is no reason phrase: servers in the field leave it out.
  /// - Returns: where the fields begin, nil while the line is not whole.
  private func statusLine(_ bytes: RawSpan, _ head: inout ResponseHead) throws(HeadViolation) -> Int? {
    let end = bytes.byteCount
    guard end >= 12 else {
      for (index, expected) in Self.prefix.enumerated() where index < end && bytes.byte(at: index) != expected {
        throw .statusLine
      }
      return nil
    }
    let minor = bytes.byte(at: 7)
    // The seven bytes "HTTP/1.", the first in the lowest place.
    guard bytes.word(at: 0) & 0x00FF_FFFF_FFFF_FFFF == 0x002E_312F_5054_5448, minor == 0x31 || minor == 0x30,
      bytes.byte(at: 8) == 0x20, let status = bytes.decimal(9..<12), status >= 100, status < 600
    else { throw .statusLine }
    head.isHTTP11 = minor == 0x31
    head.status = status
    guard end > 12 else { return nil }
    let reasonStart = bytes.byte(at: 12) == 0x20 ? 13 : 12
    let stop = bytes.endOfFieldText(from: reasonStart)
    guard reasonStart == 13 || stop == 12 else { throw .statusLine }
    guard stop + 1 < end else { return nil }
    guard bytes.byte(at: stop) == 0x0D, bytes.byte(at: stop + 1) == 0x0A else { throw .statusLine }
    head.reason = reasonStart..<stop
    return stop + 2
  }

  private static let prefix: [UInt8] = Array("HTTP/1.".utf8)

  private func framing(_ bytes: RawSpan, _ head: inout ResponseHead) throws(HeadViolation) {
    if let encoding = head.fields.line(.transferEncoding) {
      guard head.isHTTP11 else { throw .encodingVersion }
      if head.fields.has(.contentLength) { throw .lengthAndEncoding }
      guard !head.fields.isRepeated(.transferEncoding), bytes.isPlainlyEnded(encoding),
        bytes.equalsIgnoringCase("chunked", encoding.value)
      else { throw .transferEncoding }
      head.announced = .chunked
      return
    }
    guard let line = head.fields.line(.contentLength) else { return }
    guard !head.fields.isRepeated(.contentLength), bytes.isPlainlyEnded(line), let length = bytes.decimal(line.value)
    else { throw .contentLength }
    head.announced = .length(length)
  }

  private func connection(_ bytes: RawSpan, _ head: inout ResponseHead) {
    head.keepAlive = head.isHTTP11
    guard head.fields.has(.connection) else { return }
    var close = false
    var keepAlive = false
    var others = false
    for line in head.fields.lines where line.known == .connection {
      bytes.forEachListElement(line.value) { element in
        if bytes.equalsIgnoringCase("keep-alive", element) {
          keepAlive = true
        } else if bytes.equalsIgnoringCase("close", element) {
          close = true
        } else if !bytes.equalsIgnoringCase("upgrade", element) {
          others = true
        }
      }
    }
    head.nominatesFields = others
    if close { head.keepAlive = false } else if keepAlive { head.keepAlive = true }
  }
}
