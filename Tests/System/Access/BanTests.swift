import Foundation
import TemporaryDirectoryTesting
import Testing

// Bans.
//
// - A ban ends the sessions on every gateway within two seconds, and what is open of them.
// - A banned user gets no session: a page, or JSON for apps; nothing is stored, and the audit says so.
// - When the ban ends, signing in works again.
// - A denied user is refused everywhere, and is nobody on a public route; deleting the account does not lift it.

@SystemActor
@Suite("Bans and deny lists", .serialized)
struct BanTests {
  private static func site(
    _ ending: String = "", fakeClock: Bool = false, adjust: (inout GatewayConfiguration) -> Void = { _ in }
  ) throws -> Site {
    try Site(fakeClock: fakeClock, upstream: EchoingApplication.answer) {
      $0["admin", "token_file"] = "\"admin.token\""
      $0["log", "format"] = "\"json\""
      $0.ending = ending
      adjust(&$0)
    }
  }

  @Test("A ban ends the sessions on every gateway within two seconds, and what is open of them")
  func everywhere() throws {
    let site = try Self.site()
    defer { site.stop() }
    let other = try GatewayProcess(
      site.gateway.configuration.replica(store: "\(site.gateway.directory.path)/cordon.db"))
    defer { other.stop() }
    var seconds: [Double] = []
    for _ in 0..<3 {
      let ben = try site.signedIn(as: "ben")
      let sockets = [try site.gateway.webSocket(of: ben, site), try other.webSocket(of: ben, site)]
      let cookie = try #require(try ben.cookieHeader(for: site.origin + "/"))
      try site.gateway.order("PUT", site.ban(of: "ben"), ["reason": "a test"])
      let began = Date()
      #expect(try site.gateway.client.get("/.auth/session", fields: [("Cookie", cookie)]).status == 401)
      for socket in sockets { _ = try socket.readToEnd() }
      var client = HTTPClient(port: other.configuration.port)
      client.authority = site.gateway.client.authority
      try poll("the other gateway to refuse") {
        try client.get("/.auth/session", fields: [("Cookie", cookie)]).status == 401 ? () : nil
      }
      seconds.append(Date().timeIntervalSince(began))
      try site.gateway.order("DELETE", site.ban(of: "ben"))
    }
    #expect(try #require(seconds.min()) < 2, "\(seconds)")
  }

  @Test("A banned user gets no session from Apple's answer, until the ban ends")
  func signIn() throws {
    let site = try Self.site(fakeClock: true)
    defer { site.stop() }
    let subject = try site.apple.subject(of: "ben")
    let until = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: 7_200))
    try site.gateway.order("PUT", "/accounts/\(subject)/ban", ["until": until])
    let ben = Visitor()
    let page = try ben.signIn(site, as: "ben")
    #expect(page.status == 403 && page.text.contains("Your account is blocked"))
    #expect(ben.jar["__Host-cordon"] == nil)
    #expect(try site.apple.tokenRequests("authorization_code").isEmpty, "the code was not used")
    try site.gateway.waitForLog("\"reason\":\"banned\"")
    let anna = try site.signedIn(as: "anna")
    #expect(try anna.fetch(site.origin + "/x").status == 200)
    try site.setClock(secondsAhead: 2 * 3_600 + 60)
    let again = try site.signedIn(as: "ben")
    #expect(try again.fetch(site.origin + "/x").status == 200)
  }

  @Test("A banned user of an app gets JSON and no session")
  func native() throws {
    let site = try Self.site { $0["apple", "native_client_ids"] = "[\"\(GatewayConfiguration.appIDs[0])\"]" }
    defer { site.stop() }
    try site.gateway.order("PUT", site.ban(of: "ben"))
    let answer = try site.apple.authorizeNatively("ben", nonce: "n")
    let response = try site.gateway.client.post(
      "/.auth/native",
      json: ["identity_token": answer.identityToken, "authorization_code": answer.code, "nonce": "n"])
    #expect(response.status == 403 && response.text.contains("\"error\":\"banned\"") && response.setCookies.isEmpty)
  }

  @Test("A denied user is refused everywhere, and is nobody on a public route")
  func denied() throws {
    let site = try Self.site(
      """
      [[group]]
      name = "bad"
      [[route]]
      path = "/open/"
      access = "public"
      """
    ) { $0["access", "deny_groups"] = "[\"bad\"]" }
    defer { site.stop() }
    let ben = try site.signedIn(as: "ben")
    #expect(try ben.fetch(site.origin + "/open/x").text.contains("X-Forwarded-User"))
    #expect(try ben.fetch(site.origin + "/x").status == 200)
    try site.gateway.order("PUT", site.member("ben", of: "bad"))
    #expect(try ben.fetch(site.origin + "/x").status == 403)
    let open = try ben.fetch(site.origin + "/open/x")
    #expect(open.status == 200 && !open.text.contains("X-Forwarded-User"))
  }

  @Test("A user in a group of a deny list stays refused after \"stop using\" and after disconnecting")
  func deniedAfterLeaving() throws {
    let site = try Self.site(
      """
      [[group]]
      name = "bad"
      [[group]]
      name = "good"
      """
    ) { $0["access", "deny_groups"] = "[\"bad\"]" }
    defer { site.stop() }
    var ben = try site.signedIn(as: "ben")
    #expect(try ben.fetch(site.origin + "/x").status == 200)
    for group in ["bad", "good"] { try site.gateway.order("PUT", site.member("ben", of: group)) }
    let page = try ben.open(site.own("account/stop"))
    let form = try #require(page.forms.first { $0.inputs.contains { $0.0 == "stop" } }, "\(page.text)")
    #expect(try ben.submit(form).status == 200)
    ben = try site.signedIn(as: "ben")
    #expect(try ben.fetch(site.origin + "/x").status == 403)
    #expect(try ben.open(site.own("account")).text.contains("<bdi>bad</bdi>"))
    #expect(try !ben.open(site.own("account")).text.contains("<bdi>good</bdi>"))
    try site.gateway.order("POST", "/accounts/\(site.apple.subject(of: "ben"))/disconnect")
    ben = try site.signedIn(as: "ben")
    #expect(try ben.fetch(site.origin + "/x").status == 403)
    try site.gateway.order("DELETE", site.member("ben", of: "bad"))
    ben = try site.signedIn(as: "ben")
    #expect(try ben.fetch(site.origin + "/x").status == 200)
  }
}
