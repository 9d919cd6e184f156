/// A port in an authority or an address: one to five digits without leading zeros.
package enum Port {
  /// The number, 1 to 65535.
  /// - Parameter allowsZero: whether 0 is one too, as where a port is bound or only reported.
  package static func parse(_ digits: some Collection<UInt8>, allowsZero: Bool = false) -> UInt16? {
    guard let number = DecimalDigits.parse(canonical: digits, limit: 65_535), allowsZero || number > 0 else {
      return nil
    }
    return UInt16(number)
  }

  /// The number, 1 to 65535, that `bytes` has from `start` to its end. Without allocation.
  package static func parse(_ bytes: Span<UInt8>, from start: Int) -> UInt16? {
    let count = bytes.count - start
    guard (1...5).contains(count), bytes[start] != UInt8(ascii: "0") else { return nil }
    var number = 0
    for index in start..<bytes.count {
      guard bytes[index].isASCIIDigit else { return nil }
      number = number * 10 + Int(bytes[index] & 0x0F)
    }
    return UInt16(exactly: number)
  }
}
