import WebFormats

/// Values without quotation marks and brackets: `true`, `42`, `-1.5e3`, `2026-11-21`.
enum BareValue {
  /// Whether the value can be passed to the parser: it looks like a Boolean, a number or a date. Times are refused,
  /// because no key takes one and the parser asserts on some invalid ones. The parser reports empty values.
  static func isPlausible(_ bytes: ArraySlice<UInt8>) -> Bool {
    var value = bytes
    while let last = value.last, last == UInt8(ascii: " ") || last == 0x09 || last == 0x0D { value = value.dropLast() }
    guard let first = value.first else { return true }
    if words.contains(where: { value.elementsEqual($0.utf8) }) || isDate(value) { return true }
    guard first.isASCIIDigit || first == UInt8(ascii: "+") || first == UInt8(ascii: "-") else { return false }
    var previous = first
    for byte in value.dropFirst() {
      switch byte {
      case UInt8(ascii: "+"), UInt8(ascii: "-"):
        // A sign precedes the number or its exponent.
        guard previous.asciiLowercased == UInt8(ascii: "e") else { return false }
      case UInt8(ascii: "_"), UInt8(ascii: "."): break
      default: guard byte.isASCIIDigit || byte.isASCIILetter else { return false }
      }
      previous = byte
    }
    return true
  }

  /// The description of an implausible value.
  static func problem(with bytes: ArraySlice<UInt8>) -> String {
    var value = bytes
    while let last = value.last, last == UInt8(ascii: " ") || last == 0x09 || last == 0x0D { value = value.dropLast() }
    // U+2018 to U+201F.
    if value.starts(with: [0xE2, 0x80]), (0x98...0x9F).contains(value.dropFirst(2).first ?? 0) {
      return "these are typographic quotation marks, which TOML does not know"
    }
    if let last = value.last, last == UInt8(ascii: "\"") || last == UInt8(ascii: "'") {
      return "this text has no opening quotation mark"
    }
    let word = value.map(\.asciiLowercased)
    if ["true", "false", "yes", "no", "on", "off"].contains(where: { word.elementsEqual($0.utf8) }) {
      return "this is not a Boolean, which is true or false in lower case"
    }
    return "this is neither a number nor a text in quotation marks"
  }

  private static let words = ["true", "false", "inf", "nan"]

  private static func isDate(_ value: ArraySlice<UInt8>) -> Bool {
    value.count == 10
      && value.enumerated().allSatisfy { index, byte in
        index == 4 || index == 7 ? byte == UInt8(ascii: "-") : byte.isASCIIDigit
      }
  }
}
