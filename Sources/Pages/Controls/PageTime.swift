internal import WebFormats

/// An instant as pages show it, in every language alike: `2026-11-22 23:05 UTC`.
package struct PageTime: Sendable, Equatable {
  /// Seconds since 1970.
  package let seconds: Int64

  /// - Parameter seconds: since 1970.
  package init(seconds: Int64) { self.seconds = seconds }

  /// `2026-11-22 23:05 UTC`.
  package var text: String {
    let (date, time) = parts
    return "\(date) \(time) UTC"
  }

  /// For `datetime`.
  var machineText: String {
    let (date, time) = parts
    return "\(date)T\(time)Z"
  }

  /// `2026-11-22` and `23:05`.
  private var parts: (date: String, time: String) {
    // Between the years 1 and 9999: what is beyond them is shown as the nearest.
    let seconds = min(max(self.seconds, -62_135_596_800), 253_402_300_799)
    let days = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
    let minutes = (seconds - days * 86_400) / 60
    let date = CivilDate(daysSince1970: days)
    return (
      "\(Self.padded(date.year, 4))-\(Self.padded(date.month, 2))-\(Self.padded(date.day, 2))",
      "\(Self.padded(minutes / 60, 2)):\(Self.padded(minutes % 60, 2))"
    )
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}
