import AccessPolicy
import AppleIdentity
import DataPlane
import IdentityAssertion
import Operations
import Pages
import Secrets
import Sessions

@testable import Gateway

extension GatewaySettings {
  /// A gateway for `https://app.example.com`, as small as one can be.
  static func forTests(routes: [RouteSettings] = []) throws -> GatewaySettings {
    GatewaySettings(
      origin: try PublicOrigin(parsing: "https://app.example.com"), prefix: "/.auth", hosts: [], workers: 1,
      listener: ListenerSettings(address: .ip(host: "127.0.0.1", port: 0)),
      adminAddress: .ip(host: "127.0.0.1", port: 0), admin: AdminSettings(),
      upstream: UpstreamSettings(address: .tcp(host: "127.0.0.1", port: 9, tls: false)), upstreams: [],
      apple: AppleSettings(clientID: "web", teamID: "DEF123GHIJ", keyID: "ABC123DEFG", privateKeyFile: "/nowhere"),
      native: NativeSettings(), verify: VerifySettings(), session: SessionSettings(secretFiles: []),
      revalidation: RevalidationSettings(),
      store: StoreSettings(location: .sqlite(path: "/nowhere")), identity: IdentityHeaderSettings(),
      assertion: AssertionSettings(), notificationRelay: nil, access: AccessSettings(), routes: routes, groups: [],
      pages: PageSettings(), button: ButtonSettings(), log: LogSettings(), drain: DrainSettings())
  }
}

extension SessionKeyring {
  /// The keys of these secrets, each told by a letter.
  static func forTests(_ letters: String = "a") throws -> SessionKeyring {
    try SessionKeyring(secrets: letters.utf8.map { SessionSecret(Array(repeating: $0, count: 32)) })
  }
}

extension GateConfiguration {
  static func forTests(
    _ settings: GatewaySettings? = nil, secrets: String = "a", after previous: GateConfiguration? = nil
  ) throws -> GateConfiguration {
    try GateConfiguration(
      try settings ?? .forTests(), keyring: try .forTests(secrets), after: previous)
  }
}
