internal import NIOCore
internal import Synchronization

/// Limits a kind of warning to one a minute, on all event loops together.
final class WarningInterval: Sendable {
  private let last = Atomic<UInt64>(0)

  private static let nanoseconds: UInt64 = 60_000_000_000

  /// Whether a warning may be written now; if so, it counts as written.
  func isDue(at now: NIODeadline = .now()) -> Bool {
    let now = max(1, now.uptimeNanoseconds)
    let last = last.load(ordering: .relaxed)
    guard last == 0 || now > last && now - last >= Self.nanoseconds else { return false }
    return self.last.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
  }
}
