internal import DataPlane
internal import Logging
internal import Operations

/// Logs the failed TLS handshakes of clients that an operator can act on: at most one a minute for each reason, for the
/// whole process. All are counted by `cordon_client_handshake_failures_total`.
///
/// Warnings are for what strangers rarely cause. Port scanners speak plain HTTP, old versions and show no certificate,
/// at any public port: that is information.
final class HandshakeFailureLog: Sendable {
  private let limit = LogLimit()
  private let logger: Logger

  init(_ logger: Logger) { self.logger = logger }

  /// Logs that the handshake of the client at this address failed.
  func write(_ failure: HandshakeFailure, of client: String, at now: Duration? = nil) {
    guard limit.isDue(failure.counted.label, at: now) else { return }
    func metadata(_ reason: String? = nil, remedy: String) -> Logger.Metadata {
      var metadata: Logger.Metadata = ["peer": "\(client)", "remedy": "\(remedy)"]
      if let reason { metadata["reason"] = "\(reason)" }
      return metadata
    }
    switch failure {
    case .certificateRejected(let alert):
      logger.warning(
        "a client does not accept the certificate of the listener",
        metadata: metadata(
          alert,
          remedy: "see that the certificate is valid, that its file has the whole chain (cordon doctor), and that the "
            + "client trusts its CA"))
    case .clientCertificateRefused(let problem):
      logger.warning(
        "refused a client certificate",
        metadata: metadata(
          problem,
          remedy: "give the client a valid certificate, and name the CA that issued it in tls_client_ca_file"))
    case .clientCertificateMissing:
      logger.info(
        "refused a client without a certificate",
        metadata: metadata(
          remedy: "give it one of a CA in tls_client_ca_file, or set tls_client_certificate to \"optional\""))
    case .noSharedParameters(let reason):
      logger.info(
        "TLS handshake failed, client and listener have nothing in common",
        metadata: metadata(
          reason,
          remedy: "update the client, offer a protocol that it knows (protocols), or add a certificate with another "
            + "kind of key"))
    case .unsupportedVersion:
      logger.info(
        "TLS handshake failed, the client speaks neither TLS 1.2 nor TLS 1.3",
        metadata: metadata(remedy: "update the client"))
    case .plainHTTP:
      logger.info(
        "plain HTTP on a TLS port", metadata: metadata(remedy: "let the client or proxy use https for this port"))
    case .notTLS, .refusedByClient, .closed, .timedOut, .protocolViolation, .libraryFailure: break
    }
  }
}
