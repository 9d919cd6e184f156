import COpenSSL
import NIOCore

/// The owner of an `SSL`: one TLS connection, without a socket. Ciphertext is passed in with ``receive(_:)`` and
/// taken with ``takeCiphertext()``; every step is done, needs more ciphertext, or fails.
///
/// Not to be used after it failed (except to take the alert that OpenSSL left for the peer).
final class TLSConnection {
  /// The outcome of a step.
  enum Outcome {
    /// More ciphertext from the peer is needed.
    case incomplete
    case complete
    case failed(TLSError)
  }

  /// The outcome of decryption.
  enum ReadOutcome {
    /// Everything that was received is decrypted.
    case incomplete
    /// The buffer is full, and there may be more.
    case full
    /// The peer sent close_notify.
    case closed
    case failed(TLSError)
  }

  private let ssl: OpaquePointer
  private let pipe: CiphertextPipe
  /// Keeps alive the objects that the SSL object refers to.
  private let owner: any Sendable
  /// Stores the tickets of a client's side; refers to its sessions.
  private let attachment: TLSClientSessions.Attachment?

  /// The server's side of a connection.
  init(server: TLSServerContext) throws(TLSError) {
    owner = server
    attachment = nil
    pipe = CiphertextPipe()
    ssl = try Self.makeSSL(context: server.context, pipe: pipe)
    SSL_set_accept_state(ssl)
  }

  /// The client's side of a connection to a server whose certificate must be for `serverName`.
  /// - Parameter sessions: earlier ones with this server; nil resumes none.
  init(client: TLSClientContext, serverName: ServerName, sessions: TLSClientSessions? = nil) throws(TLSError) {
    owner = client
    pipe = CiphertextPipe()
    ssl = try Self.makeSSL(context: client.context, pipe: pipe)
    SSL_set_connect_state(ssl)
    attachment = sessions?.attach(to: ssl)
    guard serverName.require(of: ssl) else {
      OpenSSLErrorQueue.clear()
      throw .invalidServerName
    }
    OpenSSLErrorQueue.clear()
  }

