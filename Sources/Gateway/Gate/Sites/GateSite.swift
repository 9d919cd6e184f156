internal import AccessPolicy
internal import HTTPWire
internal import Pages
internal import Sessions

/// A host that the gate serves, with what its requests are authorized and answered by: that of `public_url` with its
/// aliases, or a `[[host]]`. Every request has one, by its own authority.
final class GateSite: Sendable {
  /// Its place: 0 for `public_url`, from 1 on for each `[[host]]`.
  let number: Int
  /// The origin that browsers see.
  let origin: PublicOrigin
  /// The origins whose pages may open a WebSocket, as browsers write them in `Origin`.
  let origins: [[UInt8]]
  /// The scope of its session cookies and bearer tokens.
  let scope: CookieScope
  /// The same in the number of an exchange's credential.
  let credentialScope: UInt64
  /// The routes of its requests.
  let routes: RouteTable.Host
  let pages: PageRenderer

  /// `public_url`, with the pages of its aliases.
  init(_ settings: OriginSettings, pages: PageSettings) {
    number = 0
    origin = settings.origin
    origins =
      [Array(settings.origin.description.utf8)]
      + settings.hosts.map { Array("\(settings.origin.scheme.rawValue)://\($0)".utf8) }
    scope = .publicURL
    credentialScope = ExchangeCredential.bits(of: .publicURL)
    routes = .publicURL
    self.pages = PageRenderer(settings: pages, host: settings.origin.authority, prefix: settings.prefix)
  }

  /// A `[[host]]`.
  /// - Parameters:
  ///   - index: its place in the configuration.
  ///   - routes: a table that was made with all hosts.
  /// - Throws: if `routes` has none of this host.
  init(
    _ host: HostSettings, pages: PageSettings, index: Int, prefix: String, routes: RouteTable
  ) throws(GateSiteError) {
    number = index + 1
    origin = host.origin
    origins = [Array(origin.description.utf8)]
    let scope = CookieScope.host(origin.authority)
    self.scope = scope
    credentialScope = ExchangeCredential.bits(of: scope)
    let name = Array(origin.authority.utf8)
    guard let own = routes.host(named: name.span) else { throw GateSiteError.noRoutes(origin.authority) }
    self.routes = own
    self.pages = PageRenderer(settings: pages, host: origin.authority, prefix: prefix, isOfHost: true)
  }

  /// Whether it is the host of `public_url`, where people sign in.
  var isPublicURL: Bool { number == 0 }

  /// Whether a request has one `Origin`, which is of this site: only its pages may open a WebSocket.
  func isOwnOrigin(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    guard let line = head.fields.line(.origin), !head.fields.isRepeated(.origin) else { return false }
    return origins.contains { origin in
      origin.count == line.value.count
        && line.value.indices.allSatisfy { bytes.byte(at: $0) == origin[$0 - line.value.lowerBound] }
    }
  }
}

/// An internal error in the assembly of a site.
enum GateSiteError: Error {
  /// The routes were made without this host: those of another one must not stand in for them.
  case noRoutes(String)
}
