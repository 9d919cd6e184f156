/// Durations as people write them: a whole number and a unit, `ms`, `s`, `m`, `h` or `d` (24 h).
package enum DurationNotation {
  /// The units, smallest first, in milliseconds.
  package static let units: [(suffix: String, milliseconds: Int)] = [
    ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
  ]

  /// The largest accepted duration: a hundred years, in milliseconds.
  private static let limit = 100 * 365 * 86_400_000

  /// A text that is not a duration.
  package enum ParseError: Error, Sendable, Equatable {
    /// Not a whole number followed by one of the ``units``.
    case malformed
    /// Longer than a hundred years.
    case tooLong
  }

  /// Parses a duration.
  package static func parse(_ text: String) throws(ParseError) -> Duration {
    let bytes = Array(text.utf8)
    let digits = bytes.prefix(while: \.isASCIIDigit)
    let unit = bytes[digits.count...]
    guard !digits.isEmpty, let factor = units.first(where: { $0.suffix.utf8.elementsEqual(unit) })?.milliseconds else {
      throw .malformed
    }
    guard let count = DecimalDigits.parse(digits, limit: limit / factor) else { throw .tooLong }
    return .milliseconds(count * factor)
  }
}
