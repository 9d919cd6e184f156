/// Limits the warnings about denied `verify` requests to one a minute for each reason, for the whole process: clients
/// can cause some of them, and must not hide the one that says what is wrong with the proxy.
final class VerifyWarnings: Sendable {
  /// In the order of the reasons.
  private let intervals = OriginalRequest.AmbiguityError.allCases.map { _ in WarningInterval() }

  /// Whether a warning for this reason may be written now; if so, it counts as written.
  func isDue(_ reason: OriginalRequest.AmbiguityError) -> Bool { intervals[reason.rawValue].isDue() }
}
