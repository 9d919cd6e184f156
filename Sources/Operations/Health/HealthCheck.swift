/// The state of one dependency of the gateway: the store, the upstream, Apple, a certificate.
package struct HealthCheck: Sendable, Equatable {
  /// A short constant: `store`, `upstream`, `apple`.
  package var name: String
  package var status: Status
  /// The problem and its remedy, if there is one. It is shown without a token and must contain no secrets.
  package var message: String?
  /// Since when the status is what it is; nil where it was never looked at.
  package var since: Timestamp?
  /// The effect of a failure on the probes.
  package var effect: Effect

  package init(
    name: String, status: Status, message: String? = nil, since: Timestamp? = nil, effect: Effect = .informs
  ) {
    self.name = name
    self.status = status
    self.message = message
    self.since = since
    self.effect = effect
  }

  package enum Status: String, Sendable {
    case ok, failing
    /// Not looked at yet.
    case unknown
  }

  /// The effect of a failure on the probes.
  package enum Effect: Sendable {
    /// It is reported, and changes nothing: signed-in users are served while Apple is unreachable, and while the store
    /// is, for the outage grace.
    case informs
    /// The gateway takes no requests while it fails or is not known: `/readyz` answers 503.
    case gatesReadiness
    /// The process cannot recover by itself: `/livez` answers 503 and the orchestrator starts another.
    case gatesLiveness
  }
}
