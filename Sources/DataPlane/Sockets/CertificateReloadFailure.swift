/// Certificates or keys that could not take the place of the old ones.
package struct CertificateReloadFailure: Sendable, Equatable {
  /// The owner of the certificates: `listener NAME` or `upstream NAME`.
  package let owner: String
  /// A constant word.
  package let code: String
  /// The reason, with the remedy.
  package let reason: String

  init(of owner: String, code: String, reason: String) {
    self.owner = owner
    self.code = code
    self.reason = reason
  }
}
