internal import Cryptography
internal import WebFormats

/// `Sec-WebSocket-Accept` (RFC 6455, 4.2.2): the proof that an application has understood a WebSocket's key. Over
/// HTTP/2, which has no key (RFC 8441, 5), the gateway sends one of its own to the upstream and has to check the answer
/// itself.
package enum WebSocketAccept {
  /// The answer to a key: the SHA-1 of the key and a constant, in base64.
  package static func answer(to key: some Collection<UInt8>) -> [UInt8] {
    // The digest protects nothing here: it distinguishes an application that understands WebSockets from one that
    // echoes.
    Base64.encode(SHA1.hash(Array(key) + Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)))
  }
}
