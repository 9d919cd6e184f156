import COpenSSL
import Secrets

/// A certificate chain and its private key, read from files and checked to match.
final class TLSIdentity: Sendable {
  let certificateFile: String
  private let privateKeyFile: String
  let chain: CertificateChain
  private let key: PrivateKey

  /// The beginning and the end of the first certificate's validity, in seconds since 1970.
  let validity: ClosedRange<Int64>

  init(certificateFile: String, privateKeyFile: String) throws(TLSConfigurationError) {
    let certificates = try Certificate.all(in: try CredentialFile(path: certificateFile))
    let leaf = certificates[0]
    guard let validity = leaf.validity else {
      throw .malformed(file: certificateFile, reason: "the dates of the certificate make no sense")
    }

    var pem = try CredentialFile(privatePath: privateKeyFile).bytes
    defer { pem.erase() }
    let key = try PEMReader(pem).privateKey(file: privateKeyFile)
    guard X509_check_private_key(leaf.pointer, key.pointer) == 1 else {
      OpenSSLErrorQueue.clear()
      throw .keyMismatch(certificateFile: certificateFile, privateKeyFile: privateKeyFile)
    }

    self.certificateFile = certificateFile
    self.privateKeyFile = privateKeyFile
    chain = CertificateChain(leaf: leaf, others: Array(certificates.dropFirst()))
    self.key = key
    self.validity = validity
  }

  /// The kind of the key (`EVP_PKEY_RSA`, `EVP_PKEY_EC`, …): a context holds one certificate for each.
  var keyType: Int32 { EVP_PKEY_get_base_id(key.pointer) }

  /// Whether no browser has signatures of this kind of key: Ed25519 and Ed448 (RFC 8410), which other clients know.
  var isForNoBrowser: Bool { [EVP_PKEY_ED25519, EVP_PKEY_ED448].contains(keyType) }

  /// Adds chain and key to a context, in addition to those of other kinds of keys. The context then sends the chain of
  /// the file, and nothing else.
  func install(in context: OpenSSLContext) throws(TLSConfigurationError) {
    // Of a file with one certificate OpenSSL would otherwise build the chain at each handshake, out of the authorities
    // that the peer's certificate is verified with.
    _ = cordon_SSL_CTX_set_mode(context.pointer, Int(SSL_MODE_NO_AUTO_CHAIN))
    OpenSSLErrorQueue.clear()
    guard SSL_CTX_use_certificate(context.pointer, chain.leaf.pointer) == 1 else {
      throw .refused(file: certificateFile, reason: OpenSSLErrorQueue.drainText())
    }
    for certificate in chain.others {
      OpenSSLErrorQueue.clear()
      guard cordon_SSL_CTX_add1_chain_cert(context.pointer, certificate.pointer) == 1 else {
        throw .refused(file: certificateFile, reason: OpenSSLErrorQueue.drainText())
      }
    }
    OpenSSLErrorQueue.clear()
    guard SSL_CTX_use_PrivateKey(context.pointer, key.pointer) == 1 else {
      throw .refused(file: privateKeyFile, reason: OpenSSLErrorQueue.drainText())
    }
  }
}
