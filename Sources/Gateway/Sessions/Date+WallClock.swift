internal import FoundationEssentials

extension Date {
  /// Milliseconds since 1970; a moment out of range is the nearest there is.
  var wallClock: Int64 { Int64(exactly: (timeIntervalSince1970 * 1_000).rounded()) ?? (self > .now ? .max : .min) }

  init(wallClock milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}

extension Duration {
  /// Whole milliseconds.
  var wallClock: Int64 {
    let (seconds, overflow) = components.seconds.multipliedReportingOverflow(by: 1_000)
    return overflow ? .max / 4 : seconds + components.attoseconds / 1_000_000_000_000_000
  }
}
