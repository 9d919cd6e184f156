import Testing
import WebFormats

@Suite("The gateway's own endpoints")
struct GatewayEndpointTests {
  @Test("The paths of the gateway's own endpoints are those that others rely on")
  func paths() {
    #expect(
      GatewayEndpoint.allCases.map { $0.path(below: "/.auth") } == [
        "/.auth/sign-in", "/.auth/button", "/.auth/authorize", "/.auth/callback", "/.auth/sign-out", "/.auth/session",
        "/.auth/native", "/.auth/native/exchange", "/.auth/notifications", "/.auth/keys", "/.auth/verify",
      ])
  }

  @Test("No sign-in leads back to an endpoint that starts, ends or refuses one")
  func returnTargets() {
    #expect(
      GatewayEndpoint.allCases.filter(\.mayBeReturnedTo) == [.button, .session, .keys, .verify])
  }
}
