import WebFormats

/// Durations: a whole number and a unit, `ms`, `s`, `m`, `h` or `d` (24 h).
enum DurationText {
  private static let units: [(suffix: String, milliseconds: Int)] = [
    ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
  ]

  /// Milliseconds of a hundred years: more is a mistake.
  private static let limit = 100 * 365 * 86_400_000

  static func parse(_ text: String) throws(Diagnostic) -> Duration {
    let bytes = Array(text.utf8)
    let digits = bytes.prefix(while: \.isASCIIDigit)
    let unit = String(decoding: bytes[digits.count...], as: UTF8.self)
    guard !digits.isEmpty, let factor = units.first(where: { $0.suffix.utf8.elementsEqual(unit.utf8) })?.milliseconds
    else {
      throw Diagnostic(
        "is no duration", remedy: "write a whole number and one of the units ms, s, m, h, d, as in \"15s\"")
    }
    guard let count = DecimalDigits.parse(digits, limit: limit / factor) else {
      throw Diagnostic("is longer than a hundred years", remedy: "write a shorter duration")
    }
    return .milliseconds(count * factor)
  }

  /// With the largest unit that divides it; days from three on, because "24h" and "48h" are how one says those.
  static func format(_ duration: Duration) -> String {
    let parts = duration.components
    let milliseconds = parts.seconds * 1_000 + parts.attoseconds / 1_000_000_000_000_000
    guard milliseconds != 0 else { return "0s" }
    let unit =
      units.last {
        milliseconds % Int64($0.milliseconds) == 0 && ($0.suffix != "d" || milliseconds >= 3 * 86_400_000)
      } ?? ("ms", 1)
    return "\(milliseconds / Int64(unit.milliseconds))\(unit.suffix)"
  }
}
