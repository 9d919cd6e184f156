/// Certificates or keys that could not take the place of the old ones.
package struct CertificateReloadFailure: Sendable, Equatable {
  /// Whose they are: `listener NAME` or `upstream NAME`.
  package let owner: String
  /// A constant word.
  package let code: String
  /// What is wrong, and what to do.
  package let reason: String

  init(of owner: String, code: String, reason: String) {
    self.owner = owner
    self.code = code
    self.reason = reason
  }
}
