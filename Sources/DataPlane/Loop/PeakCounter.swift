internal import Synchronization

/// A count that several event loops change, and the most that it has been.
struct PeakCounter: ~Copyable, Sendable {
  private let count = Atomic<Int>(0)
  private let peak = Atomic<Int>(0)

  var value: Int { count.load(ordering: .relaxed) }

  func change(by difference: Int) {
    let now = count.add(difference, ordering: .relaxed).newValue
    if now > peak.load(ordering: .relaxed) { peak.store(now, ordering: .relaxed) }
  }

  /// The amount by which the peak exceeds the present count.
  var decline: Int { peak.load(ordering: .relaxed) - value }

  /// Looks for a peak from the present count on.
  func restartPeak() { peak.store(value, ordering: .relaxed) }
}
