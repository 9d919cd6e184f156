internal import WebFormats

/// Single bytes and escapes of a path.
enum PathByte {
  /// Whether the byte is printable ASCII other than those that end, separate, escape or nest something, or that servers
  /// drop: `/ . : ; \ % ? # + (`.
  @inline(__always)
  static func isPlain(_ byte: UInt8) -> Bool {
    byte < 64 ? plainLow >> UInt64(byte) & 1 == 1 : byte < 128 && plainHigh >> UInt64(byte & 63) & 1 == 1
  }

  /// The byte at `index`, percent-decoded once, and where the next one begins; nil if the escape is malformed.
  @inline(__always)
  static func decoded(_ path: Span<UInt8>, at index: Int) -> (byte: UInt8, next: Int)? {
    let byte = path[index]
    guard byte == UInt8(ascii: "%") else { return (byte, index + 1) }
    guard path.count - index > 2, let high = Hex.value(of: path[index + 1]),
      let low = Hex.value(of: path[index + 2])
    else { return nil }
    return (high << 4 | low, index + 3)
  }

  /// The character of the UTF-8 sequence at `index`, whose bytes are raw, percent-encoded or both, and where the next
  /// one begins; nil if it is malformed or ASCII.
  static func scalar(_ path: Span<UInt8>, at index: Int) -> (scalar: UInt32, next: Int)? {
    guard let (first, afterFirst) = decoded(path, at: index) else { return nil }
    let (count, lowest): (Int, UInt32)
    var scalar: UInt32
    switch first {
    case 0xC2...0xDF: (count, lowest, scalar) = (1, 0x80, UInt32(first & 0x1F))
    case 0xE0...0xEF: (count, lowest, scalar) = (2, 0x800, UInt32(first & 0x0F))
    case 0xF0...0xF4: (count, lowest, scalar) = (3, 0x1_0000, UInt32(first & 0x07))
    default: return nil
    }
    var end = afterFirst
    for _ in 0..<count {
      guard end < path.count, let (byte, next) = decoded(path, at: end), byte & 0xC0 == 0x80 else { return nil }
      scalar = scalar << 6 | UInt32(byte & 0x3F)
      end = next
    }
    guard scalar >= lowest, Unicode.Scalar(scalar) != nil else { return nil }
    return (scalar, end)
  }

  /// 0x21...0x3F without `# % ( + . / : ; ?`, and 0x40...0x7E without `\`; a test spells both out.
  private static let plainLow: UInt64 = 0x73FF_36D6_0000_0000
  private static let plainHigh: UInt64 = 0x7FFF_FFFF_EFFF_FFFF
}
