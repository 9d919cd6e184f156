import Foundation
import Testing

// What is revoked at Apple, and what is not; and the errors of the token endpoint.

@SystemActor
@Suite("Revocation, and Apple's errors", .serialized, .site)
struct RevocationTests {
  private let site: Site

  init() throws {
    site = try Site.current
    try site.apple.behave()
    try site.apple.forgetRequests()
  }

  @Test("An ordinary sign-out revokes nothing at Apple")
  func signOut() throws {
    let anna = try site.signedIn()
    let response = try anna.fetch(site.own("sign-out"), method: "POST", fields: [("Origin", site.origin)])
    #expect(response.status == 204)
    #expect(try anna.fetch(site.own("session")).status == 401)
    #expect(try site.apple.requests(at: "/auth/revoke").isEmpty)
  }

  @Test(
    "Every error of the token endpoint, on order, ends in a page and in no session",
    arguments: [
      "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
      "invalid_scope",
    ])
  func everyError(error: String) throws {
    try site.apple.fault(
      "token", "refuse", ["error": error, "times": 1, "grant_type": "authorization_code"])
    let visitor = Visitor()
    let page = try visitor.signIn(site, as: "ben")
    #expect(page.status >= 400 && page.text.contains("<html"))
    #expect(visitor.jar["__Host-cordon"] == nil)
    #expect(try site.apple.tokenRequests("authorization_code").last?.status == 400)
    // The next attempt succeeds.
    _ = try site.signedIn(as: "ben")
  }
}
