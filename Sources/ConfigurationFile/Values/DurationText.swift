import WebFormats

/// Durations: a whole number and a unit, `ms`, `s`, `m`, `h` or `d` (24 h).
enum DurationText {
  static func parse(_ text: String) throws(Diagnostic) -> Duration {
    do throws(DurationNotation.ParseError) {
      return try DurationNotation.parse(text)
    } catch {
      switch error {
      case .malformed:
        throw Diagnostic(
          "is not a duration", remedy: "write a whole number and one of the units ms, s, m, h, d, as in \"15s\"")
      case .tooLong: throw Diagnostic("is longer than a hundred years", remedy: "write a shorter duration")
      }
    }
  }

  /// Formats with the largest unit that divides it; days only from three on, because "24h" and "48h" are more usual.
  static func format(_ duration: Duration) -> String {
    let parts = duration.components
    let milliseconds = parts.seconds * 1_000 + parts.attoseconds / 1_000_000_000_000_000
    guard milliseconds != 0 else { return "0s" }
    let unit =
      DurationNotation.units.last {
        milliseconds % Int64($0.milliseconds) == 0 && ($0.suffix != "d" || milliseconds >= 3 * 86_400_000)
      } ?? ("ms", 1)
    return "\(milliseconds / Int64(unit.milliseconds))\(unit.suffix)"
  }
}
