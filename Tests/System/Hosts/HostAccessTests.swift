import Foundation
import Testing

// Access on several hosts, and the application behind each.
//
// - The deny lists of [access] hold on every host; a route of one host cannot lift what every host denies.
// - The upstream comes from the most specific route that states one, then from the [[host]].
// - A bearer token is for the host that issued it, and a cookie of one host is worth nothing on another.

@SystemActor
@Suite("Access on several hosts")
struct HostAccessTests {
  private func site(_ other: RawUpstream, _ access: String) throws -> Site {
    try Site(upstream: EchoingApplication.answer) { configuration in
      configuration["pages", "show_sign_in_page"] = "false"
      configuration["admin", "token_file"] = "\"admin.token\""
      configuration["apple", "native_client_ids"] = "[\"\(GatewayConfiguration.appIDs[0])\"]"
      configuration["native", "bearer"] = "true"
      configuration.ending = "[access]\n\(access)\n"
      try? configuration.addHosts(["wiki"], lines: "upstream = \"wiki\"\n")
      try? configuration.addHosts(["tickets"])
      let (wiki, tickets) = ("wiki.localhost:\(configuration.port)", "tickets.localhost:\(configuration.port)")
      configuration.ending += """
        [[upstreams]]
        name = "wiki"
        url = "http://127.0.0.1:\(other.port)"

        [[route]]
        host = "\(tickets)"
        path = "/wiki/"
        upstream = "wiki"

        [[route]]
        host = "*"
        path = "/shut/"
        access = "deny"

        [[route]]
        host = "\(wiki)"
        path = "/shut/open/"
        access = "signed-in"

        [[route]]
        host = "\(wiki)"
        path = "/open/"
        access = "signed-in"

        """
    }
  }

  @Test("Deny lists hold on every host, and each request reaches the application of its route or its host")
  func rules() throws {
    let other = try RawUpstream { _, connection in try connection.send(RawUpstream.response(body: "the wiki")) }
    defer { other.stop() }
    let site = try site(other, "deny_emails = [\"ben@example.org\"]")
    defer { site.stop() }
    let (anna, ben) = (try site.signedIn(), try site.signedIn(as: "ben"))
    for (host, path, status, isWiki) in [
      ("wiki", "/x", 200, true), ("wiki", "/open/x", 200, true), ("tickets", "/x", 200, false),
      ("tickets", "/wiki/x", 200, true), ("wiki", "/shut/open/x", 403, false), ("tickets", "/shut/x", 403, false),
    ] {
      let page = try anna.open(site.origin(of: host) + path)
      #expect(page.status == status, "\(host) \(path)")
      #expect(page.text.contains("the wiki") == isWiki, "\(host) \(path)")
      #expect(try ben.open(site.origin(of: host) + path).status == 403, "\(host) \(path)")
    }
    #expect(try anna.open(site.origin + "/wiki/x").text.contains("X-Forwarded-User"))
  }

  @Test("A bearer token counts on the host that issued it, and a host's cookie on that host only")
  func credentials() throws {
    let other = try RawUpstream(EchoingApplication.answer)
    defer { other.stop() }
    let site = try site(other, "")
    defer { site.stop() }
    let answer = try site.apple.authorizeNatively("anna", nonce: "n")
    let made = try site.gateway.client.post(
      "/.auth/native",
      json: ["identity_token": answer.identityToken, "authorization_code": answer.code, "nonce": "n"])
    let token = try #require(try made.json()["session_token"] as? String, "\(made.text)")
    let bearer = [("Authorization", "Bearer \(token)")]
    let anna = try site.signedIn()
    try anna.open(site.origin(of: "wiki") + "/")
    let cookie = [("Cookie", try anna.session(on: "wiki"))]
    let own = [("Cookie", try #require(try anna.cookieHeader(for: site.origin + "/")))]
    func statuses(_ fields: [(String, String)]) throws -> [Int] {
      try [site.gateway.client, site.client(of: "wiki"), site.client(of: "tickets")].map {
        try $0.get("/.auth/session", fields: fields).status
      }
    }
    #expect(try statuses(bearer) == [200, 401, 401])
    #expect(try statuses(cookie) == [401, 200, 401])
    #expect(try statuses(own) == [200, 401, 401])
  }
}
