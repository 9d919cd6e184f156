internal import Synchronization

/// Bounds what callers without a right can write into the audit: so many lines a minute, and with the first of the next
/// how many were left out. Each refusal is counted in the metrics all the same.
final class RefusalAudit: Sendable {
  private let state = Mutex(State())

  private struct State {
    /// The start of the minute, in milliseconds since 1970.
    var began: Int64 = .min
    var told = 0
    var omitted = 0
  }

  /// Most lines in a minute.
  static let limit = 10
  private static let period: Int64 = 60_000

  /// A caller is refused.
  /// - Parameter now: in milliseconds since 1970.
  /// - Returns: nil if it is not to be recorded; otherwise how many were omitted since the last record.
  func refused(at now: Int64) -> Int? {
    state.withLock { state in
      let (age, overflow) = now.subtractingReportingOverflow(state.began)
      // A clock that was set back starts a minute, too.
      if overflow || age < 0 || age >= Self.period {
        state.began = now
        state.told = 0
      }
      guard state.told < Self.limit else {
        state.omitted += 1
        return nil
      }
      state.told += 1
      defer { state.omitted = 0 }
      return state.omitted
    }
  }
}
