import AccessPolicy
import Testing
import WebFormats

@testable import DataPlane
@testable import Gateway

@Suite("CORS preflights at the gate")
struct PreflightTests {
  private static func settings() throws -> GatewaySettings {
    var api = RouteSettings(path: "/api/")
    api.preflight = .pass
    var inside = RouteSettings(path: "/api/inside/")
    inside.networks = ["10.0.0.0/8"].compactMap { NetworkPrefix($0) }
    var closed = RouteSettings(path: "/api/closed/")
    closed.preflight = .block
    return try .forTests(routes: [api, inside, closed, RouteSettings(path: "/api/never/", access: .deny)])
  }

  private static let preflight = [
    "Origin: https://other.example", "Access-Control-Request-Method: PUT", "Sec-Fetch-Mode: cors",
  ]

  private func status(
    _ rig: GateRig, _ target: String, method: String = "OPTIONS", _ fields: [String] = preflight
  ) async throws -> Int? { try await rig.decide(Asked(target: target, method: method, fields: fields)).status }

  @Test("A preflight passes without a session where the route says so, and nothing else does")
  func passing() async throws {
    let rig = try await GateRig(try Self.settings())
    #expect(try await status(rig, "/api/x") == nil)
    for fields in [Array(Self.preflight.dropFirst()), [Self.preflight[0]], Self.preflight + ["Content-Length: 3"]] {
      #expect(try await status(rig, "/api/x", fields) == 401, "\(fields)")
    }
    #expect(try await status(rig, "/api/x", method: "PUT") == 401)
    for (target, expected) in [("/x", 401), ("/api/closed/x", 401), ("/api/never/x", 403), ("/api/inside/x", 403)] {
      #expect(try await status(rig, target) == expected, "\(target)")
    }
    #expect(try await status(rig, "/API/x") == 401, "the other reading is not meant")
    try await rig.stop()
  }

  @Test("A preflight is forwarded without an identity and without credentials, whatever came along")
  func anonymous() async throws {
    let rig = try await GateRig(try Self.settings())
    let (_, cookie) = try rig.signIn("001.anna")
    let forwarded = try await rig.forwarded(
      Asked(target: "/api/x", method: "OPTIONS", fields: Self.preflight + ["Cookie: \(cookie)"]))
    #expect(forwarded.identity == nil && forwarded.session == nil && forwarded.dropsAuthorization)
    try await rig.stop()
  }
}
