import WebFormats

/// Sizes in bytes: a whole number and a unit, `B`, `KiB`, `MiB` or `GiB` (1,024 of the one before); `0` needs no unit.
enum SizeText {
  private static let units: [(suffix: String, bytes: Int)] = [
    ("B", 1), ("KiB", 1_024), ("MiB", 1_048_576), ("GiB", 1_073_741_824),
  ]

  /// One pebibyte: more is a mistake.
  static let limit = 1 << 50

  static func parse(_ text: String) throws(Diagnostic) -> Int {
    let bytes = Array(text.utf8)
    if bytes == [UInt8(ascii: "0")] { return 0 }
    let digits = bytes.prefix(while: \.isASCIIDigit)
    let unit = String(decoding: bytes[digits.count...], as: UTF8.self)
    guard !digits.isEmpty, let factor = units.first(where: { $0.suffix.utf8.elementsEqual(unit.utf8) })?.bytes else {
      throw Diagnostic(
        "is not a size", remedy: "write a whole number and one of the units B, KiB, MiB, GiB, as in \"32KiB\"")
    }
    guard let count = DecimalDigits.parse(digits, limit: limit / factor) else {
      throw Diagnostic("is more than a pebibyte", remedy: "write a smaller size")
    }
    return count * factor
  }

  /// The shortest form: the largest unit that divides it.
  static func format(_ bytes: Int) -> String {
    if bytes == 0 { return "0" }
    let unit = units.last { bytes % $0.bytes == 0 } ?? ("B", 1)
    return "\(bytes / unit.bytes)\(unit.suffix)"
  }
}
