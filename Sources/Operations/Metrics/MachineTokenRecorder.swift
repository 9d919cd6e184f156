/// Counts the requests of one event loop that carry a machine token, by their outcome.
///
/// Called on that loop only; the registry sums the recorders of all loops.
package final class MachineTokenRecorder: Sendable {
  /// By ``Outcome``.
  private let counts = InlineArray<7, LoopCounter> { _ in LoopCounter() }

  static let name = "cordon_token_requests_total"
  static let help = "Requests that carried a machine token, by outcome."

  init() {}

  /// The outcome of a request that carries a machine token. The set is fixed, so that clients cannot create time
  /// series.
  package enum Outcome: Int, Sendable, CaseIterable {
    /// It was admitted.
    case admitted
    /// It passed a public route, without an identity.
    case ignored
    /// Its route accepts no tokens.
    case notAccepted
    /// Several `Authorization` fields, or one that is not exactly a token.
    case malformed
    /// Not a token of this store, or expired or revoked.
    case unknown
    /// The rules of its route do not admit the token's group.
    case forbidden
    /// The session store had to be asked, and was unavailable.
    case unavailable

    /// The label's value.
    package var label: String {
      switch self {
      case .admitted: "admitted"
      case .ignored: "ignored"
      case .notAccepted: "not_accepted"
      case .malformed: "malformed"
      case .unknown: "unknown"
      case .forbidden: "forbidden"
      case .unavailable: "unavailable"
      }
    }
  }

  /// Counts a request.
  package func count(_ outcome: Outcome) { counts[outcome.rawValue].add() }

  /// The requests with this outcome so far.
  package func total(_ outcome: Outcome) -> UInt64 { counts[outcome.rawValue].total }
}
