internal import NIOCore

extension SocketAddress {
  /// The IP address as text; nil for a Unix socket.
  ///
  /// Dotted quads are written here: `inet_ntop` formats them by `sprintf`, at ten times the cost.
  var ipText: String? {
    guard case .v4(let address) = self else { return ipAddress }
    return withUnsafeBytes(of: address.address) { socketAddress in
      // In network order, after the family and the port (ip(7)).
      let octets = socketAddress[4..<8]
      return String(unsafeUninitializedCapacity: 15) { text in
        var count = 0
        func append(_ byte: UInt8) {
          text[count] = byte
          count += 1
        }
        for octet in octets {
          if count > 0 { append(UInt8(ascii: ".")) }
          if octet >= 100 { append(UInt8(ascii: "0") + octet / 100) }
          if octet >= 10 { append(UInt8(ascii: "0") + octet / 10 % 10) }
          append(UInt8(ascii: "0") + octet % 10)
        }
        return count
      }
    }
  }
}
