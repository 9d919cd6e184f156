import COpenSSL

/// The certificates of one file as clients get them: the server's own, and what leads from it to a root.
struct CertificateChain: Sendable {
  let leaf: Certificate
  /// The rest of the file.
  let others: [Certificate]

  /// The issuer at which the chain breaks off for clients: it is neither in the file nor among the roots of this system
  /// (`SSL_CERT_FILE` and `SSL_CERT_DIR` name others). In the form `/C=US/O=Example/CN=Name`; nil if there is none,
  /// also for a certificate that is its own issuer.
  func missingIssuer() throws(TLSConfigurationError) -> String? {
    OpenSSLErrorQueue.clear()
    let (roots, context, others) = (X509_STORE_new(), X509_STORE_CTX_new(), cordon_sk_X509_new_null())
    defer {
      X509_STORE_CTX_free(context)
      X509_STORE_free(roots)
      cordon_sk_X509_free(others)
    }
    guard let roots, let context, let others, X509_STORE_set_default_paths(roots) == 1,
      self.others.allSatisfy({ cordon_sk_X509_push(others, $0.pointer) > 0 }),
      X509_STORE_CTX_init(context, roots, leaf.pointer, others) == 1
    else { throw .libraryFailure(reason: OpenSSLErrorQueue.drainText()) }
    defer { OpenSSLErrorQueue.clear() }
    // Errors of other kinds, such as those of dates, come after the chain has been put together.
    guard X509_verify_cert(context) != 1,
      [X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY]
        .contains(X509_STORE_CTX_get_error(context)),
      let last = X509_STORE_CTX_get_current_cert(context)
    else { return nil }
    return Certificate.text(ofName: X509_get_issuer_name(last))
  }
}
