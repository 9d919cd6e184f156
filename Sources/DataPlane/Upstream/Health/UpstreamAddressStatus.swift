/// State of one upstream address, for the status page and metrics.
package struct UpstreamAddressStatus: Sendable, Equatable {
  /// The upstream's name.
  package var upstream: String
  /// As the configuration writes it.
  package var address: String
  /// Whether some event loop has ejected it, and none has had an answer since.
  package var isEjected: Bool
  /// Whether a request, or a check, was ever answered.
  package var hasAnswered: Bool
  /// Whether its checks fail; false where nothing checks.
  package var failsChecks: Bool
  /// The reason why the last of them failed; nil where none does.
  package var checkFailure: String?
  /// Number of its ejections.
  package var ejections: Int
  /// Requests that could not be sent to it, or were not answered, or not in HTTP.
  package var failures: Int
  /// Those of them that were answered, but not in HTTP.
  package var malformed: Int
  /// Whether the last failure was one of those.
  package var lastFailureWasMalformed: Bool
  /// Requests that wait for one of the connections that there may be.
  package var waiting: Int

  /// Whether requests go there as usual.
  package var isHealthy: Bool { !isEjected && !failsChecks }
}
