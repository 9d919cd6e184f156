import AccessPolicy
import DataPlane
import Sessions
import WebFormats

/// A configuration while it is read.
struct ConfigurationBuilder: DecodingTarget {
  var configuration = Configuration()
  /// `[listen]`.
  var main = ListenerBuilder()
  /// `upstream.url` and `upstream.urls`, exactly one of which is required.
  var upstreamURL = UpstreamAddress.unix(path: "")
  var upstreamURLs: [UpstreamAddress]?
  var upstreamTLS = UpstreamTLSBuilder()
  var upstreamForwarding = UpstreamForwardingBuilder()
  /// `upstream.check`, which requires a path.
  var checkPath: String?
  var check = UpstreamCheckSettings(path: "/")
  /// `assertion.key_files` and `assertion.audience`: both or neither.
  var assertionKeyFiles: [String]?
  var audience: String?
  var access = AccessBuilder()
  /// `pages.templates`.
  var templates: String?
}

/// One of `[[upstreams]]` while it is read.
struct UpstreamBuilder: DecodingTarget {
  var name = ""
  var url: UpstreamAddress?
  var urls: [UpstreamAddress]?
  var speaks = HTTPProtocol.http1
  var lenient: [UpstreamLenience] = []
  var cookies = UpstreamCookieSettings()
  var idleConnections: Int?
  var maximumConnections: Int?
  var queueLimit: Int?
  var checkPath: String?
  var tls = UpstreamTLSBuilder()
  var forwarding = UpstreamForwardingBuilder()
  var timeouts = UpstreamTimeoutsBuilder()
}

/// `[upstreams.timeouts]` while it is read. Timeouts that are not set are inherited from `[upstream.timeouts]`.
struct UpstreamTimeoutsBuilder: Sendable {
  var connect: Duration?
  var firstByte: Duration?
  var bodyProgress: Duration?
  var idle: Duration?
  var tunnel: Duration?

  func apply(to timeouts: inout UpstreamTimeouts) {
    if let connect { timeouts.connect = connect }
    if let firstByte { timeouts.firstByte = firstByte }
    if let bodyProgress { timeouts.bodyProgress = bodyProgress }
    if let idle { timeouts.idle = idle }
    if let tunnel { timeouts.tunnel = tunnel }
  }
}

/// The forwarding settings of an upstream while they are read. `[[upstreams]]` inherit none of them.
struct UpstreamForwardingBuilder: Sendable {
  var host: String?
  var strippedPrefix: String?
  var removedHeaders: [String] = []
  var rewritesRedirects = true
  var requestBuffer: Int?
  var headers: [UpstreamHeaderSettings.Header] = []
  var basic: BasicCredentialsTemplate?

  func apply(to settings: inout UpstreamSettings) {
    settings.host = host
    settings.strippedPrefix = strippedPrefix
    settings.removedHeaders = removedHeaders
    settings.ownHeaders = headers(of: settings.name).names
    settings.rewritesRedirects = rewritesRedirects
    settings.requestBuffer = requestBuffer
  }

  func headers(of upstream: String) -> UpstreamHeaderSettings {
    UpstreamHeaderSettings(upstream: upstream, headers: headers, basic: basic)
  }
}

/// The TLS settings of an upstream while they are read.
struct UpstreamTLSBuilder: Sendable {
  var authorityFile: String?
  /// Halves of the client's certificate, until both are seen.
  var certificateFile: String?
  var privateKeyFile: String?
  var serverName: String?

  var settings: UpstreamTLSSettings {
    var settings = UpstreamTLSSettings()
    settings.authorityFile = authorityFile
    settings.serverName = serverName
    if let certificateFile, let privateKeyFile {
      settings.certificate = TLSFiles(certificateFile: certificateFile, privateKeyFile: privateKeyFile)
    }
    return settings
  }
}

/// One of `[[host]]` while it is read.
struct HostBuilder: DecodingTarget {
  var name = ""
  var upstream = UpstreamSettings.defaultName
  var applicationName: String?
  var templates: String?
}

