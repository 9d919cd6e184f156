internal import TLSTransport

/// Certificates or keys that could not take the place of the old ones.
package struct CertificateReloadFailure: Sendable, Equatable {
  /// The owner of the certificates: `listener NAME`, `upstream NAME` or `apple`.
  package let owner: String
  /// A constant word for the kind of failure.
  package let code: String
  /// The reason, with the remedy.
  package let reason: String
  /// Whether the same files are tried again, because they may be accepted later.
  package let isTransient: Bool

  init(of owner: String, _ error: TLSConfigurationError) {
    self.owner = owner
    code = error.code
    reason = error.message
    isTransient = error.isTransient
  }
}
