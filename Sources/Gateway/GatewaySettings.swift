public import AccessPolicy
public import AppleIdentity
public import DataPlane
public import IdentityAssertion
internal import NIOCore
public import Operations
public import Pages
public import Sessions

/// Everything that a gateway is told: each part's own settings, side by side.
public struct GatewaySettings: Sendable {
  /// The origin that browsers see.
  public var origin: PublicOrigin
  /// The path of our own pages, without a trailing slash, as in `/.auth`.
  public var prefix: String
  /// Authorities accepted beside the origin's.
  public var hosts: [String]
  /// Event loops; 0 is one for each core.
  public var workers: Int
  public var listener: ListenerSettings
  public var adminAddress: BindAddress
  public var admin: AdminSettings
  public var upstream: UpstreamSettings
  /// Applications beside it, that routes name.
  public var upstreams: [UpstreamSettings]
  public var apple: AppleSettings
  public var native: NativeSettings
  public var session: SessionSettings
  public var revalidation: RevalidationSettings
  public var store: StoreSettings
  public var identity: IdentityHeaderSettings
  public var assertion: AssertionSettings
  /// Where Apple's notifications are handed on to; nil: nowhere.
  public var notificationRelay: EndpointAddress?
  public var access: AccessSettings
  public var routes: [RouteSettings]
  public var pages: PageSettings
  public var button: ButtonSettings
  public var log: LogSettings
  public var drain = DrainSettings()

  public init(
    origin: PublicOrigin, prefix: String, hosts: [String], workers: Int, listener: ListenerSettings,
    adminAddress: BindAddress, admin: AdminSettings, upstream: UpstreamSettings,
    upstreams: [UpstreamSettings] = [], apple: AppleSettings, native: NativeSettings = NativeSettings(),
    session: SessionSettings,
    revalidation: RevalidationSettings, store: StoreSettings,
    identity: IdentityHeaderSettings, assertion: AssertionSettings = AssertionSettings(),
    notificationRelay: EndpointAddress? = nil, access: AccessSettings = AccessSettings(), routes: [RouteSettings],
    pages: PageSettings,
    button: ButtonSettings = ButtonSettings(), log: LogSettings
  ) {
    self.origin = origin
    self.prefix = prefix
    self.hosts = hosts
    self.workers = workers
    self.listener = listener
    self.adminAddress = adminAddress
    self.admin = admin
    self.upstream = upstream
    self.upstreams = upstreams
    self.apple = apple
    self.native = native
    self.session = session
    self.revalidation = revalidation
    self.store = store
    self.identity = identity
    self.assertion = assertion
    self.notificationRelay = notificationRelay
    self.access = access
    self.routes = routes
    self.pages = pages
    self.button = button
    self.log = log
  }

  /// What Apple is told to answer to: registered with the Services ID, byte for byte.
  public var redirectURI: String { origin.description + prefix + "/callback" }
}

extension GatewaySettings {
  /// How many event loops there are: as many as were asked for, else one for each processor that the process may use.
  var eventLoops: Int { workers > 0 ? workers : AvailableProcessors.count }
}
