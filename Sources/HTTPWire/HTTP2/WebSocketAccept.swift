internal import Crypto

/// `Sec-WebSocket-Accept` (RFC 6455 4.2.2): how an application shows that it has understood a WebSocket's key. Where
/// the key is ours, because HTTP/2 has none (RFC 8441 5), nobody but us can look.
package enum WebSocketAccept {
  /// The answer to a key: the SHA-1 of the key and a constant, in base64.
  package static func answer(to key: some Collection<UInt8>) -> [UInt8] {
    // The digest protects nothing here: it tells an application that understood from one that echoes.
    var hasher = Insecure.SHA1()
    let input = Array(key) + Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)
    input.withUnsafeBytes { hasher.update(bufferPointer: $0) }
    let digest = Array(hasher.finalize())
    var text: [UInt8] = []
    for start in stride(from: 0, to: digest.count, by: 3) {
      let group = digest[start...].prefix(3)
      let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for place in 0...group.count { text.append(Base64Digit.of(bits >> (18 - 6 * place) & 63)) }
    }
    return text + Array(repeating: 0x3D, count: (3 - digest.count % 3) % 3)
  }
}

/// The digits of base64 (RFC 4648 4).
enum Base64Digit {
  /// The digit for 0 to 63.
  static func of(_ value: Int) -> UInt8 {
    switch value {
    case 0..<26: UInt8(0x41 + value)
    case 26..<52: UInt8(0x61 + value - 26)
    case 52..<62: UInt8(0x30 + value - 52)
    case 62: 0x2B
    default: 0x2F
    }
  }
}
