/// Graceful shutdown (`[shutdown]` of the configuration).
package struct DrainSettings: Sendable, Equatable {
  /// How long requests are taken as before, while `/readyz` says 503 already: a balancer needs some seconds to notice.
  /// Default: 0 s.
  package var delay: Duration = .zero
  /// Time that exchanges in flight may then take before they are aborted. Default: 25 s.
  package var limit: Duration = .seconds(25)

  package init() {}
}
