/// Judgements of single bytes.
extension UInt8 {
  var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
  var isLowercaseLetter: Bool { self >= UInt8(ascii: "a") && self <= UInt8(ascii: "z") }
  var isUppercaseLetter: Bool { self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") }
  var isLetter: Bool { isLowercaseLetter || isUppercaseLetter }

  /// `tchar` of RFC 9110 5.6.2.
  var isToken: Bool { isDigit || isLetter || "!#$%&'*+-.^_`|~".utf8.contains(self) }

  /// `unreserved` of RFC 3986 2.3.
  var isUnreserved: Bool { isDigit || isLetter || "-._~".utf8.contains(self) }

  /// ASCII lower case.
  var folded: UInt8 { isUppercaseLetter ? self + 0x20 : self }
}

/// Numbers from text, digit by digit.
enum DecimalDigits {
  /// The number; nil for no digits, anything but digits, or more than `limit`.
  static func parse(_ digits: some Collection<UInt8>, limit: Int) -> Int? {
    guard !digits.isEmpty, digits.count <= 18, digits.allSatisfy(\.isDigit) else { return nil }
    // 18 digits always fit.
    let value = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    return value <= limit ? value : nil
  }
}
