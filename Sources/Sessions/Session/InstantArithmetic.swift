package import FoundationEssentials

extension Date {
  /// This instant and a duration later (or earlier, for a negative one).
  package func advanced(by duration: Duration) -> Date { addingTimeInterval(duration.timeInterval) }

  /// The instant, or nil if it is a day or more ahead of `now`: a wrong clock wrote it, and it is ignored.
  package func credible(at now: Date) -> Date? { timeIntervalSince(now) < 86_400 ? self : nil }

  /// The later of the two that is credible, for clocks that differ a little.
  func orLater(_ stored: Date?) -> Date {
    guard let stored = stored?.credible(at: self), stored > self else { return self }
    return stored
  }

  /// Whole milliseconds since 1970, rounded down; the nearest possible for an instant beyond them. Stores keep instants
  /// to the millisecond.
  package var millisecondsSince1970: Int64 {
    let milliseconds = (timeIntervalSince1970 * 1_000).rounded(.down)
    return Int64(exactly: milliseconds) ?? (milliseconds < 0 ? .min : .max)
  }

  /// The instant so many milliseconds after the beginning of 1970.
  package init(millisecondsSince1970 milliseconds: Int64) {
    self.init(timeIntervalSince1970: TimeInterval(milliseconds) / 1_000)
  }

  /// The instant after rounding to its stored form.
  var asStored: Date { Date(millisecondsSince1970: millisecondsSince1970) }
}

extension Duration {
  /// In seconds.
  package var timeInterval: TimeInterval {
    let (seconds, attoseconds) = components
    return TimeInterval(seconds) + TimeInterval(attoseconds) * 1e-18
  }

  /// Whole milliseconds; the nearest possible for a duration beyond them.
  package var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
    if overflow { return seconds < 0 ? .min : .max }
    let (sum, overflowed) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    return overflowed ? (seconds < 0 ? .min : .max) : sum
  }
}
