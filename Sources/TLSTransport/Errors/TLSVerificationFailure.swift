import COpenSSL

/// Reason why a peer's certificate did not verify.
package enum TLSVerificationFailure: Sendable, Equatable {
  /// A certificate of the chain has expired.
  case expired
  /// A certificate of the chain is not valid yet.
  case notYetValid
  /// The certificate is for other host names or addresses.
  case hostNameMismatch
  /// No trusted authority issued the chain.
  case unknownIssuer
  /// The certificate, or the root of the chain, is self-signed and not trusted.
  case selfSigned
  /// A certificate of the chain was revoked.
  case revoked
  /// Anything else: OpenSSL's `X509_V_ERR_…` code and its words.
  case other(code: Int, reason: String)

  init(code: Int) {
    switch Int32(truncatingIfNeeded: code) {
    case X509_V_ERR_CERT_HAS_EXPIRED: self = .expired
    case X509_V_ERR_CERT_NOT_YET_VALID: self = .notYetValid
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: self = .hostNameMismatch
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
      X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      self = .unknownIssuer
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN: self = .selfSigned
    case X509_V_ERR_CERT_REVOKED: self = .revoked
    default: self = .other(code: code, reason: String(cString: X509_verify_cert_error_string(code)))
    }
  }

  /// The problem, of a server's certificate or a client's.
  package var problem: String {
    switch self {
    case .expired: "the certificate, or one of its chain, has expired"
    case .notYetValid: "the certificate, or one of its chain, is not valid yet"
    case .hostNameMismatch: "the certificate is for another name"
    case .unknownIssuer: "no trusted authority issued it, or the peer left out an intermediate certificate"
    case .selfSigned: "the certificate, or the root of its chain, is self-signed and not trusted"
    case .revoked: "the certificate was revoked"
    case .other(_, let reason): reason
    }
  }

  /// The problem with a server's certificate, and its remedy.
  package var message: String {
    switch self {
    case .expired:
      "the server's certificate has expired: renew it there, and see that the clock here is right"
    case .notYetValid:
      "the server's certificate is not valid yet: see that the clocks here and there are right"
    case .hostNameMismatch:
      "the server's certificate is for another name: use a name that it lists as subject alternative name, "
        + "or give the server a certificate that lists this one"
    case .unknownIssuer:
      "the server's certificate comes from an authority that is not trusted here: install the package "
        + "ca-certificates, or name the authority's certificate as trusted; the server may also have left out an "
        + "intermediate certificate"
    case .selfSigned:
      "the server's certificate is self-signed: name it (or its root) as trusted if that is meant"
    case .revoked:
      "the server's certificate was revoked: it needs a new one"
    case .other(_, let reason):
      "the server's certificate is not acceptable (\(reason)): it needs another one"
    }
  }
}
