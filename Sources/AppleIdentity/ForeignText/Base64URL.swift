internal import FoundationEssentials

/// Base64url without padding (RFC 4648 5, RFC 7515 2), read strictly: one text for each sequence of bytes.
enum Base64URL {
  static func encode(_ bytes: some Sequence<UInt8>) -> String {
    let standard = Data(bytes).base64EncodedString()
    var text: [UInt8] = []
    text.reserveCapacity(standard.utf8.count)
    for byte in standard.utf8 {
      switch byte {
      case UInt8(ascii: "+"): text.append(UInt8(ascii: "-"))
      case UInt8(ascii: "/"): text.append(UInt8(ascii: "_"))
      case UInt8(ascii: "="): break
      default: text.append(byte)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// `nil` for padding, for characters of the other alphabet, for a length that no bytes have, and for stray bits at
  /// the end.
  static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3 + 2)
    var bits: UInt32 = 0
    var count = 0
    for byte in text {
      guard let value = value(of: byte) else { return nil }
      bits = bits << 6 | UInt32(value)
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        bits &= (1 << UInt32(count)) - 1
      }
    }
    guard count < 6, bits == 0 else { return nil }
    return bytes
  }

  private static func value(of byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
