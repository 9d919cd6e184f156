/// Settings of the TLS connections of a server: files, and rules.
package struct TLSServerSettings: Sendable, Equatable {
  /// A PEM certificate chain, the server's own certificate first, and its PEM private key without passphrase, as paths.
  /// A key that others can read is refused.
  package struct CertificateFiles: Sendable, Equatable {
    /// The chain: the server's own certificate, then each issuer's, without the root.
    package var certificateFile: String
    /// The private key of the first certificate of the chain.
    package var privateKeyFile: String

    /// A chain and its key. Neither file is read before a ``TLSServerContext`` is made.
    package init(certificateFile: String, privateKeyFile: String) {
      self.certificateFile = certificateFile
      self.privateKeyFile = privateKeyFile
    }
  }

  /// Certificates that clients present (RFC 8446, 4.4.2).
  package struct Clients: Sendable, Equatable {
    /// The PEM certificates of the authorities that issue them; no others are trusted.
    package var authorityFile: String
    /// Whether a client without one is refused.
    package var areRequired: Bool

    /// Verification of clients by these authorities.
    package init(authorityFile: String, areRequired: Bool) {
      self.authorityFile = authorityFile
      self.areRequired = areRequired
    }
  }

  /// At least one. The name that a client asks for (SNI) selects the certificate; the first is served if no certificate
  /// lists the name, or the client sends none. Of two for one name with keys of different kinds each client gets the
  /// one that it supports.
  package var certificates: [CertificateFiles]
  /// Protocols offered by ALPN (RFC 7301), the preferred one first, for example `h2` and `http/1.1`. A client that
  /// offers protocols and none of these is refused; one that offers nothing is served. Empty: the client's offer is
  /// ignored.
  package var applicationProtocols: [String]
  /// Nil to request no client certificates.
  package var clients: Clients?

  /// Settings as they stand: files and names are checked when a ``TLSServerContext`` is made of them.
  package init(certificates: [CertificateFiles], applicationProtocols: [String], clients: Clients? = nil) {
    self.certificates = certificates
    self.applicationProtocols = applicationProtocols
    self.clients = clients
  }
}
