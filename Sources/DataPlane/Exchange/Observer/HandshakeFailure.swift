/// The reason why the TLS handshake of a client failed.
package enum HandshakeFailure: Sendable, Equatable {
  /// The client speaks plain HTTP.
  case plainHTTP
  /// The client speaks something else that is not TLS.
  case notTLS
  /// The client speaks neither TLS 1.2 nor TLS 1.3.
  case unsupportedVersion
  /// Client and listener have no cipher suite, group, signature or application protocol in common: OpenSSL's reason.
  case noSharedParameters(String)
  /// The client shows no certificate, and the listener requires one.
  case clientCertificateMissing
  /// The client's certificate does not verify: the problem.
  case clientCertificateRefused(String)
  /// The client does not accept the listener's certificate: the name of its alert (RFC 8446, 6.2).
  case certificateRejected(alert: String)
  /// The client ended the handshake by an alert that does not say more.
  case refusedByClient
  /// The client closed the connection.
  case closed
  /// The handshake took too long.
  case timedOut
  /// The client broke the protocol.
  case protocolViolation
  /// OpenSSL failed.
  case libraryFailure
}
