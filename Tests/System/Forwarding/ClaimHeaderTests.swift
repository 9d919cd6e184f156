import Foundation
import Testing

// What an identity token says, towards the application.
//
// - Every claim of Apple's can be a header; flags are told alike whether Apple wrote a Boolean or text.
// - An empty address, an empty claim and a missing one are not sent as headers.
// - nonce_supported decides whether a nonce may be missing.

/// Every claim that the suite has as a header.
private let everyClaim = [
  "sub", "iss", "aud", "iat", "exp", "auth_time", "nonce_supported", "email", "email_verified", "is_private_email",
  "real_user_status", "transfer_sub", "org_id", "scopes", "name", "given_name", "family_name", "session_id", "custom",
]

@SystemActor
@Suite(
  "Claims as headers", .serialized,
  .site {
    for claim in everyClaim { $0["identity.headers", "X-Claim-\(claim)"] = "\"\(claim)\"" }
    $0["apple", "native_client_ids"] = "[\"com.example.app\"]"
  })
struct ClaimHeaderTests {
  private let site: Site

  init() throws {
    site = try Site.current
    try site.apple.behave()
    site.upstream.forget()
  }

  /// The headers of one request of a user, by claim.
  private func headers(_ visitor: Visitor) throws -> [String: String] {
    let path = "/\(UUID().uuidString)"
    _ = try visitor.fetch(site.origin + path)
    let seen = try site.upstream.waitForRequest { $0.target == path }
    return Dictionary(
      uniqueKeysWithValues: everyClaim.compactMap { claim in
        seen.fields["X-Claim-\(claim)"].map { (claim, $0) }
      })
  }

  @Test("Every claim of Apple's is told, flags alike from Booleans and from text", arguments: [true, false])
  func claims(flagsAsText: Bool) throws {
    try site.apple.switches(["flags_as_strings": flagsAsText, "nonce_supported": true])
    defer { try? site.apple.switches(["flags_as_strings": false]) }
    try site.apple.add(user: [
      "id": "olga", "first_name": "Olga", "last_name": "Z", "email": "olga@example.com", "org_id": "org-7",
      "transfer_sub": "001.transfer.1", "claims": ["scopes": ["edu.users.read", "edu.classes.read"], "custom": 7],
    ])
    let visitor = Visitor()
    try visitor.signIn(site, as: "olga", hideEmail: true)
    let headers = try headers(visitor)
    #expect(headers["sub"] == (try site.apple.subject(of: "olga")))
    #expect(headers["iss"] == "https://appleid.apple.com" && headers["aud"] == GatewayConfiguration.clientID)
    for number in ["iat", "exp", "auth_time"] { #expect(headers[number].flatMap { Int($0) } ?? 0 > 1_000_000_000) }
    #expect(headers["nonce_supported"] == "true")
    #expect(headers["email"]?.hasSuffix("@privaterelay.appleid.com") == true)
    #expect(headers["email_verified"] == "true" && headers["is_private_email"] == "true")
    #expect(headers["transfer_sub"] == "001.transfer.1" && headers["org_id"] == "org-7")
    #expect(headers["scopes"] == "edu.users.read edu.classes.read" && headers["custom"] == "7")
    #expect(headers["real_user_status"] == nil, "native apps only")
  }

  @Test("The real-user status of a native app is told", arguments: [0, 1, 2])
  func realUser(status: Int) throws {
    try site.apple.add(user: [
      "id": "real\(status)", "first_name": "R", "last_name": "S", "email": "r@example.com", "real_user_status": status,
    ])
    let answer = try site.apple.authorizeNatively("real\(status)", nonce: "n")
    let response = try site.gateway.client.post(
      "/.auth/native",
      json: ["identity_token": answer.identityToken, "authorization_code": answer.code, "nonce": "n"])
    let cookie = try #require(response.setCookies.first?.split(separator: ";").first.map(String.init))
    _ = try site.gateway.client.get("/real\(status)", fields: [("Cookie", cookie)])
    let seen = try site.upstream.waitForRequest { $0.target == "/real\(status)" }
    #expect(seen.fields["X-Claim-real_user_status"] == "\(status)")
    #expect(seen.fields["X-Claim-aud"] == "com.example.app")
  }

  @Test("An empty address, an empty claim and a missing one are not sent as headers")
  func emptyClaims() throws {
    try site.apple.add(user: [
      "id": "empty", "first_name": "E", "last_name": "M", "email": "e@example.com",
      "claims": ["email": "", "org_id": "", "custom": NSNull()] as [String: Any],
    ])
    let visitor = Visitor()
    try visitor.signIn(site, as: "empty")
    let headers = try headers(visitor)
    for claim in ["email", "org_id", "custom", "transfer_sub", "scopes"] { #expect(headers[claim] == nil, "\(claim)") }
    #expect(headers["sub"] != nil)
  }

  @Test("A nonce may be missing only where nonce_supported is not true")
  func nonceSupported() throws {
    for (supported, isGood) in [(true, false), (false, true), (nil, true)] as [(Bool?, Bool)] {
      let claims: [String: Any] = ["nonce": NSNull(), "nonce_supported": supported.map { $0 as Any } ?? NSNull()]
      for place in ["authorize", "token"] { try site.apple.tamper(place, token: ["claims": claims]) }
      let visitor = Visitor()
      try visitor.signIn(site)
      #expect((visitor.jar["__Host-cordon"] != nil) == isGood, "\(String(describing: supported))")
      try site.apple.behave()
    }
  }
}
