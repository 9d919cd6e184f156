import COpenSSL

/// The owner of a `BIO` over bytes in memory, from which PEM blocks are read one after another.
struct PEMReader: ~Copyable {
  private let bio: OpaquePointer

  /// Copies the bytes, so that the caller's need not outlive the call.
  init(_ bytes: [UInt8]) throws(TLSConfigurationError) {
    guard let bio = BIO_new(BIO_s_mem()) else { throw .libraryFailure(reason: OpenSSLErrorQueue.drainText()) }
    guard bytes.isEmpty || BIO_write(bio, bytes, Int32(bytes.count)) == bytes.count else {
      BIO_free(bio)
      throw .libraryFailure(reason: OpenSSLErrorQueue.drainText())
    }
    self.bio = bio
  }

  deinit {
    BIO_free(bio)
  }

  /// The next certificate; nil when there is no further one.
  func nextCertificate(file: String) throws(TLSConfigurationError) -> Certificate? {
    OpenSSLErrorQueue.clear()
    if let pointer = PEM_read_bio_X509(bio, nil, { _, _, _, _ in -1 }, nil) {
      return Certificate(owning: pointer)
    }
    let errors = OpenSSLErrorQueue.drain()
    if errors.contains(where: { $0.library == ERR_LIB_PEM && $0.reason == PEM_R_NO_START_LINE }) { return nil }
    throw .malformed(file: file, reason: errors.map(\.text).joined(separator: "; "))
  }

  /// The private key.
  func privateKey(file: String) throws(TLSConfigurationError) -> PrivateKey {
    OpenSSLErrorQueue.clear()
    var wasAskedForPassphrase = false
    let pointer = withUnsafeMutablePointer(to: &wasAskedForPassphrase) { asked in
      PEM_read_bio_PrivateKey(
        bio, nil,
        { _, _, _, asked in
          asked?.assumingMemoryBound(to: Bool.self).pointee = true
          return -1
        }, asked)
    }
    if let pointer { return PrivateKey(owning: pointer) }
    let errors = OpenSSLErrorQueue.drain()
    if wasAskedForPassphrase { throw .privateKeyEncrypted(file: file) }
    let isAbsent = errors.contains {
      $0.library == ERR_LIB_PEM && $0.reason == PEM_R_NO_START_LINE
        || $0.library == ERR_LIB_OSSL_DECODER && $0.reason == ERR_R_UNSUPPORTED
    }
    if errors.isEmpty || isAbsent { throw .noPrivateKey(file: file) }
    throw .malformed(file: file, reason: errors.map(\.text).joined(separator: "; "))
  }
}