  deinit {
    // A connection that ended without close_notify would take its session with it, which TLS 1.1 and later do not ask
    // for (RFC 4346, 7.2.1).
    if attachment != nil { SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN) }
    // Frees the BIO too.
    SSL_free(ssl)
  }

  private static func makeSSL(context: OpenSSLContext, pipe: CiphertextPipe) throws(TLSError) -> OpaquePointer {
    OpenSSLErrorQueue.clear()
    guard let ssl = SSL_new(context.pointer) else {
      throw .libraryFailure(reason: OpenSSLErrorQueue.drainText())
    }
    guard let bio = pipe.makeBIO() else {
      SSL_free(ssl)
      throw .libraryFailure(reason: OpenSSLErrorQueue.drainText())
    }
    // The same BIO for both ways: this takes over the one reference.
    SSL_set_bio(ssl, bio, bio)
    return ssl
  }

  // MARK: Ciphertext

  /// Accepts bytes from the peer. Nothing is decrypted yet.
  func receive(_ ciphertext: ByteBuffer) {
    pipe.receive(ciphertext)
  }

  /// Takes the bytes to be sent to the peer; nil for none.
  func takeCiphertext() -> ByteBuffer? {
    pipe.takeOutgoing()
  }

  /// Whether the bytes to be sent are those of a server that asks for a second ClientHello.
  var asksForAnotherHello: Bool { pipe.outgoingIsRetryRequest }

  /// Makes room for the ciphertext of `plaintextBytes` bytes in one allocation.
  func reserveCiphertext(plaintextBytes: Int) {
    let records = plaintextBytes / Self.recordPlaintext + 1
    pipe.reserveOutgoing(bytes: plaintextBytes + records * Self.recordOverhead)
  }

  // MARK: Steps

  /// Continues the handshake.
  func handshake() -> Outcome {
    OpenSSLErrorQueue.clear()
    let result = SSL_do_handshake(ssl)
    if result == 1 { return .complete }
    switch SSL_get_error(ssl, result) {
    case SSL_ERROR_WANT_READ: return .incomplete
    case SSL_ERROR_ZERO_RETURN: return .failed(.closedDuringHandshake)
    default: return .failed(failure())
    }
  }

  /// About how many bytes of plaintext the received ciphertext holds: never 0.
  var expectedPlaintextBytes: Int {
    max(pipe.incomingBytes, Int(SSL_pending(ssl)), 256)
  }

  /// Decrypts as much as fits into the writable part of `buffer`.
  func read(into buffer: inout ByteBuffer) -> ReadOutcome {
    while buffer.writableBytes > 0 {
      OpenSSLErrorQueue.clear()
      var count: Int32 = 0
      buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 0) { target in
        count = SSL_read(ssl, target.baseAddress, Int32(min(target.count, Self.callLimit)))
        return count > 0 ? Int(count) : 0
      }
      if count > 0 { continue }
      switch SSL_get_error(ssl, count) {
      case SSL_ERROR_WANT_READ: return .incomplete
      case SSL_ERROR_ZERO_RETURN: return .closed
      default: return .failed(failure())
      }
    }
    return pipe.incomingBytes == 0 && SSL_has_pending(ssl) == 0 ? .incomplete : .full
  }

  /// Whether the server has asked for another handshake, which is not over. Nothing is encrypted until then.
  var isRenegotiating: Bool { SSL_renegotiate_pending(ssl) == 1 }

  /// Encrypts. `incomplete` does not happen unless ``isRenegotiating``: the pipe takes everything.
  func write(_ plaintext: UnsafeRawBufferPointer) -> Outcome {
    var rest = plaintext[...]
    while !rest.isEmpty {
      OpenSSLErrorQueue.clear()
      let slice = UnsafeRawBufferPointer(rebasing: rest)
      let count = SSL_write(ssl, slice.baseAddress, Int32(min(slice.count, Self.callLimit)))
      guard count > 0 else {
        return SSL_get_error(ssl, count) == SSL_ERROR_WANT_READ ? .incomplete : .failed(failure())
      }
      rest = rest.dropFirst(Int(count))
    }
    return .complete
  }

  /// Announces the end of our data to the peer (close_notify). ``read(into:)`` reads its response.
  func sendCloseNotify() {
    OpenSSLErrorQueue.clear()
    // 0 (no close_notify from the peer yet) is as good as 1; a failure at this point can be ignored.
    _ = SSL_shutdown(ssl)
    OpenSSLErrorQueue.clear()
  }

  private func failure() -> TLSError {
    TLSError(queue: OpenSSLErrorQueue.drain(), verifyResult: SSL_get_verify_result(ssl))
  }

  /// The limit of one call to OpenSSL, whose lengths are 32-bit, in bytes. A multiple of a record.
  private static let callLimit = 65_536
  /// Plaintext of a full record (RFC 8446, 5.1).
  static let recordPlaintext = 16_384
  /// Overhead of a record: header 5, content type 1 or explicit nonce 8, tag 16.
  private static let recordOverhead = 29

  // MARK: Negotiated parameters

  /// The negotiated parameters.
  var negotiated: TLSHandshakeCompleted {
    var name: UnsafePointer<UInt8>?
    var length: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &name, &length)
    let negotiated = name.map { String(decoding: UnsafeBufferPointer(start: $0, count: Int(length)), as: UTF8.self) }
    return TLSHandshakeCompleted(
      negotiatedProtocol: negotiated,
      version: SSL_version(ssl) == TLS1_3_VERSION ? .tls13 : .tls12,
      cipherSuite: SSL_CIPHER_get_name(SSL_get_current_cipher(ssl)).map { String(cString: $0) } ?? "",
      isResumed: SSL_session_reused(ssl) == 1,
      serverName: SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) })
  }
}
