import COpenSSL

/// Owns an `SSL_CTX`, which all connections of one kind share.
///
/// It is configured before it is shared, and not changed afterwards; OpenSSL's own locks protect the parts that
/// connections change (ticket keys, the trust store's cache). Every SSL object made from it holds a reference, so a
/// replaced context lives until its last connection is closed.
final class OpenSSLContext: Sendable {
  enum Role {
    case server, client
  }

  /// An `SSL_CTX` may be used from any thread once it is configured: see SSL_CTX_new(3), openssl-threads(7).
  nonisolated(unsafe) let pointer: OpaquePointer
  /// State of the ALPN callback, which OpenSSL knows by an unretained pointer.
  private let protocols: ApplicationProtocols

  /// A context with the settings of both roles: TLS 1.2 and 1.3, no compression, and no buffers kept by idle
  /// connections. No client may renegotiate. A server may ask our client to: with TLS 1.2 that is how it asks for a
  /// client certificate when it knows the path (IIS by default, Apache with `SSLVerifyClient` in a `Location`). Not
  /// over HTTP/2, which forbids it (RFC 9113, 9.2.1).
  init(role: Role, applicationProtocols: [String]) throws(TLSConfigurationError) {
    let protocols = try ApplicationProtocols(applicationProtocols)
    guard Self.isLibraryReady else { throw .libraryFailure(reason: OpenSSLErrorQueue.drainText()) }
    OpenSSLErrorQueue.clear()
    guard let pointer = SSL_CTX_new(role == .server ? TLS_server_method() : TLS_client_method()) else {
      throw .libraryFailure(reason: OpenSSLErrorQueue.drainText())
    }
    self.pointer = pointer
    self.protocols = protocols

    try require(cordon_SSL_CTX_set_min_proto_version(pointer, TLS1_2_VERSION) == 1)
    try require(cordon_SSL_CTX_set_max_proto_version(pointer, TLS1_3_VERSION) == 1)
    SSL_CTX_set_options(pointer, cordon_SSL_OP_NO_COMPRESSION)
    if role == .server || applicationProtocols.contains("h2") {
      SSL_CTX_set_options(pointer, cordon_SSL_OP_NO_RENEGOTIATION)
    }
    _ = cordon_SSL_CTX_set_mode(pointer, Int(SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER))
    // Resumption is by tickets, which hold their state themselves: a cache here would cost memory and a lock.
    _ = cordon_SSL_CTX_set_session_cache_mode(pointer, Int(SSL_SESS_CACHE_OFF))
    // Without this OpenSSL would ask on the terminal for the passphrase of a protected key.
    SSL_CTX_set_default_passwd_cb(pointer) { _, _, _, _ in -1 }

    switch role {
    case .server: selectApplicationProtocols()
    case .client: try offerApplicationProtocols()
    }
  }

  deinit {
    SSL_CTX_free(pointer)
  }

  /// Turns a failed call into an error with OpenSSL's reason.
  func require(_ success: Bool) throws(TLSConfigurationError) {
    guard success else { throw .libraryFailure(reason: OpenSSLErrorQueue.drainText()) }
  }

  /// Verifies chains with these certificates. Each of them is a trust anchor, also an intermediate authority without
  /// its root: RFC 5280, 6.1, does not ask for self-signed anchors, but OpenSSL does by default. Then an intermediate
  /// authority in such a file verifies nothing, and the error does not say why.
  /// - Parameter file: the file that they were read from.
  func trust(_ certificates: [Certificate], of file: String) throws(TLSConfigurationError) {
    guard let store = SSL_CTX_get_cert_store(pointer) else {
      throw .libraryFailure(reason: OpenSSLErrorQueue.drainText())
    }
    OpenSSLErrorQueue.clear()
    try require(X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN)) == 1)
    for certificate in certificates {
      OpenSSLErrorQueue.clear()
      guard X509_STORE_add_cert(store, certificate.pointer) == 1 else {
        throw .refused(file: file, reason: OpenSSLErrorQueue.drainText())
      }
    }
  }

  /// Initializes OpenSSL without its clean-up at exit, which would free data that is in use by event loops that still
  /// run when the main thread exits.
  private static let isLibraryReady = OPENSSL_init_ssl(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

  private func offerApplicationProtocols() throws(TLSConfigurationError) {
    guard !protocols.names.isEmpty else { return }
    let list = protocols.wireFormat
    // This one function returns 0 for success.
    try require(SSL_CTX_set_alpn_protos(pointer, list, UInt32(list.count)) == 0)
  }

  private func selectApplicationProtocols() {
    guard !protocols.names.isEmpty else { return }
    let argument = Unmanaged.passUnretained(protocols).toOpaque()
    SSL_CTX_set_alpn_select_cb(
      pointer,
      { _, selected, selectedLength, offered, offeredLength, argument in
        guard let argument, let selected, let selectedLength, let offered else { return SSL_TLSEXT_ERR_ALERT_FATAL }
        let protocols = Unmanaged<ApplicationProtocols>.fromOpaque(argument).takeUnretainedValue()
        let offer = UnsafeBufferPointer(start: offered, count: Int(offeredLength))
        guard let choice = protocols.choose(from: offer) else {
          // RFC 7301, 3.2: a server that shares no protocol with the client ends the handshake with an alert.
          return SSL_TLSEXT_ERR_ALERT_FATAL
        }
        selected.pointee = offered + choice.lowerBound
        selectedLength.pointee = UInt8(choice.count)
        return SSL_TLSEXT_ERR_OK
      }, argument)
  }
}
