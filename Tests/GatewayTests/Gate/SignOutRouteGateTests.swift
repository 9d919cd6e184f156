import AccessPolicy
import Testing
import WebFormats

@testable import DataPlane
@testable import Gateway

@Suite("Sign-out routes at the gate")
struct SignOutRouteGateTests {
  private static func settings() throws -> GatewaySettings {
    var settings = try GatewaySettings.forTests(routes: [RouteSettings(path: "/logout", access: .signOut)])
    settings.publicAddress.hosts = ["old.example.com"]
    settings.routing.access.networks = ["10.0.0.0/8"].compactMap { NetworkPrefix($0) }
    return settings
  }

  @Test("A sign-out route is answered by the gateway, with a session and without one, whatever the method")
  func handled() async throws {
    let rig = try await GateRig(try Self.settings())
    let (_, cookie) = try rig.signIn("001.anna")
    for fields in [[], ["Cookie: \(cookie)"]] {
      for method in ["GET", "HEAD", "POST", "PUT", "OPTIONS"] {
        guard case .handle = try await rig.decide(Asked(target: "/logout?x=1", method: method, fields: fields)) else {
          Issue.record("\(method) \(fields)")
          continue
        }
      }
    }
    try await rig.stop()
  }

  @Test("An alias leads to the sign-out of public_url, and verify answers 403")
  func elsewhere() async throws {
    let rig = try await GateRig(try Self.settings())
    for (method, status) in [("GET", 302), ("POST", 303)] {
      guard
        case .answer(status, location: "https://app.example.com/.auth/sign-out") = try await rig.decide(
          Asked(target: "/logout?x=1", method: method, host: "old.example.com"))
      else {
        Issue.record("\(method)")
        continue
      }
    }
    let (_, cookie) = try rig.signIn("001.anna")
    let verify = Asked(
      target: "/.auth/verify",
      fields: ["X-Original-URI: /logout", "X-Forwarded-For: 10.0.0.1", "Cookie: \(cookie)"], isFromProxy: true)
    #expect(try await rig.decide(verify).status == 403)
    try await rig.stop()
  }

  @Test("An exchange that is open on a route does not outlast its becoming a sign-out route")
  func reload() async throws {
    let rig = try await GateRig(try .forTests())
    let (_, cookie) = try rig.signIn("001.anna")
    let exchange = try await rig.open(Asked(target: "/logout", fields: ["Cookie: \(cookie)"]))
    #expect(try await rig.review(exchange))
    try await rig.apply(try .forTests(routes: [RouteSettings(path: "/logout", access: .signOut)]))
    #expect(try await rig.review(exchange) == false)
    try await rig.stop()
  }
}
