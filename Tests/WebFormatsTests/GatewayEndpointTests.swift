import Testing
import WebFormats

@Suite("The gateway's own endpoints")
struct GatewayEndpointTests {
  @Test("The paths of the gateway's own endpoints are those that others rely on")
  func paths() {
    #expect(
      GatewayEndpoint.allCases.map { $0.path(below: "/.auth") } == [
        "/.auth/sign-in", "/.auth/button", "/.auth/authorize", "/.auth/callback", "/.auth/sign-out", "/.auth/session",
        "/.auth/account", "/.auth/account/stop", "/.auth/native", "/.auth/native/exchange", "/.auth/notifications",
        "/.auth/keys", "/.auth/verify", "/.auth/invite", "/.auth/people", "/.auth/request-access",
        "/.auth/arrive", "/.auth/form",
      ])
  }

  @Test("A code follows the path of invitations, and nothing follows the others")
  func codes() {
    #expect(GatewayEndpoint(name: "invite/abc") == .invite)
    #expect(GatewayEndpoint(name: "invite") == .invite)
    #expect(GatewayEndpoint(name: "invites") == nil)
    #expect(GatewayEndpoint(name: "people/abc") == nil)
  }

  @Test("No sign-in leads back to an endpoint that starts, ends or refuses one")
  func returnTargets() {
    #expect(
      GatewayEndpoint.allCases.filter(\.mayBeReturnedTo) == [
        .button, .session, .account, .accountStop, .keys, .verify, .invite, .people, .requestAccess, .form,
      ])
  }
}
