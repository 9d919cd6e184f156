/// The state of one dependency of the gateway: the store, the upstream, Apple, a certificate.
package struct HealthCheck: Sendable, Equatable {
  /// A short constant: `store`, `upstream`, `apple`.
  package var name: String
  /// The result of the last check.
  package var status: Status
  /// The problem and its remedy, if there is one. It is shown without a token and must contain no secrets.
  package var message: String?
  /// The time of the last change of the status; nil before the first check.
  package var since: Timestamp?
  /// The effect of a failure on the probes.
  package var effect: Effect

  /// Creates a check, which informs unless it says otherwise.
  package init(
    name: String, status: Status, message: String? = nil, since: Timestamp? = nil, effect: Effect = .informs
  ) {
    self.name = name
    self.status = status
    self.message = message
    self.since = since
    self.effect = effect
  }

  /// The result of a check.
  package enum Status: String, Sendable {
    /// The last check succeeded.
    case ok
    /// The last check did not succeed.
    case failing
    /// Not checked yet.
    case unknown
  }

  /// The effect of a failure on the probes.
  package enum Effect: Sendable {
    /// Reported only: signed-in users are served while Apple is unreachable, and during the outage grace also while the
    /// store is.
    case informs
    /// The gateway is not ready while it fails or is unknown: `/readyz` answers 503.
    case gatesReadiness
    /// The gateway is neither ready nor live while it fails: `/livez` answers 503, too, because only a restart helps.
    case gatesLiveness
  }
}
