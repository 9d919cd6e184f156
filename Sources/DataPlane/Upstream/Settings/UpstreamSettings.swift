internal import WebFormats

/// An application behind the gateway (`[upstream]` or one of `[[upstreams]]` of the configuration).
package struct UpstreamSettings: Sendable, Equatable {
  /// Name used by routes, metrics and health checks.
  package var name: String
  /// Its addresses: at least one, at most ``addressLimit``, without duplicates.
  package var addresses: [UpstreamAddress]
  /// Protocol spoken with it. Default: HTTP/1.1.
  package var speaks = HTTPProtocol.http1
  /// Time-outs of the steps of an exchange.
  package var timeouts: UpstreamTimeouts
  /// Idle connections kept per event loop and address; more only while they are used every second. Default: 64.
  package var idleConnectionsPerLoop = 64
  /// Most connections to each address, over all event loops. All upstreams with the same address have together as many
  /// as the largest of their limits. Default: 0: no limit.
  package var maximumConnections = 0
  /// Requests that may wait, for each address, while as many connections are in use; for as long as connecting may
  /// take. Default: 100. One more is answered 503.
  package var queueLimit = 100
  /// For `https:` addresses.
  package var tls = UpstreamTLSSettings()
  /// Mistakes in its responses that are repaired instead of refused with 502. Default: none.
  package var lenient: [UpstreamLenience] = []
  /// `Host` as it gets it, with a port or without. Default: nil: as received.
  package var host: String?
  /// The path prefix that requests lose and redirects and cookies get back: begins with a slash, does not end with one.
  /// Default: nil: none.
  package var strippedPrefix: String?
  /// Headers that are removed from requests. Default: none.
  package var removedHeaders: [String] = []
  /// Headers that the gateway sets for this upstream alone: those of clients are removed. Default: none.
  package var ownHeaders: [String] = []
  /// Whether redirects to its own address, and to `http:` of a public `https:` origin, are rewritten. Default: true.
  package var rewritesRedirects = true
  /// Most bytes of a request body without a length that are collected and sent with one; 0 passes chunks on. Default:
  /// nil: 0, and ``oldRequestBuffer`` while its last response was HTTP/1.0.
  package var requestBuffer: Int?
  /// Active health checks of its addresses. Default: nil: none.
  package var check: UpstreamCheckSettings?
  /// Its session cookies, and whether its responses are made private.
  package var cookies = UpstreamCookieSettings()

  /// Whether any of its addresses uses TLS.
  package var usesTLS: Bool {
    addresses.contains { address in
      if case .tcp(_, _, tls: true) = address { true } else { false }
    }
  }

  /// Default of ``requestBuffer`` for an application that knows no chunked requests.
  package static let oldRequestBuffer = 64 * 1024
  /// The name of `[upstream]`.
  package static let defaultName = "default"
  /// Maximum number of addresses of one upstream.
  package static let addressLimit = 64

  /// An upstream at these addresses, with the defaults of the file for everything else.
  package init(
    name: String = UpstreamSettings.defaultName, addresses: [UpstreamAddress], timeouts: UpstreamTimeouts = .init()
  ) {
    self.name = name
    self.addresses = addresses
    self.timeouts = timeouts
  }

  /// Whether a path is the prefix of an upstream or below it.
  package static func isWithin(_ path: String, prefix: String) -> Bool {
    path.utf8.elementsEqual(prefix.utf8) || path.utf8.starts(with: "\(prefix)/".utf8)
  }

  /// The application's session cookies as browsers keep them: their paths have the prefix that requests lose, and where
  /// the application gets a `Host` of its own, its `Domain` may have been removed.
  package var cookiesOfClients: [EndCookie] {
    cookies.cookies.flatMap { cookie -> [EndCookie] in
      // As responses are rewritten (`AddressRewriting`): browsers take `__Host-` cookies for `/` only.
      guard !cookie.name.utf8.map(\.asciiLowercased).starts(with: "__host-".utf8) else { return [cookie] }
      var cookie = cookie
      if let prefix = strippedPrefix, !Self.isWithin(cookie.path, prefix: prefix) {
        cookie.path = prefix + (cookie.path == "/" ? "" : cookie.path)
      }
      guard host != nil, cookie.domain != nil else { return [cookie] }
      var withoutDomain = cookie
      withoutDomain.domain = nil
      return [cookie, withoutDomain]
    }
  }

  /// The same upstream with one address alone.
  package func alone(at address: UpstreamAddress) -> UpstreamSettings {
    var settings = self
    settings.addresses = [address]
    return settings
  }

  /// An upstream with one address.
  package init(address: UpstreamAddress, timeouts: UpstreamTimeouts = .init()) {
    self.init(addresses: [address], timeouts: timeouts)
  }
}
