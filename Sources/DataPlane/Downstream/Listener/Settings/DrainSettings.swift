/// Graceful shutdown (`[shutdown]` of the configuration).
package struct DrainSettings: Sendable, Equatable {
  /// The time in which requests are still accepted while `/readyz` already answers 503: a balancer needs some seconds.
  /// Default: 0 s.
  package var delay: Duration = .zero
  /// Time that exchanges in flight may then take before they are aborted. Default: 25 s.
  package var limit: Duration = .seconds(25)

  /// The defaults: no delay, 25 s for exchanges in flight.
  package init() {}
}
