/// TLS settings for `https:` addresses: verification of the server, and the client certificate.
package struct UpstreamTLSSettings: Sendable, Equatable {
  /// The PEM certificates of the authorities that are believed, as an absolute path. Default: nil: the system's.
  package var authorityFile: String?
  /// Client certificate, presented to a server that asks for one. Default: nil: none.
  package var certificate: TLSFiles?
  /// The name that the server's certificate has to list, and that is sent as SNI. Default: nil: the address's host.
  package var serverName: String?

  /// Verification by the system's roots, under the address's host, without a client certificate.
  package init() {}
}
