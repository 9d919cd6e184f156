internal import Synchronization

/// Rate limit for the audit of unauthorized callers: a number of lines a minute; the first line of the next minute has
/// the number of omitted ones. Metrics count every refusal.
final class RefusalAudit: Sendable {
  private let state = Mutex(State())

  private struct State {
    /// The start of the minute, in milliseconds since 1970.
    var began: Int64 = .min
    var recorded = 0
    var omitted = 0
  }

  /// The largest number of lines in a minute.
  static let limit = 10
  private static let period: Int64 = 60_000

  /// Notes the refusal of a caller.
  /// - Parameter now: in milliseconds since 1970.
  /// - Returns: nil if it is not to be recorded; otherwise how many were omitted since the last record.
  func refused(at now: Int64) -> Int? {
    state.withLock { state in
      let (age, overflow) = now.subtractingReportingOverflow(state.began)
      // A clock that was set back starts a new minute, too.
      if overflow || age < 0 || age >= Self.period {
        state.began = now
        state.recorded = 0
      }
      guard state.recorded < Self.limit else {
        state.omitted += 1
        return nil
      }
      state.recorded += 1
      defer { state.omitted = 0 }
      return state.omitted
    }
  }
}
