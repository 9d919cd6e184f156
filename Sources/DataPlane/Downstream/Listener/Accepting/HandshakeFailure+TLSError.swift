internal import TLSTransport

extension HandshakeFailure {
  /// The meaning of an error of a connection whose handshake is not complete.
  init(_ error: TLSError) {
    switch error {
    case .notTLS(isHTTP: true): self = .plainHTTP
    case .notTLS(isHTTP: false): self = .notTLS
    case .unsupportedVersion: self = .unsupportedVersion
    case .noSharedParameters(let reason): self = .noSharedParameters(reason)
    case .verificationFailed(let failure): self = .clientCertificateRefused(failure.problem)
    case .clientCertificateMissing: self = .clientCertificateMissing
    case .refusedByPeer(let alert, _):
      if let name = Self.certificateAlerts[alert] {
        self = .certificateRejected(alert: name)
      } else {
        self = .refusedByClient
      }
    case .closedDuringHandshake, .uncleanShutdown: self = .closed
    case .protocolViolation: self = .protocolViolation
    case .invalidServerName, .libraryFailure: self = .libraryFailure
    }
  }

  /// The alerts about the certificate of the peer (RFC 8446, 6.2). Others, such as handshake_failure, can have any
  /// cause.
  private static let certificateAlerts: [UInt8: String] = [
    42: "bad_certificate", 43: "unsupported_certificate", 44: "certificate_revoked", 45: "certificate_expired",
    46: "certificate_unknown", 48: "unknown_ca",
  ]
}
