/// Numbers in decimal digits, read digit by digit: `Int(_:)` would accept a sign.
package enum DecimalDigits {
  /// The value of 1 to 18 digits; nil for any other byte, and beyond `limit`. Leading zeros are allowed.
  package static func parse(_ digits: some Collection<UInt8>, limit: Int) -> Int? {
    guard !digits.isEmpty, digits.count <= 18, digits.allSatisfy(\.isASCIIDigit) else { return nil }
    // 18 digits always fit.
    let value = digits.reduce(0) { $0 * 10 + Int($1 & 0x0F) }
    return value <= limit ? value : nil
  }

  /// The same without leading zeros, so that each number has one form.
  package static func parse(canonical digits: some Collection<UInt8>, limit: Int) -> Int? {
    guard digits.count == 1 || digits.first != UInt8(ascii: "0") else { return nil }
    return parse(digits, limit: limit)
  }
}
