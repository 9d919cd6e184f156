import COpenSSL

extension TLSError {
  /// The meaning of a failed call, from the error queue of OpenSSL (oldest first).
  ///
  /// - Parameter verifyResult: the result of `SSL_get_verify_result` for the peer's certificate.
  init(queue: [OpenSSLError], verifyResult: Int) {
    guard let first = queue.first(where: { $0.library == ERR_LIB_SSL }) else {
      // A failure below the SSL layer, in what the peer sent (a certificate that cannot be read) or here.
      if let other = queue.first {
        self =
          other.library == ERR_LIB_ASN1 || other.library == ERR_LIB_X509 || other.library == ERR_LIB_EC
          ? .protocolViolation(reason: other.text) : .libraryFailure(reason: other.text)
      } else {
        self = .libraryFailure(reason: "no reason given")
      }
      return
    }
    switch first.reason {
    case SSL_R_CERTIFICATE_VERIFY_FAILED where verifyResult != Int(X509_V_OK):
      self = .verificationFailed(TLSVerificationFailure(code: verifyResult))
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
      self = .clientCertificateMissing
    case SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST:
      self = .notTLS(isHTTP: true)
    case SSL_R_WRONG_VERSION_NUMBER:
      self = .notTLS(isHTTP: false)
    case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_UNKNOWN_PROTOCOL, SSL_R_VERSION_TOO_LOW, SSL_R_VERSION_TOO_HIGH,
      SSL_R_NO_PROTOCOLS_AVAILABLE, SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      self = .unsupportedVersion
    case SSL_R_NO_SHARED_CIPHER, SSL_R_NO_SHARED_GROUPS, SSL_R_NO_SUITABLE_KEY_SHARE, SSL_R_NO_SUITABLE_GROUPS,
      SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS, SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM, SSL_R_NO_APPLICATION_PROTOCOL:
      self = .noSharedParameters(reason: first.text)
    case SSL_R_LIBRARY_BUG, SSL_R_LIBRARY_HAS_NO_CIPHERS, SSL_R_UNINITIALIZED:
      self = .libraryFailure(reason: first.text)
    case SSL_AD_REASON_OFFSET..<(SSL_AD_REASON_OFFSET + 256):
      self = .refusedByPeer(alert: UInt8(truncatingIfNeeded: first.reason - SSL_AD_REASON_OFFSET), reason: first.text)
    default:
      self =
        first.reason & cordon_ERR_RFLAG_FATAL != 0
        ? .libraryFailure(reason: first.text) : .protocolViolation(reason: first.text)
    }
  }
}
