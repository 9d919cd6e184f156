import COpenSSL
import NIOCore

/// A TLS 1.2 server without a socket that can ask its client for another handshake (RFC 5246, 7.4.1.1).
final class RenegotiatingServer {
  private let context: OpaquePointer
  private let ssl: OpaquePointer
  private let fromClient: OpaquePointer
  private let toClient: OpaquePointer
  /// Plaintext of the client.
  private(set) var received = ByteBuffer()

  init?() {
    let files = TestCertificates.valid
    guard
      let context = SSL_CTX_new(TLS_server_method()),
      cordon_SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION) == 1,
      SSL_CTX_use_certificate_file(context, files.certificate, X509_FILETYPE_PEM) == 1,
      SSL_CTX_use_PrivateKey_file(context, files.key, X509_FILETYPE_PEM) == 1,
      let ssl = SSL_new(context), let fromClient = BIO_new(BIO_s_mem()), let toClient = BIO_new(BIO_s_mem())
    else { return nil }
    (self.context, self.ssl, self.fromClient, self.toClient) = (context, ssl, fromClient, toClient)
    // The SSL object owns both from now on.
    SSL_set_bio(ssl, fromClient, toClient)
    SSL_set_accept_state(ssl)
  }

  deinit {
    SSL_free(ssl)
    SSL_CTX_free(context)
  }

  /// Whether a handshake that was asked for is not complete.
  var isRenegotiating: Bool { SSL_renegotiate_pending(ssl) == 1 }

  /// Asks for another handshake.
  func renegotiate() {
    SSL_renegotiate(ssl)
    SSL_do_handshake(ssl)
  }

  /// Carries bytes both ways.
  /// - Returns: whether there may be more to exchange.
  func exchange(with client: Endpoint) throws -> Bool {
    let request = try client.takeOutbound()
    if let request { _ = request.withUnsafeReadableBytes { BIO_write(fromClient, $0.baseAddress, Int32($0.count)) } }
    read()
    let answer = takeOutbound()
    if answer.readableBytes > 0 { try client.receive(answer) }
    return request != nil || answer.readableBytes > 0
  }

  /// Sends plaintext, whatever the client may have sent.
  func send(_ text: String, to client: Endpoint) throws {
    SSL_write(ssl, text, Int32(text.utf8.count))
    try client.receive(takeOutbound())
  }

  private func takeOutbound() -> ByteBuffer {
    var bytes = ByteBuffer()
    while BIO_ctrl_pending(toClient) > 0 {
      bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: 4_096) {
        Int(max(0, BIO_read(toClient, $0.baseAddress, Int32($0.count))))
      }
    }
    return bytes
  }

  /// Decrypts what there is, which continues a handshake as well.
  private func read() {
    received.writeWithUnsafeMutableBytes(minimumWritableBytes: 4_096) {
      Int(max(0, SSL_read(ssl, $0.baseAddress, Int32($0.count))))
    }
  }
}
