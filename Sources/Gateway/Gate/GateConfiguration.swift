internal import AccessPolicy
internal import HTTPWire
internal import Pages
internal import Sessions
internal import WebFormats

/// The configuration of every gate: immutable, and replaced as a whole at a reload.
final class GateConfiguration: Sendable {
  let origin: PublicOrigin
  /// The origins whose pages may open a WebSocket, as browsers write them in `Origin`: ours, and those of the listed
  /// hosts.
  let origins: [[UInt8]]
  let prefix: String
  /// The path prefix of the gateway's own endpoints, with a slash behind it.
  let ownPaths: [UInt8]
  /// The whole path of the endpoint `verify`, which the gate answers on any authority.
  let verifyPath: [UInt8]
  let authorities: AuthorityList
  let routes: RouteTable
  let sessions: SessionConfiguration
  /// Whether `Authorization: Bearer` is accepted as a session's credential.
  let acceptsBearer: Bool
  let showsSignInPage: Bool
  let pages: PageRenderer
  /// Limits the warnings about `verify` requests whose path is not known, for the whole process.
  let verifyWarnings: WarningInterval
  /// Limits the warnings about requests that meet no `networks` because their peer is not trusted.
  let networkWarnings: WarningInterval

  /// - Parameter previous: the configuration before, at a reload.
  init(
    _ settings: OriginSettings, routes: RouteTable, sessions: SessionConfiguration, pages: PageSettings,
    native: NativeSettings, after previous: GateConfiguration?
  ) throws {
    origin = settings.origin
    origins =
      [Array(settings.origin.description.utf8)]
      + settings.hosts.map { Array("\(settings.origin.scheme.rawValue)://\($0)".utf8) }
    prefix = settings.prefix
    ownPaths = Array((settings.prefix + "/").utf8)
    verifyPath = Array(GatewayEndpoint.verify.path(below: settings.prefix).utf8)
    authorities = try AuthorityList(origin: settings.origin, hosts: settings.hosts)
    self.routes = routes
    self.sessions = sessions
    acceptsBearer = native.acceptsBearer
    showsSignInPage = pages.showSignInPage
    self.pages = try PageRenderer(settings: pages, host: settings.origin.authority, prefix: settings.prefix)
    verifyWarnings = previous?.verifyWarnings ?? WarningInterval()
    networkWarnings = previous?.networkWarnings ?? WarningInterval()
  }

  /// The same configuration with other members of its groups.
  init(_ configuration: GateConfiguration, groups: GroupDirectory) {
    origin = configuration.origin
    origins = configuration.origins
    prefix = configuration.prefix
    ownPaths = configuration.ownPaths
    verifyPath = configuration.verifyPath
    authorities = configuration.authorities
    routes = configuration.routes
    sessions = SessionConfiguration(configuration.sessions, policy: configuration.sessions.policy.with(groups))
    acceptsBearer = configuration.acceptsBearer
    showsSignInPage = configuration.showsSignInPage
    pages = configuration.pages
    verifyWarnings = configuration.verifyWarnings
    networkWarnings = configuration.networkWarnings
  }

  var keyring: SessionKeyring { sessions.keyring }
}

extension GateConfiguration {
  /// The path of requests without one: `*`, or an absolute form with an authority alone.
  static let root: [UInt8] = [0x2F]

  /// Whether a path is below the prefix of the gateway's own endpoints.
  @inline(__always)
  func isOwnPath(_ bytes: RawSpan, _ path: Range<Int>) -> Bool {
    let own = ownPaths
    guard path.count >= own.count, bytes.byte(at: path.lowerBound + 1) == own[1] else { return false }
    for offset in own.indices where bytes.byte(at: path.lowerBound + offset) != own[offset] { return false }
    return true
  }
}
