import AccessPolicy
import AppleIdentity
import DataPlane
import Operations
import Secrets
import Sessions

@testable import Gateway

extension GatewaySettings {
  /// A gateway for `https://app.example.com`, as small as one can be.
  static func forTests(routes: [RouteSettings] = []) throws -> GatewaySettings {
    var settings = GatewaySettings(
      publicAddress: OriginSettings(
        origin: try PublicOrigin(parsing: "https://app.example.com"), prefix: "/.auth", hosts: []),
      listener: ListenerSettings(address: .ip(host: "127.0.0.1", port: 0)),
      adminAddress: .ip(host: "127.0.0.1", port: 0),
      upstreams: UpstreamTables(
        main: UpstreamSettings(address: .tcp(host: "127.0.0.1", port: 9, tls: false)), named: []),
      routing: RoutingSettings(sites: [], access: AccessSettings(), routes: routes, groups: [], table: nil),
      apple: AppleSettings(clientID: "web", teamID: "DEF123GHIJ", keyID: "ABC123DEFG", privateKeyFile: "/nowhere"),
      session: SessionSettings(secretFiles: []), store: StoreSettings(location: .sqlite(path: "/nowhere")))
    settings.workers = 1
    return settings
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

extension LogSettings {
  /// Without audit and access log.
  static var silent: LogSettings {
    var settings = LogSettings()
    settings.auditLog = false
    return settings
  }
}
