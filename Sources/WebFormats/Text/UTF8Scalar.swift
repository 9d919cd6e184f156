/// One encoded character of UTF-8 (RFC 3629, 4).
package enum UTF8Scalar {
  /// Reads the character that begins at `index`.
  /// - Returns: the code point and its length in bytes. Nil for bytes that are not UTF-8, with the length that one
  ///   replacement character replaces (the maximal subpart, Unicode 3.9).
  package static func read(_ text: Span<UInt8>, at index: Int) -> (scalar: UInt32?, length: Int) {
    let first = text[index]
    guard first >= 0x80 else { return (UInt32(first), 1) }
    guard let (count, bits) = sequence(begunBy: first) else { return (nil, 1) }
    var scalar = bits
    for offset in 1...count {
      guard index + offset < text.count else { return (nil, offset) }
      let byte = text[index + offset]
      guard (offset == 1 ? second(after: first) : 0x80...0xBF).contains(byte) else { return (nil, offset) }
      scalar = scalar << 6 | UInt32(byte & 0x3F)
    }
    return (scalar, count + 1)
  }

  /// The number of bytes that follow, and the bits that the first byte contributes.
  private static func sequence(begunBy first: UInt8) -> (count: Int, bits: UInt32)? {
    switch first {
    case 0xC2...0xDF: (1, UInt32(first & 0x1F))
    case 0xE0...0xEF: (2, UInt32(first & 0x0F))
    case 0xF0...0xF4: (3, UInt32(first & 0x07))
    default: nil
    }
  }

  /// The second bytes that exclude overlong forms, surrogates and code points beyond U+10FFFF.
  private static func second(after first: UInt8) -> ClosedRange<UInt8> {
    switch first {
    case 0xE0: 0xA0...0xBF
    case 0xED: 0x80...0x9F
    case 0xF0: 0x90...0xBF
    case 0xF4: 0x80...0x8F
    default: 0x80...0xBF
    }
  }
}
