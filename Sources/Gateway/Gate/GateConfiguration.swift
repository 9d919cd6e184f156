internal import AccessPolicy
internal import DataPlane
internal import FoundationEssentials
internal import Pages
internal import Sessions

/// What every gate of a gateway knows, and none changes.
struct GateConfiguration: Sendable {
  /// Counts the configurations of this process: what was worked out by another is worked out anew.
  let generation: Int
  let origin: PublicOrigin
  /// The origins whose pages may open a WebSocket: ours, and those of the listed hosts, as browsers write them in
  /// `Origin`.
  let origins: [[UInt8]]
  /// The path of our own pages with a slash behind it.
  let ownPaths: [UInt8]
  let prefix: String
  let authorities: AuthorityList
  let routes: RouteTable
  let keyring: SessionKeyring
  /// The same for the life of the process: memories go by it.
  let fingerprinter: CookieFingerprinter
  let identity: IdentityHeaderSettings
  /// Nil where requests carry no assertion.
  let assertions: SessionAssertions?
  let schedule: RevalidationSchedule
  let idleTimeout: Int64
  /// Whether a session may be proved by `Authorization: Bearer`.
  let acceptsBearer: Bool
  /// Bytes that one event loop may take for what it remembers of sessions.
  let sessionMemory: Int
  let showsSignInPage: Bool
  let pages: PageRenderer
  /// Limits the warnings about `verify` requests whose path is not known, for the whole process.
  let verifyWarnings: WarningInterval

  /// - Parameters:
  ///   - assertions: nil where requests carry none.
  ///   - previous: what held before, at a reload.
  init(
    _ settings: GatewaySettings, keyring: SessionKeyring, assertions: SessionAssertions? = nil,
    after previous: GateConfiguration? = nil
  ) throws {
    generation = (previous?.generation ?? 0) + 1
    verifyWarnings = previous?.verifyWarnings ?? WarningInterval()
    fingerprinter = previous?.fingerprinter ?? CookieFingerprinter()
    origin = settings.origin
    origins =
      [Array(settings.origin.description.utf8)]
      + settings.hosts.map { Array("\(settings.origin.scheme.rawValue)://\($0)".utf8) }
    prefix = settings.prefix
    ownPaths = Array((settings.prefix + "/").utf8)
    authorities = try AuthorityList(origin: settings.origin, hosts: settings.hosts)
    routes = try RouteTable(access: settings.access, routes: settings.routes)
    self.keyring = keyring
    identity = settings.identity
    self.assertions = assertions
    schedule = RevalidationSchedule(settings.revalidation)
    idleTimeout = settings.session.idleTimeout.wallClock
    acceptsBearer = settings.native.acceptsBearer
    sessionMemory = settings.session.memory / settings.eventLoops
    showsSignInPage = settings.pages.showSignInPage
    pages = try PageRenderer(settings: settings.pages, host: settings.origin.authority, prefix: settings.prefix)
  }

  /// How often the daily check is thought of for one session.
  static let evaluationInterval: Int64 = 30_000
  /// How long an overdue check that could not be made is not waited for again.
  static let retryInterval: Int64 = 1_000
}
