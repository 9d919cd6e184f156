import AccessPolicy
import Sessions
import WebFormats

@testable import Gateway

extension GatewaySettings {
  /// A gateway that other proxies ask, with routes of each kind.
  static func forVerify(
    _ believe: [VerifySettings.Source]? = nil, _ change: (inout GatewaySettings) -> Void = { _ in }
  ) throws -> GatewaySettings {
    var reading = RouteSettings(path: "/wiki/", access: .public)
    reading.methods = ["GET"]
    var near = RouteSettings(path: "/near/")
    near.networks = [NetworkPrefix("10.0.0.0/8")!]
    var fresh = RouteSettings(path: "/fresh/")
    fresh.maxAge = 60
    var api = RouteSettings(path: "/api/")
    api.unauthenticated = .unauthorized
    var settings = try GatewaySettings.forTests(routes: [
      RouteSettings(path: "/open/", access: .public), RouteSettings(path: "/closed/", access: .deny), reading, near,
      fresh, api,
    ])
    settings.publicAddress.hosts = ["old.example.com"]
    settings.identity.headers = [.init(name: "X-User", claim: "sub")]
    if let believe { settings.verify.believe = believe }
    change(&settings)
    return settings
  }
}

/// A request of a trusted proxy to `verify`.
func asked(
  _ fields: [String], _ target: String = "/.auth/verify", method: String = "GET", host: String = "app.example.com",
  isTrusted: Bool = true, address: String = "192.0.2.1"
) -> Asked {
  Asked(target: target, method: method, host: host, fields: fields, isFromProxy: isTrusted, address: address)
}
