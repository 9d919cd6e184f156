public import AccessPolicy
public import AppleIdentity
public import DataPlane
public import IdentityAssertion
public import Operations
public import Pages
public import Sessions

/// Everything that a configuration file says, with every default filled in. Whoever holds one holds one that was
/// checked.
public struct Configuration: Sendable, Equatable {
  /// The origin that browsers see, as they write it: `https://app.example.com`, without a trailing slash.
  public internal(set) var publicURL = ""
  /// What the gateway's own pages stand under: begins with `/`, does not end with it. Default: `/.auth`.
  public internal(set) var pathPrefix = "/.auth"
  /// Authorities that are accepted beside that of `publicURL`, in lower case.
  public internal(set) var hosts: [String] = []
  /// Event loops; 0 for one per processor core. Default: 0.
  public internal(set) var workers = 0
  public internal(set) var listener = ListenerSettings(address: .unix(path: ""))
  /// Where operators ask. Default: `127.0.0.1:9901`.
  public internal(set) var adminAddress = BindAddress.ip(host: "127.0.0.1", port: 9901)
  public internal(set) var admin = AdminSettings()
  public internal(set) var upstream = UpstreamSettings(address: .unix(path: ""))
  /// Applications beside it, that routes name.
  public internal(set) var upstreams: [UpstreamSettings] = []
  public internal(set) var apple = AppleSettings(clientID: "", teamID: "", keyID: "", privateKeyFile: "")
  public internal(set) var session = SessionSettings(secretFiles: [])
  public internal(set) var revalidation = RevalidationSettings()
  public internal(set) var native = NativeSettings()
  public internal(set) var store = StoreSettings(location: .sqlite(path: "/var/lib/cordon/cordon.db"))
  public internal(set) var identityHeaders = IdentityHeaderSettings()
  public internal(set) var assertion = AssertionSettings()
  /// Where Apple's notifications are handed on to. Default: nil: nowhere.
  public internal(set) var notificationRelay: EndpointAddress?
  /// What holds where no route says otherwise.
  public internal(set) var access = AccessSettings()
  /// In the order of the file.
  public internal(set) var routes: [RouteSettings] = []
  public internal(set) var pages = PageSettings()
  public internal(set) var button = ButtonSettings()
  public internal(set) var log = LogSettings()
  public internal(set) var shutdown = DrainSettings()

  /// Only the reader of files makes one.
  init() {}

  /// Where Apple sends the browser back to: `publicURL`, `pathPrefix` and `/callback`.
  public var redirectURI: String { publicURL + pathPrefix + "/callback" }

  /// The public origin in its parts.
  public var publicOrigin: PublicOrigin { get throws(OriginProblem) { try PublicOrigin(parsing: publicURL) } }
}
