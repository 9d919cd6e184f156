/// Reads request heads (RFC 9112, 2 and 3): strict, in one pass, in place.
///
/// A refusal is preferred to a guess wherever two parsers might read the same bytes differently: bare CR or LF, folded
/// lines, white space around a name, more than one `Host`, `Content-Length` that is not one plain number.
package struct RequestHeadParser: Sendable {
  /// Limits of one head.
  package let limits: HeadLimits

  /// Reads heads within these limits.
  package init(limits: HeadLimits) { self.limits = limits }

  /// Reads the head at the beginning of `bytes` into `head`.
  ///
  /// After `.incomplete` it is called again with more bytes, from the same beginning.
  package func parse(_ bytes: RawSpan, into head: inout RequestHead) -> HeadParse {
    head.reset()
    do {
      guard let lineEnd = try requestLine(bytes, &head) else {
        return bytes.byteCount > limits.headBytes ? .violation(.headTooLarge) : .incomplete
      }
      head.fieldsStart = lineEnd
      var lines = FieldLineParser(offset: lineEnd, removesSpaceBeforeColon: false)
      let read = lines.readAll(bytes, into: &head.fields, limits: limits)
      guard read == .complete else { return read }
      head.byteCount = lines.offset + 2
      try RequestSemantics.apply(bytes, &head)
      return .complete
    } catch {
      return .violation(error)
    }
  }

  /// Reads the request line.
  ///
  ///     request-line = method SP request-target SP HTTP-version   (RFC 9112, 3)
  /// - Returns: where the fields begin, nil while the line is not whole.
  @inline(__always)
  private func requestLine(_ bytes: RawSpan, _ head: inout RequestHead) throws(HeadViolation) -> Int? {
    let end = bytes.byteCount
    var start = 0
    // "at least one empty line" before a request is to be ignored (RFC 9112, 2.2): exactly one is.
    if end >= 2, bytes.byte(at: 0) == 0x0D, bytes.byte(at: 1) == 0x0A { start = 2 }
    var cursor = start
    while cursor < end, CharacterClass.token.contains(bytes.byte(at: cursor)) { cursor += 1 }
    guard cursor < end else {
      if cursor - start > 32 { throw .method }
      return nil
    }
    guard bytes.byte(at: cursor) == 0x20, cursor > start else {
      if cursor == start, start == 0, end == 1, bytes.byte(at: 0) == 0x0D { return nil }
      throw .requestLine
    }
    head.methodRange = start..<cursor
    let targetStart = cursor + 1
    cursor = targetStart
    while cursor < end, CharacterClass.isOfTarget(bytes.byte(at: cursor)) { cursor += 1 }
    guard cursor - targetStart <= limits.targetBytes else { throw .targetTooLong }
    guard cursor < end else { return nil }
    guard cursor > targetStart, bytes.byte(at: cursor) == 0x20 else { throw .target }
    head.target = targetStart..<cursor
    // " HTTP/1.1\r\n"
    guard cursor + 11 <= end else {
      let rest = cursor + 1..<end
      for (index, expected) in Self.versionPrefix.enumerated() where index < rest.count {
        guard bytes.byte(at: rest.lowerBound + index) == expected else { throw .requestLine }
      }
      return nil
    }
    // The eight bytes " HTTP/1.", the first in the lowest place.
    guard bytes.word(at: cursor) == 0x2E31_2F50_5454_4820 else { throw Self.versionViolation(bytes, at: cursor + 1) }
    let minor = bytes.byte(at: cursor + 8)
    guard minor == 0x31 || minor == 0x30 else { throw Self.versionViolation(bytes, at: cursor + 1) }
    guard bytes.byte(at: cursor + 9) == 0x0D, bytes.byte(at: cursor + 10) == 0x0A else { throw .requestLine }
    head.isHTTP11 = minor == 0x31
    return cursor + 11
  }

  private static let versionPrefix: [UInt8] = Array("HTTP/".utf8)

  /// A well-formed version that is not ours is 505, anything else is not a request line at all.
  private static func versionViolation(_ bytes: RawSpan, at start: Int) -> HeadViolation {
    guard start + 10 <= bytes.byteCount, bytes.equals("HTTP/", start..<start + 5) else { return .requestLine }
    let major = bytes.byte(at: start + 5) &- 0x30
    let minor = bytes.byte(at: start + 7) &- 0x30
    guard major < 10, minor < 10, bytes.byte(at: start + 6) == 0x2E, bytes.byte(at: start + 8) == 0x0D else {
      return .requestLine
    }
    return .version
  }
}
