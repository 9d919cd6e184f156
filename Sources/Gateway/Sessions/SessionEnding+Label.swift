internal import Sessions

extension SessionEnding {
  /// The name in metrics and in the audit.
  var label: String {
    switch self {
    case .signedOut: "signed_out"
    case .replaced: "replaced"
    case .revoked: "revoked"
    case .consentRevoked: "consent_revoked"
    case .accountRemoved: "account_removed"
    case .byOperator: "by_operator"
    }
  }
}
