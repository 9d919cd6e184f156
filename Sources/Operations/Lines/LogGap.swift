/// Lines that a ``LogSink`` has dropped.
struct LogGap: Sendable, Equatable {
  /// The time of the first of them.
  var since: Timestamp
  var bytes: UInt64
  var lines: UInt64

  mutating func merge(_ other: LogGap) {
    since = min(since, other.since)
    bytes &+= other.bytes
    lines &+= other.lines
  }
}
