package import WebFormats

/// One listening address and its own settings (`[listen]`, or one of `[[listener]]`, of the configuration).
package struct AcceptorSettings: Sendable, Equatable {
  /// Name in logs, metrics and `LISTEN_FDNAMES`.
  package var name: String
  /// Address to bind.
  package var address: BindAddress
  /// Certificates, keys and other TLS settings; nil listens in cleartext.
  package var tls: AcceptorTLSSettings?
  /// Protocols offered. Default: nil: ``HTTPProtocol/http2`` and ``HTTPProtocol/http1`` over TLS, chosen by ALPN; in
  /// cleartext ``HTTPProtocol/http1`` alone. Never empty.
  package var protocols: [HTTPProtocol]?
  /// Peers whose `X-Forwarded-For`, `X-Original-URI` and the like are trusted. Default: none. If a PROXY header
  /// announces another address, that address is looked up here.
  package var trustedProxies: [NetworkPrefix]
  /// Peers that must begin each connection with a PROXY header (version 1 or 2). From other peers it is a malformed
  /// request. Default: none.
  package var proxyProtocolPeers: [NetworkPrefix]
  /// Whether every request is redirected (308) to the origin of its host, or the public one. Default: false.
  package var redirects = false
  /// Whether a Unix socket that is created is for the gateway's user only (mode 0600). Default: false: the umask
  /// decides.
  package var isPrivate = false

  /// The name of `[listen]`.
  package static let mainName = "listen"

  /// An address with the defaults of the file for protocols, redirects and the mode of a Unix socket.
  package init(
    name: String = AcceptorSettings.mainName, address: BindAddress, tls: AcceptorTLSSettings? = nil,
    trustedProxies: [NetworkPrefix] = [], proxyProtocolPeers: [NetworkPrefix] = []
  ) {
    self.name = name
    self.address = address
    self.tls = tls
    self.trustedProxies = trustedProxies
    self.proxyProtocolPeers = proxyProtocolPeers
  }
}

extension AcceptorSettings {
  /// ``protocols`` with its default.
  package var spokenProtocols: [HTTPProtocol] { protocols ?? (tls == nil ? [.http1] : [.http2, .http1]) }

  /// The names that ALPN knows them by (RFC 7301, 6), the preferred one first, whatever their order in the file. A
  /// client that offers `http/1.0` alone (`curl --http1.0`) gets it: that version comes with HTTP/1.1.
  var applicationProtocols: [String] {
    let spoken = spokenProtocols
    return HTTPProtocol.allCases.filter { spoken.contains($0) }.map(\.rawValue)
      + (spoken.contains(.http1) ? ["http/1.0"] : [])
  }
}
