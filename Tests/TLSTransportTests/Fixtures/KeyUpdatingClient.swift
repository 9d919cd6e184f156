import COpenSSL
import NIOCore

/// A TLS 1.3 client without a socket that asks for new keys as often as it likes (RFC 8446, 4.6.3).
final class KeyUpdatingClient {
  private let context: OpaquePointer
  private let ssl: OpaquePointer
  private let fromServer: OpaquePointer
  private let toServer: OpaquePointer

  /// - Parameter groups: those that it offers, in OpenSSL's words; it sends a key share of the first alone.
  init?(groups: String? = nil) {
    guard
      let context = SSL_CTX_new(TLS_client_method()),
      groups.map({ cordon_SSL_CTX_set1_groups_list(context, $0) == 1 }) ?? true, let ssl = SSL_new(context),
      let fromServer = BIO_new(BIO_s_mem()), let toServer = BIO_new(BIO_s_mem())
    else { return nil }
    (self.context, self.ssl, self.fromServer, self.toServer) = (context, ssl, fromServer, toServer)
    // The SSL object owns both from now on.
    SSL_set_bio(ssl, fromServer, toServer)
    SSL_set_connect_state(ssl)
  }

  deinit {
    SSL_free(ssl)
    SSL_CTX_free(context)
  }

  /// Continues the handshake.
  /// - Returns: whether there may be more to exchange.
  func exchange(with server: Endpoint) throws -> Bool {
    if let answer = try server.takeOutbound() {
      _ = answer.withUnsafeReadableBytes { BIO_write(fromServer, $0.baseAddress, Int32($0.count)) }
    }
    SSL_do_handshake(ssl)
    let request = takeOutbound()
    if request.readableBytes > 0 { try server.receive(request) }
    return request.readableBytes > 0
  }

  /// Sends a key update that asks for one.
  func update() {
    SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED)
    SSL_do_handshake(ssl)
  }

  /// Bytes for the server.
  func takeOutbound() -> ByteBuffer {
    var bytes = ByteBuffer()
    while BIO_ctrl_pending(toServer) > 0 {
      bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: 4_096) {
        Int(max(0, BIO_read(toServer, $0.baseAddress, Int32($0.count))))
      }
    }
    return bytes
  }
}
