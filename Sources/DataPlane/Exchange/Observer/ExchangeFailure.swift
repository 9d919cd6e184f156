/// The reason why an exchange failed. A refusal that was answered is known by its status alone.
package enum ExchangeFailure: Sendable, Equatable {
  /// No connection to the upstream: refused, unreachable.
  case upstreamRefused
  /// The upstream's name was not found.
  case upstreamUnresolved
  /// No connection to the upstream in time.
  case upstreamConnectTimeout
  /// TLS with the upstream could not be established.
  case upstreamTLS
  /// The upstream did not respond in time, or stopped midway.
  case upstreamTimeout
  /// The upstream closed the connection before its response was whole.
  case upstreamClosed
  /// The upstream's response breaks the protocol.
  case upstreamMalformed
  /// As many connections to the upstream as there may be were in use.
  case upstreamFull
  /// There was no descriptor for a connection to the upstream.
  case noDescriptor
  /// The system had no local port or no memory for a connection to the upstream.
  case localShortage
  /// The client left before its response was whole.
  case clientLeft
  /// The gateway aborted it: too slow a client, a session that ended, the end of the process.
  case aborted

  /// Whether no connection to the upstream was established: each such failure is also reported by
  /// ``ExchangeObserver/upstreamConnectionFailed(_:)``.
  package var isOfConnecting: Bool {
    switch self {
    case .upstreamRefused, .upstreamUnresolved, .upstreamConnectTimeout, .upstreamTLS, .localShortage: true
    case .upstreamTimeout, .upstreamClosed, .upstreamMalformed, .upstreamFull, .noDescriptor, .clientLeft, .aborted:
      false
    }
  }
}

extension ExchangeFailure {
  /// The failure of an upstream, as the observer knows it.
  init(_ failure: UpstreamFailure) {
    switch failure {
    case .connect: self = .upstreamRefused
    case .unresolved: self = .upstreamUnresolved
    case .connectTimeout, .lookupTimeout: self = .upstreamConnectTimeout
    case .handshake: self = .upstreamTLS
    case .closedBeforeResponse, .notProcessed, .closedMidway: self = .upstreamClosed
    case .badResponse: self = .upstreamMalformed
    case .responseTimeout: self = .upstreamTimeout
    case .connectionLimit: self = .upstreamFull
    case .noDescriptor: self = .noDescriptor
    case .localShortage: self = .localShortage
    }
  }
}
