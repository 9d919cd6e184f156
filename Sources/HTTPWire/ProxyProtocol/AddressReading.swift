/// IP addresses as text, read digit by digit: dotted quads without leading zeros, and IPv6 as in RFC 4291 2.2, without
/// zones and brackets.
package enum AddressReading {
  /// The four bytes of a dotted quad.
  package static func ipv4(_ bytes: RawSpan, _ range: Range<Int>) -> [UInt8]? {
    var octets: [UInt8] = []
    var start = range.lowerBound
    for offset in range.lowerBound...range.upperBound
    where offset == range.upperBound || bytes.byte(at: offset) == 0x2E {
      guard octets.count < 4, let number = decimal(bytes, start..<offset, digits: 3), number <= 255 else { return nil }
      octets.append(UInt8(number))
      start = offset + 1
    }
    return octets.count == 4 ? octets : nil
  }

  /// The sixteen bytes of an IPv6 address.
  package static func ipv6(_ bytes: RawSpan, _ range: Range<Int>) -> [UInt8]? {
    var address: [UInt8] = []
    /// Where `::` stands in `address`.
    var gap: Int?
    var at = range.lowerBound
    if range.count >= 2, bytes.equals("::", at..<at + 2) {
      gap = 0
      at += 2
    }
    while at < range.upperBound {
      var end = at
      while end < range.upperBound, bytes.byte(at: end) != 0x3A { end += 1 }
      if end == range.upperBound, let tail = ipv4(bytes, at..<end) {
        address += tail
        at = end
        break
      }
      guard address.count < 16, let group = hexadecimal(bytes, at..<end) else { return nil }
      address += [UInt8(group >> 8), UInt8(group & 0xFF)]
      guard end < range.upperBound else { break }
      at = end + 1
      // A single colon at the end leads to nothing.
      guard at < range.upperBound else { return nil }
      if bytes.byte(at: at) == 0x3A {
        guard gap == nil else { return nil }
        gap = address.count
        at += 1
      }
    }
    guard let gap else { return address.count == 16 ? address : nil }
    // `::` stands for one group at least.
    guard address.count <= 14 else { return nil }
    return address[..<gap] + Array(repeating: 0, count: 16 - address.count) + address[gap...]
  }

  /// An IPv4 address in its IPv4-mapped form.
  package static func mapped(_ ipv4: [UInt8]) -> [UInt8] { Array(repeating: 0, count: 10) + [0xFF, 0xFF] + ipv4 }

  /// A number of one to `digits` digits without leading zeros.
  static func decimal(_ bytes: RawSpan, _ range: Range<Int>, digits: Int) -> Int? {
    guard !range.isEmpty, range.count <= digits, range.count == 1 || bytes.byte(at: range.lowerBound) != 0x30 else {
      return nil
    }
    var number = 0
    for offset in range {
      let digit = bytes.byte(at: offset) &- 0x30
      guard digit < 10 else { return nil }
      number = number * 10 + Int(digit)
    }
    return number
  }

  private static func hexadecimal(_ bytes: RawSpan, _ range: Range<Int>) -> Int? {
    guard !range.isEmpty, range.count <= 4 else { return nil }
    var number = 0
    for offset in range {
      let byte = bytes.byte(at: offset)
      switch byte {
      case 0x30...0x39: number = number << 4 | Int(byte - 0x30)
      case 0x41...0x46, 0x61...0x66: number = number << 4 | Int((byte | 0x20) - 0x61 + 10)
      default: return nil
      }
    }
    return number
  }
}
