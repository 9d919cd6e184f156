/// Reads response heads (RFC 9112, 4). As strict as the parser of requests, except for white space before a colon,
/// which a proxy has to remove from responses (RFC 9112, 5.1).
package struct ResponseHeadParser: Sendable {
  /// The limits of a head, beyond which it is refused.
  package let limits: HeadLimits
  /// The highest status. Default: 599.
  private let highestStatus: Int

  /// Reads heads within these limits. Of the lenience only the range of the status is the parser's part: the rest is
  /// that of ``ResponseHeadRepair``.
  package init(limits: HeadLimits, lenience: ResponseLenience = []) {
    self.limits = limits
    highestStatus = lenience.contains(.statusRange) ? 999 : 599
  }

  /// Reads the head at the beginning of `bytes` into `head`.
  package func parse(_ bytes: RawSpan, into head: inout ResponseHead) -> HeadParse {
    head.reset()
    do {
      guard let lineEnd = try statusLine(bytes, &head) else {
        return bytes.byteCount > limits.headBytes ? .violation(.headTooLarge) : .incomplete
      }
      head.fieldsStart = lineEnd
      var lines = FieldLineParser(offset: lineEnd, removesSpaceBeforeColon: true)
      let read = lines.readAll(bytes, into: &head.fields, limits: limits)
      guard read == .complete else { return read }
      head.byteCount = lines.offset + 2
      head.announced = try head.fields.announcedFraming(bytes, isHTTP11: head.isHTTP11)
      let options = try head.fields.connectionOptions(bytes)
      head.keepAlive = options.persists(isHTTP11: head.isHTTP11)
      head.nominatesFields = options.nominates
      return .complete
    } catch {
      return .violation(error)
    }
  }

  ///     status-line = HTTP-version SP status-code SP [ reason-phrase ]   (RFC 9112, 4)
  ///
  /// The second SP may be missing when there is no reason phrase: servers in the field leave it out.
  /// - Returns: where the fields begin, nil while the line is not whole.
  @inline(__always)
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
      bytes.byte(at: 8) == 0x20, let status = bytes.decimal(9..<12)
    else { throw .statusLine }
    guard status >= 100, status <= highestStatus else { throw .statusRange }
    head.isHTTP11 = minor == 0x31
    head.status = status
    guard end > 12 else { return nil }
    let reasonStart = bytes.byte(at: 12) == 0x20 ? 13 : 12
    let stop = bytes.endOfFieldText(from: reasonStart)
    guard reasonStart == 13 || stop == 12 else { throw .statusLine }
    guard stop + 1 < end else {
      if stop < end, bytes.byte(at: stop) != 0x0D { throw FieldLineParser.badLineEnd(bytes.byte(at: stop)) }
      return nil
    }
    guard bytes.byte(at: stop) == 0x0D, bytes.byte(at: stop + 1) == 0x0A else {
      throw FieldLineParser.badLineEnd(bytes.byte(at: stop))
    }
    head.reason = reasonStart..<stop
    return stop + 2
  }

  private static let prefix: [UInt8] = Array("HTTP/1.".utf8)
}
