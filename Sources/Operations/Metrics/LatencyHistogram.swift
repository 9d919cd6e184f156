/// Counts durations of one event loop in fixed buckets, without a lock and without allocation. Any thread may read
/// them.
struct LatencyHistogram: ~Copyable, Sendable {
  /// One counter for each bound, and one for longer durations.
  private let counts = InlineArray<15, LoopCounter> { _ in LoopCounter() }
  private let sum = LoopCounter()

  /// Upper bounds of the exposed buckets, in seconds.
  static let bounds: [Double] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

  func record(nanoseconds: UInt64) {
    counts[Self.bucket(of: nanoseconds)].add()
    sum.add(nanoseconds)
  }

  /// Adds what was counted so far to a snapshot. Counters are read one after the other: concurrent recordings may
  /// appear in some of them; no counter ever decreases.
  func add(to snapshot: inout HistogramSnapshot) {
    for index in 0..<15 { snapshot.counts[index] &+= counts[index].total }
    snapshot.sumSeconds += Double(sum.total) / 1e9
  }

  static var emptySnapshot: HistogramSnapshot { HistogramSnapshot(bounds: bounds) }

  /// The bucket of a duration, by a chain of comparisons, which is faster than a table.
  private static func bucket(of nanoseconds: UInt64) -> Int {
    switch nanoseconds {
    case ...500_000: 0
    case ...1_000_000: 1
    case ...2_500_000: 2
    case ...5_000_000: 3
    case ...10_000_000: 4
    case ...25_000_000: 5
    case ...50_000_000: 6
    case ...100_000_000: 7
    case ...250_000_000: 8
    case ...500_000_000: 9
    case ...1_000_000_000: 10
    case ...2_500_000_000: 11
    case ...5_000_000_000: 12
    case ...10_000_000_000: 13
    default: 14
    }
  }
}

/// The content of a histogram at one moment.
package struct HistogramSnapshot: Sendable, Equatable {
  /// Upper bounds in seconds, ascending; the last bucket, which has none, is not listed.
  package let bounds: [Double]
  /// Observations of each bucket alone (not cumulative), the unbounded one last.
  package internal(set) var counts: [UInt64]
  /// Sum of all observations, in seconds.
  package internal(set) var sumSeconds: Double = 0

  init(bounds: [Double]) {
    self.bounds = bounds
    counts = [UInt64](repeating: 0, count: bounds.count + 1)
  }

  /// Observations in all buckets.
  package var count: UInt64 { counts.reduce(0, &+) }
}
