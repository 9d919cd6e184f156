internal import FoundationEssentials

extension Date {
  /// Milliseconds since 1970, rounded to the nearest; a moment out of range is the nearest there is.
  var wallClock: Int64 { Int64(exactly: (timeIntervalSince1970 * 1_000).rounded()) ?? (self > .now ? .max : .min) }
}
