/// Base64url without padding (RFC 4648, 5; RFC 7515, 2) in its canonical form: `decode` refuses every text that
/// `encode` would not write, so there is exactly one text for each sequence of bytes.
package enum Base64URL {
  /// The encoded bytes as ASCII.
  package static func encode(_ bytes: some Sequence<UInt8>) -> [UInt8] { Base64.digits(bytes, alphabet) }

  /// The encoded bytes as text.
  package static func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: encode(bytes), as: UTF8.self) }

  /// Nil for a character outside the alphabet (padding and white space too), an impossible length, or left-over bits
  /// that are not zero.
  package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    let text = Array(text)
    var result: [UInt8] = []
    result.reserveCapacity(text.count * 3 / 4)
    guard decode(text.span.bytes, into: { result.append($0) }) else { return nil }
    return result
  }

  /// Decodes without an array: passes each byte to `write`, in order. The bytes are valid only if this returns true.
  package static func decode(_ text: RawSpan, into write: (UInt8) -> Void) -> Bool {
    Base64.decode(text, upTo: text.byteCount, (UInt8(ascii: "-"), UInt8(ascii: "_")), into: write)
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}

/// Base64 with padding (RFC 4648, 4).
package enum Base64 {
  /// The encoded bytes as ASCII.
  package static func encode(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    let digits = digits(bytes, alphabet)
    return digits + Array(repeating: UInt8(ascii: "="), count: (4 - digits.count % 4) % 4)
  }

  /// Passes each byte to `write`, in order, up to the first character that is not base64. Padding may be left out,
  /// as some clients do in `Authorization: Basic`.
  /// - Returns: whether all of the text was read, and is canonical otherwise.
  package static func decode(_ text: RawSpan, into write: (UInt8) -> Void) -> Bool {
    var end = text.byteCount
    while end > 0, text.byteCount - end < 2, character(text, end - 1) == UInt8(ascii: "=") { end -= 1 }
    let isPadded = end == text.byteCount || text.byteCount % 4 == 0
    return decode(text, upTo: end, (UInt8(ascii: "+"), UInt8(ascii: "/")), into: write) && isPadded
  }

  /// - Parameter last: the last two characters of the alphabet.
  @inline(__always)
  fileprivate static func decode(
    _ text: RawSpan, upTo end: Int, _ last: (UInt8, UInt8), into write: (UInt8) -> Void
  ) -> Bool {
    var bits: UInt32 = 0
    var count = 0
    for index in 0..<end {
      guard let value = value(of: character(text, index), last) else { return false }
      bits = bits << 6 | value
      count += 6
      if count >= 8 {
        count -= 8
        write(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    return count < 6 && bits & (1 << UInt32(count) - 1) == 0
  }

  /// Named unsafe for types that not every byte is a value of; it is bounds-checked.
  @inline(__always)
  private static func character(_ text: RawSpan, _ index: Int) -> UInt8 {
    text.unsafeLoad(fromByteOffset: index, as: UInt8.self)
  }

  @inline(__always)
  private static func value(of character: UInt8, _ last: (UInt8, UInt8)) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
    case last.0: 62
    case last.1: 63
    default: nil
    }
  }

  fileprivate static func digits(_ bytes: some Sequence<UInt8>, _ alphabet: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity((bytes.underestimatedCount * 4 + 2) / 3)
    var bits: UInt32 = 0
    var count = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 6 {
        count -= 6
        result.append(alphabet[Int(bits >> UInt32(count) & 0x3F)])
      }
    }
    if count > 0 { result.append(alphabet[Int(bits << UInt32(6 - count) & 0x3F)]) }
    return result
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}
