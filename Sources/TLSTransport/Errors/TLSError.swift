import COpenSSL

/// Failure of a TLS connection. Fired through the pipeline (`errorCaught`) once; apart from
/// ``uncleanShutdown`` and ``closedDuringHandshake`` (the connection is gone already) the handler then sends the
/// corresponding alert and closes. None of the texts contains data from a peer.
package enum TLSError: Error, Sendable, Equatable {
  /// The first bytes of the peer are not TLS; with `isHTTP`, they are a plain HTTP request.
  case notTLS(isHTTP: Bool)
  /// The peer does not speak TLS 1.2 or 1.3.
  case unsupportedVersion
  /// The two sides have no cipher suite, group, signature or application protocol in common.
  case noSharedParameters(reason: String)
  /// The peer's certificate did not verify.
  case verificationFailed(TLSVerificationFailure)
  /// The client shows no certificate, and this server requires one.
  case clientCertificateMissing
  /// The peer sent a fatal alert (RFC 8446, 6.2): its number, and its meaning.
  case refusedByPeer(alert: UInt8, reason: String)
  /// The peer broke the protocol: damaged records, messages out of order.
  case protocolViolation(reason: String)
  /// The peer ended the connection before the handshake was finished.
  case closedDuringHandshake
  /// The connection ended without the peer's close_notify (RFC 8446, 6.1): its data may have been truncated.
  /// Many clients leave like this when nothing is in flight; a body that ends with the connection is not whole.
  case uncleanShutdown
  /// The name to verify is empty or holds a byte that no host name has.
  case invalidServerName
  /// OpenSSL failed for a reason that the peer did not cause.
  case libraryFailure(reason: String)

  /// The party that has to act.
  package enum Fault: Sendable, Equatable {
    /// The other side: a certificate, a version or a message of its own. Nothing to repair here.
    case peer
    /// This process: its configuration or its library. Worth an error in the log.
    case us
  }

  /// The party that has to act.
  package var fault: Fault {
    switch self {
    case .notTLS, .unsupportedVersion, .noSharedParameters, .verificationFailed, .clientCertificateMissing,
      .refusedByPeer, .protocolViolation, .closedDuringHandshake, .uncleanShutdown:
      .peer
    case .invalidServerName, .libraryFailure: .us
    }
  }

  /// A constant word for logs and metrics.
  package var code: String {
    switch self {
    case .notTLS: "tls_not_tls"
    case .unsupportedVersion: "tls_unsupported_version"
    case .noSharedParameters: "tls_nothing_in_common"
    case .verificationFailed: "tls_verification_failed"
    case .clientCertificateMissing: "tls_client_certificate_missing"
    case .refusedByPeer: "tls_refused_by_peer"
    case .protocolViolation: "tls_protocol_violation"
    case .closedDuringHandshake: "tls_closed_during_handshake"
    case .uncleanShutdown: "tls_unclean_shutdown"
    case .invalidServerName: "tls_invalid_server_name"
    case .libraryFailure: "tls_library_failure"
    }
  }

  /// The failure, and its remedy.
  package var message: String {
    switch self {
    case .notTLS(isHTTP: true): "the peer speaks plain HTTP where TLS is spoken: use https:"
    case .notTLS(isHTTP: false): "the peer does not speak TLS: see that the address and port are those of a TLS server"
    case .unsupportedVersion: "the peer speaks neither TLS 1.2 nor TLS 1.3: update it"
    case .noSharedParameters(let reason):
      "the two sides have nothing in common (\(reason)): update the peer, or use a certificate with another kind of key"
    case .verificationFailed(let failure): failure.message
    case .clientCertificateMissing:
      "the client shows no certificate: give it one of an authority that is trusted for clients"
    case .refusedByPeer(_, let reason):
      "the peer refused the connection (\(reason)): see its log for the cause"
    case .protocolViolation(let reason):
      "the peer broke the TLS protocol (\(reason)): update it, or look for what changes the bytes on the way"
    case .closedDuringHandshake: "the peer closed the connection during the TLS handshake: see its log for the cause"
    case .uncleanShutdown: "the connection ended without TLS saying so: what was received may be cut off"
    case .invalidServerName: "the server's name is not a host name or IP address: correct the address"
    case .libraryFailure(let reason): "OpenSSL failed (\(reason)): look at memory and at the installation of libssl"
    }
  }
}

extension TLSError: CustomStringConvertible {
  package var description: String { "\(code): \(message)" }
}
