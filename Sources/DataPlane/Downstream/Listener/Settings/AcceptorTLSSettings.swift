/// TLS settings of a listener.
package struct AcceptorTLSSettings: Sendable, Equatable {
  /// At least one. Which one a client sees is decided by the name that it asks for (SNI); the first is for clients
  /// whose name none lists, or that name none. An RSA and an ECDSA certificate can serve one name.
  package var certificates: [TLSFiles]
  /// Keys of session tickets, 80 or 48 random bytes each: the first encrypts, all decrypt. Empty: keys in memory,
  /// replaced every twelve hours.
  package var ticketKeyFiles: [String] = []
  /// Client certificates, required or optional; nil asks for none.
  package var clients: TLSClientsSettings?

  /// TLS without client certificates, with ticket keys that stay in memory.
  package init(certificates: [TLSFiles]) { self.certificates = certificates }
}

/// Verification of client certificates.
package struct TLSClientsSettings: Sendable, Equatable {
  /// The PEM certificates of the authorities that issue the clients' certificates, as an absolute path.
  package var authorityFile: String
  /// Whether a client without a certificate is refused by the handshake. One with a certificate that does not verify
  /// always is.
  package var areRequired: Bool

  /// Verification by these authorities; a certificate is required unless stated otherwise.
  package init(authorityFile: String, areRequired: Bool = true) {
    self.authorityFile = authorityFile
    self.areRequired = areRequired
  }
}
