/// The authorities that a client trusts.
package enum TLSTrust: Sendable, Equatable {
  /// The system's trust store (Debian: the package `ca-certificates`); `SSL_CERT_FILE` and `SSL_CERT_DIR` of the
  /// environment replace it, as with every program on OpenSSL.
  case system
  /// The PEM certificates in a file, and no others.
  case file(String)
}
