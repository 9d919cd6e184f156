/// The peer of a client connection.
package struct ClientPeer: Sendable, Equatable {
  /// The peer's address as text; `unix` for a Unix socket.
  package var address: String
  /// Whether it is one of the trusted proxies, so that what it says of others is believed.
  package var isTrusted: Bool
  /// Whether the connection came in over TLS.
  package var isTLS: Bool
  /// Whether the address is that of the client. False where a trusted proxy names the client in a way that cannot be
  /// read, and where a load balancer says that it does not know the client (PROXY protocol).
  package var isAddressKnown = true

  /// The address of a client that connects to a Unix socket.
  static let unix = "unix"
  /// The address, where it is one of IP.
  var ipAddress: String? { address.utf8.elementsEqual(Self.unix.utf8) ? nil : address }

  /// A peer whose address is known. Without more it is not trusted, and speaks cleartext.
  package init(address: String, isTrusted: Bool = false, isTLS: Bool = false) {
    self.address = address
    self.isTrusted = isTrusted
    self.isTLS = isTLS
  }
}
