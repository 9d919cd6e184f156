/// Hexadecimal digits (RFC 4648, 8).
@usableFromInline
package enum Hex {
  /// The value of one digit of either case. `UInt8(_:radix:)` would accept a sign.
  @inlinable @inline(__always)
  package static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// Whether the byte is a digit of lower case, as this gateway writes them.
  @inlinable @inline(__always)
  package static func isLowercaseDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 || byte &- 0x61 < 6 }

  /// The value of one or more digits; nil for any other byte, and for more digits than allowed.
  /// - Parameter maximumDigits: at most 15.
  package static func number(_ digits: some Collection<UInt8>, maximumDigits: Int) -> Int? {
    guard (1...min(maximumDigits, 15)).contains(digits.count) else { return nil }
    var number = 0
    for digit in digits {
      guard let value = value(of: digit) else { return nil }
      number = number << 4 | Int(value)
    }
    return number
  }

  /// The lower-case digit of a value; only the low four bits count.
  @inlinable @inline(__always)
  package static func digit(_ value: UInt8) -> UInt8 {
    let value = value & 0x0F
    return value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  /// The upper-case digit of a value; only the low four bits count.
  @inlinable @inline(__always)
  package static func uppercaseDigit(_ value: UInt8) -> UInt8 {
    let value = value & 0x0F
    return value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }

  /// Two lower-case digits for each byte.
  package static func text(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: bytes.flatMap { [digit($0 >> 4), digit($0)] }, as: UTF8.self)
  }
}

extension UInt32 {
  /// The eight lower-case hexadecimal digits of the number as the bytes of a word, the first in the highest place.
  @inlinable @inline(__always)
  package var hexadecimalDigits: UInt64 {
    // Spread the digits to one a byte, then add '0', and 39 more where the digit is ten or above.
    var word = UInt64(self)
    word = (word | word << 16) & 0x0000_FFFF_0000_FFFF
    word = (word | word << 8) & 0x00FF_00FF_00FF_00FF
    word = (word | word << 4) & 0x0F0F_0F0F_0F0F_0F0F
    let letters = ((word &+ 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101
    return word &+ 0x3030_3030_3030_3030 &+ letters &* 39
  }
}