/// A route while it is read.
struct RouteBuilder: DecodingTarget {
  var host: String?
  var path = ""
  var match = RouteSettings.Match.prefix
  var access: Access?
  var unauthenticated: Unauthenticated?
  var upstream: String?
  var bodyRate: Int?
  var keptFormBytes: Int?
  var lists = AllowListsBuilder()
  var privateEmail: AccessConditions.PrivateEmail?
  var requirements: [ClaimRequirement]?
  var denied = DenyLists()
  var methods: [String]?
  var networks: [NetworkPrefix]?
  var maxAge: Duration?
  var tokens: Bool?
  var preflight: RouteSettings.Preflight?

  enum Access: String, Sendable, CaseIterable {
    case signedIn = "signed-in"
    case `public`, deny
    case signOut = "sign-out"
  }

  var conditions: AccessConditions { AccessConditions(privateEmail ?? .allow, requirements ?? [], denied) }
}

/// One of `[[group]]` while it is read.
struct GroupBuilder: DecodingTarget {
  var name = ""
  var members: [String] = []
  var membersFile: String?
}

/// The allow lists of `[access]` or of a route while they are read; nil for one that is not present.
struct AllowListsBuilder: Sendable {
  var subjects: [String]?
  var emails: [String]?
  var emailDomains: [String]?
  var organizations: [String]?
  var groups: [String]?

  /// Each list with its key.
  private var all: [(key: String, list: [String]?)] {
    [
      ("allow_subjects", subjects), ("allow_emails", emails), ("allow_email_domains", emailDomains),
      ("allow_organizations", organizations), ("allow_groups", groups),
    ]
  }

  /// The keys of all lists.
  static let keys = AllowListsBuilder().all.map(\.key)

  /// The keys of lists that are present and empty.
  var emptyKeys: [String] { all.filter { $0.list?.isEmpty == true }.map(\.key) }

  /// The lists, if at least one is present.
  var settings: AccessLists? {
    guard all.contains(where: { $0.list != nil }) else { return nil }
    var lists = AccessLists()
    lists.subjects = subjects ?? []
    lists.emails = emails ?? []
    lists.emailDomains = emailDomains ?? []
    lists.organizations = organizations ?? []
    lists.groups = groups ?? []
    return lists
  }
}

/// `[access]` while it is read.
struct AccessBuilder: Sendable {
  var lists = AllowListsBuilder()
  var privateEmail = AccessConditions.PrivateEmail.allow
  var requirements: [ClaimRequirement] = []
  var denied = DenyLists()
  var networks: [NetworkPrefix]?
  var maxAge = Duration.zero
  var tokens = false
  var requests = false
  var managers: [String] = []
  var unauthenticated = Unauthenticated.automatic

  var settings: AccessSettings {
    var settings = AccessSettings()
    if let lists = lists.settings, !lists.isEmpty { settings.lists = lists }
    settings.conditions = AccessConditions(privateEmail, requirements, denied)
    settings.networks = networks ?? []
    settings.maxAge = Int(maxAge.components.seconds)
    settings.tokens = tokens
    settings.requests = requests
    settings.managers = managers
    settings.unauthenticated = unauthenticated.setting
    return settings
  }
}

/// The answer to a request without a session, as it is written.
enum Unauthenticated: String, Sendable, CaseIterable {
  case automatic = "auto"
  case unauthorized = "401"

  var setting: RouteSettings.Unauthenticated {
    switch self {
    case .automatic: .automatic
    case .unauthorized: .unauthorized
    }
  }
}

extension AccessConditions {
  /// Merges the values of one claim, which are alternatives, wherever they are in the list.
  init(_ privateEmail: PrivateEmail, _ requirements: [ClaimRequirement], _ denied: DenyLists) {
    self.init()
    self.denied = denied
    self.privateEmail = privateEmail
    for requirement in requirements {
      if let place = self.requirements.firstIndex(where: { $0.claim.utf8.elementsEqual(requirement.claim.utf8) }) {
        self.requirements[place].values += requirement.values
      } else {
        self.requirements.append(requirement)
      }
    }
  }
}
