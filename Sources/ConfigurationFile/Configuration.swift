package import AccessPolicy
package import AppleIdentity
package import DataPlane
package import IdentityAssertion
package import Operations
package import Pages
package import Sessions
internal import WebFormats

/// The settings of a configuration file, with all defaults filled in. Only valid configurations are created.
package struct Configuration: Sendable, Equatable {
  /// The origin that browsers see, as they write it: `https://app.example.com`, without a trailing slash.
  package internal(set) var publicURL = ""
  /// The path prefix of the gateway's own pages: begins with `/`, does not end with it. Default: `/.auth`.
  package internal(set) var pathPrefix = "/.auth"
  /// Authorities that are treated as that of `publicURL` (`listen.hosts`), in lower case.
  package internal(set) var aliases: [String] = []
  /// The hosts with a session cookie of their own (`[[host]]`), in the order of the file.
  package internal(set) var hosts: [HostConfiguration] = []
  /// The number of event loops; 0 for one for each processor that the process may use. Default: 0.
  package internal(set) var workers = 0
  /// The listeners (`[listen]`, `[[listener]]`), with the limits and timeouts of all of them.
  package internal(set) var listener = ListenerSettings(address: .unix(path: ""))
  /// Starts of sign-ins for each client address. Default: nil, no limit.
  package internal(set) var signInRate: SignInRate?
  /// The address of the admin listener. Default: `127.0.0.1:9901`.
  package internal(set) var adminAddress = BindAddress.ip(host: "127.0.0.1", port: 9901)
  /// The authorization of the admin API (`[admin]`). Default: no token.
  package internal(set) var admin = AdminSettings()
  /// The application of routes that name none (`[upstream]`).
  package internal(set) var upstream = UpstreamSettings(address: .unix(path: ""))
  /// Further applications, which routes name.
  package internal(set) var upstreams: [UpstreamSettings] = []
  /// The registration with Apple (`[apple]`).
  package internal(set) var apple = AppleSettings(clientID: "", teamID: "", keyID: "", privateKeyFile: "")
  /// The HTTP proxy between this machine and Apple. Default: nil: none.
  package internal(set) var appleProxy: ConnectProxy?
  /// The secrets, lifetimes and cookies of sessions (`[session]`).
  package internal(set) var session = SessionSettings(secretFiles: [])
  /// The interval and grace period of revalidations (`[revalidation]`).
  package internal(set) var revalidation = RevalidationSettings()
  /// The sign-in of native apps (`[native]`).
  package internal(set) var native = NativeSettings()
  /// The authorization of requests for other proxies (`[verify]`).
  package internal(set) var verify = VerifySettings()
  /// The store of accounts and sessions (`[store]`). Default: SQLite in `/var/lib/cordon`.
  package internal(set) var store = StoreSettings(location: .sqlite(path: "/var/lib/cordon/cordon.db"))
  /// The headers that tell the application who is signed in (`[identity]`, `[identity.headers]`), and those of each
  /// upstream.
  package internal(set) var identityHeaders = IdentityHeaderSettings()
  /// The signed assertions (`[assertion]`). Default: none, without keys.
  package internal(set) var assertion = AssertionSettings()
  /// The address to which Apple's notifications are relayed. Default: nil, not relayed.
  package internal(set) var notificationRelay: EndpointAddress?
  /// The default access settings of all routes.
  package internal(set) var access = AccessSettings()
  /// In the order of the file.
  package internal(set) var routes: [RouteSettings] = []
  /// Nil until `access`, `routes`, `groups` and `hosts` are checked.
  package internal(set) var compiledRoutes: CompiledRoutes?
  /// In the order of the file.
  package internal(set) var groups: [GroupConfiguration] = []
  /// The number of members in the file of each of them, when the configuration was read.
  package internal(set) var membersInFiles: [Int] = []
  /// Added to every response. Default: none.
  package internal(set) var responseHeaders: [ResponseHeader] = []
  /// The pages of `publicURL` (`[pages]`).
  package internal(set) var pages = PageSettings()
  /// Apple's button on the sign-in page (`[pages.button]`).
  package internal(set) var button = ButtonSettings()
  /// The logs (`[log]`).
  package internal(set) var log = LogSettings()
  /// The graceful shutdown (`[shutdown]`).
  package internal(set) var shutdown = DrainSettings()

  /// The table that `access`, `routes`, `groups` and `hosts` were compiled to. These are compared themselves, so any
  /// two tables count as equal.
  package struct CompiledRoutes: Sendable, Equatable {
    /// Holds for these four as they are.
    package let table: RouteTable

    /// Always true.
    package static func == (_: CompiledRoutes, _: CompiledRoutes) -> Bool { true }
  }

  /// Created by the reader of files only.
  init() {}

  /// The return URL for Apple: `publicURL`, `pathPrefix` and `/callback`.
  package var redirectURI: String { publicURL + GatewayEndpoint.callback.path(below: pathPrefix) }

  /// The main listener's address if its port is below 1024, which the service needs its socket unit for.
  package var privilegedAddress: String? {
    if case .ip(_, 1..<1_024) = listener.main.address { listener.main.address.description } else { nil }
  }

  /// The part of `publicURL` after `://`.
  package var publicAuthority: String {
    String(decoding: publicURL.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2), as: UTF8.self)
  }

  /// The public origin in its parts.
  package var publicOrigin: PublicOrigin { get throws(PublicOriginError) { try PublicOrigin(parsing: publicURL) } }
}
