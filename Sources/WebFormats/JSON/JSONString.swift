/// Writes JSON strings (RFC 8259, 7) as one line of valid UTF-8, whatever the input.
///
/// Escaped are control characters (C0, DEL, C1), the separators U+2028 and U+2029, which some readers take for line
/// ends, and bidirectional controls, which can make a line look different from what it says. Bytes that are not UTF-8
/// become U+FFFD. Only the sink allocates.
package enum JSONString {
  /// Appends `text` with its quotation marks.
  /// - Parameter escapesMarkup: whether `<` is escaped too, so that the string is safe inside a script element.
  package static func append(
    _ text: Span<UInt8>, escapesMarkup: Bool = false, to sink: inout some ByteSink & ~Copyable
  ) {
    sink.append(UInt8(ascii: "\""))
    if !escapesMarkup, isPlain(text) {
      sink.append(text)
    } else {
      appendContents(text, escapesMarkup: escapesMarkup, to: &sink)
    }
    sink.append(UInt8(ascii: "\""))
  }

  /// Whether the text is printable ASCII without `"` and `\`. Nearly all text is, and needs no escape.
  package static func isPlain(_ text: Span<UInt8>) -> Bool {
    let bytes = text.bytes
    let count = bytes.byteCount
    guard count >= 8 else { return isPlain(shortWord(bytes)) }
    // Eight bytes at a time; the last eight may overlap those before.
    var offset = 0
    while offset + 8 < count {
      guard isPlain(bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)) else { return false }
      offset += 8
    }
    return isPlain(bytes.unsafeLoadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
  }

  /// Each test sets the highest bit of a byte that fails it.
  @inline(__always)
  private static func isPlain(_ word: UInt64) -> Bool {
    let below = (word &- 0x2020_2020_2020_2020) & ~word
    let special = zeros(word ^ 0x2222_2222_2222_2222) | zeros(word ^ 0x5C5C_5C5C_5C5C_5C5C)
    return (word | below | special | zeros(word ^ 0x7F7F_7F7F_7F7F_7F7F)) & 0x8080_8080_8080_8080 == 0
  }

  /// Fewer than eight bytes, the rest of the word being spaces.
  private static func shortWord(_ bytes: RawSpan) -> UInt64 {
    var word: UInt64 = 0x2020_2020_2020_2020
    for offset in 0..<bytes.byteCount {
      word = word << 8 | UInt64(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
    }
    return word
  }

  /// The highest bit of each byte that is zero, and perhaps of one above it.
  @inline(__always)
  private static func zeros(_ word: UInt64) -> UInt64 { (word &- 0x0101_0101_0101_0101) & ~word }

  /// Copies runs that need no escape, and writes escapes and replacement characters between them.
  private static func appendContents(
    _ text: Span<UInt8>, escapesMarkup: Bool, to sink: inout some ByteSink & ~Copyable
  ) {
    var copied = 0
    var index = 0
    while index < text.count {
      let (scalar, length) = UTF8Scalar.read(text, at: index)
      if let scalar, !isEscaped(scalar, escapesMarkup: escapesMarkup) {
        index += length
        continue
      }
      sink.append(text.extracting(copied..<index))
      if let scalar { appendEscape(scalar, to: &sink) } else { sink.append("\u{FFFD}") }
      index += length
      copied = index
    }
    sink.append(text.extracting(copied..<index))
  }

  private static func isEscaped(_ scalar: UInt32, escapesMarkup: Bool) -> Bool {
    switch scalar {
    case 0x22, 0x5C, 0x00..<0x20, 0x7F..<0xA0: true
    case 0x3C: escapesMarkup
    // Line and paragraph separator, and bidirectional controls.
    case 0x2028...0x202E, 0x200E...0x200F, 0x2066...0x2069, 0xFEFF: true
    default: false
    }
  }

  /// The short form if there is one, else `\uXXXX`. No escaped character is beyond U+FFFF.
  private static func appendEscape(_ scalar: UInt32, to sink: inout some ByteSink & ~Copyable) {
    switch scalar {
    case 0x22: sink.append("\\\"")
    case 0x5C: sink.append("\\\\")
    case 0x0A: sink.append("\\n")
    case 0x0D: sink.append("\\r")
    case 0x09: sink.append("\\t")
    default:
      sink.append("\\u")
      for shift in [12, 8, 4, 0] as [UInt32] { sink.append(Hex.digit(UInt8(truncatingIfNeeded: scalar >> shift))) }
    }
  }
}
