/// The fields after a chunked body (RFC 9110, 6.5).
package enum TrailerSection {
  /// Whether `lines` are at most `fieldCount` well-formed field lines.
  static func isWellFormed(_ lines: [UInt8], fieldCount: Int) -> Bool {
    var count = 0
    return forEachLine(lines) { _, _ in count += 1 } && count <= fieldCount
  }

  /// Calls `body` with each field line of a trailer section, and the bytes of the section.
  /// - Returns: whether all of it is field lines.
  @discardableResult
  package static func forEachLine(_ lines: [UInt8], _ body: (FieldLine, RawSpan) -> Void) -> Bool {
    let bytes = lines.span.bytes
    var parser = FieldLineParser(offset: 0, removesSpaceBeforeColon: false)
    while parser.offset < bytes.byteCount {
      guard case .line(let line) = parser.next(bytes) else { return false }
      body(line, bytes)
    }
    return true
  }
}
