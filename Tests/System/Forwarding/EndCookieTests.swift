import Foundation
import TemporaryDirectoryTesting
import Testing

// One person after another at one browser, in front of an application with a session of its own.
//
// - A session cookie of the application works for the account that it was set for, and for no other.
// - It is deleted, and the cache cleared, at sign-out and when another account signs in.
// - Pages of a signed-in user are private, and vary by cookie.
// - A cookie without HttpOnly is not bound; the log says so once.
// - Another upstream of the same application forwards the same cookies.

@SystemActor
@Suite("Session cookies of the application")
struct EndCookieTests {
  /// An application that greets whom its own session knows, as it was at the first visit.
  private static let answer: RawUpstream.RequestHandler = { request, connection in
    let cookies = request.fields["Cookie"] ?? ""
    let known = cookies.split(separator: "; ").first { $0.hasPrefix("sid=") }.map { String($0.dropFirst(4)) }
    let user = request.fields["X-Forwarded-User"] ?? "nobody"
    var fields = ["Content-Type: text/plain"]
    if known == nil { fields.append("Set-Cookie: sid=session-of-\(user); Path=/; HttpOnly") }
    if request.target == "/open-cookie" { fields.append("Set-Cookie: seen=1; Path=/") }
    if request.target == "/fresh" { fields.append("Cache-Control: public, max-age=600") }
    let body = "hello \(known ?? "stranger"), cookies \(cookies)"
    try connection.send(
      "HTTP/1.1 200 OK\r\n" + fields.map { "\($0)\r\n" }.joined() + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
  }

  private static func site(_ adjust: (inout GatewayConfiguration) -> Void = { _ in }) throws -> Site {
    try Site(upstream: answer) {
      $0["upstream", "end_cookies"] = #"["sid", "sid; Path=/deep", "seen; Path=/; Domain=localhost"]"#
      $0["log", "format"] = "\"json\""
      $0.ending = "[[route]]\npath = \"/open\"\naccess = \"public\"\n"
      adjust(&$0)
    }
  }

  private func get(_ visitor: Visitor, _ site: Site, _ path: String = "/x") throws -> HTTPResponse {
    try visitor.fetch(site.origin + path)
  }

  @Test("The application's session of one account is never seen by the next account of the browser")
  func accounts() throws {
    let site = try Self.site()
    defer { site.stop() }
    let visitor = try site.signedIn(as: "anna")
    let subject = try site.apple.subject(of: "anna")
    #expect(try get(visitor, site).text.contains("hello session-of-\(subject), "))
    let anna = try #require(visitor.jar["sid"])
    #expect(anna.hasPrefix("session-of-\(subject).") && anna.utf8.count == subject.utf8.count + 28, "\(anna)")
    // The cookie is bound: with another account's session, and without one, it does not reach the application.
    let ben = try site.signedIn(as: "ben")
    let cookie = "__Host-cordon=\(try #require(ben.jar["__Host-cordon"]))"
    let client = site.gateway.client
    let stolen = try client.get("/x", fields: [("Cookie", "\(cookie); sid=\(anna)"), ("Accept", "*/*")])
    #expect(stolen.text.contains("hello stranger") && !stolen.text.contains("sid="), "\(stolen.text)")
    let nobody = try client.get("/open", fields: [("Cookie", "sid=\(anna)")])
    #expect(nobody.text.contains("hello stranger"))
    // Ben signs in at the same browser: what Anna left is deleted.
    try visitor.start(site)
    try visitor.decide(.proceed(user: "ben"))
    let form = try visitor.answerForm()
    let callback = try visitor.submit(form, following: false)
    #expect(
      callback.status == 303 && callback.response.fields["Clear-Site-Data"] == "\"cache\"", "\(callback.response)")
    #expect(visitor.jar["sid"] == nil)
    for deleted in ["sid=; Path=/;", "sid=; Path=/deep;", "seen=; Path=/; Domain=localhost;"] {
      #expect(callback.response.setCookies.count { $0.hasPrefix(deleted) } == 1, "\(deleted)")
    }
    #expect(try get(visitor, site).text.contains("hello stranger"))
    // The same account once more deletes nothing.
    try visitor.start(site)
    try visitor.decide(.proceed(user: "ben"))
    let again = try visitor.submit(try visitor.answerForm(), following: false)
    #expect(again.status == 303 && again.response.fields["Clear-Site-Data"] == nil)
    #expect(visitor.jar["sid"] != nil)
  }

  @Test("In an app, too, the application's session of one account is deleted when another one signs in")
  func nativeApp() throws {
    let site = try Self.site { $0["apple", "native_client_ids"] = "[\"com.example.app\"]" }
    defer { site.stop() }
    let app = Visitor()
    for (user, isCleared) in [("anna", false), ("ben", true), ("ben", false)] {
      let answer = try site.apple.authorizeNatively(user, app: "com.example.app", nonce: "raw-nonce")
      let json = ["identity_token": answer.identityToken, "authorization_code": answer.code, "nonce": "raw-nonce"]
      let cookies = try app.cookieHeader(for: site.origin + "/").map { [("Cookie", $0)] } ?? []
      let response = try site.gateway.client.send(
        "POST", "/.auth/native", fields: [("Content-Type", "application/json")] + cookies,
        body: Array(JSONSerialization.data(withJSONObject: json)))
      #expect(response.status == 200 && response.fields["Clear-Site-Data"] == (isCleared ? "\"cache\"" : nil))
      app.jar.take(response, host: try WebAddress(site.origin).host)
      #expect((app.jar["sid"] == nil) == (user == "anna" || isCleared))
      // The application begins a session of its own.
      _ = try get(app, site)
      let subject = try site.apple.subject(of: user)
      #expect(app.jar["sid"]?.hasPrefix("session-of-\(subject)") == true)
    }
  }

  @Test("Signing out deletes the application's session and clears the cache; session.clear_site_data = [] leaves that")
  func signOut() throws {
    for cleared in [true, false] {
      let site = try Self.site { if !cleared { $0["session", "clear_site_data"] = "[]" } }
      defer { site.stop() }
      let anna = try site.signedIn(as: "anna")
      _ = try get(anna, site)
      #expect(anna.jar["sid"] != nil)
      let answer = try anna.fetch(site.own("sign-out"), method: "POST", fields: [("Origin", site.origin)])
      #expect(answer.status == 204 && anna.jar["sid"] == nil)
      #expect(answer.fields["Clear-Site-Data"] == (cleared ? "\"cache\"" : nil))
    }
  }

  @Test(
    "Responses to a signed-in user are private and vary by cookie; those to others are as the application made them")
  func caching() throws {
    let site = try Self.site()
    defer { site.stop() }
    let anna = try site.signedIn(as: "anna")
    let fresh = try get(anna, site, "/fresh")
    #expect(fresh.fields["Cache-Control"] == "private, max-age=600" && fresh.fields["Vary"] == "Cookie")
    let open = try site.gateway.client.get("/open")
    #expect(open.fields["Cache-Control"] == nil && open.fields["Vary"] == nil)
  }

  @Test("A listed cookie without HttpOnly is forwarded as it is, and the log names it once")
  func notBound() throws {
    let site = try Self.site()
    defer { site.stop() }
    let anna = try site.signedIn(as: "anna")
    for _ in 0..<2 { _ = try get(anna, site, "/open-cookie") }
    #expect(anna.jar["seen"] == "1")
    #expect(try get(anna, site).text.contains("seen=1"))
    try site.gateway.waitForLog("session cookie of an application is not HttpOnly")
    let lines = String(decoding: site.gateway.log, as: UTF8.self).split(separator: "\n")
      .filter { $0.contains("is not HttpOnly") }
    #expect(lines.count == 1 && lines[0].contains("seen") && lines[0].contains("default"))
    // A reload with another upstream ahead of it changes nothing.
    var configuration = site.gateway.configuration
    configuration.ending += """
      [[upstreams]]
      name = "another"
      url = "http://127.0.0.1:9"
      end_cookies = ["other"]
      [[route]]
      path = "/another/"
      upstream = "another"

      """
    _ = try configuration.install(in: site.gateway.directory)
    site.gateway.process.signal(SIGHUP)
    try site.gateway.waitForLog("configuration reloaded")
    #expect(try get(anna, site).text.contains("seen=1"))
  }

  @Test("Another upstream with the same address forwards the application's cookies as the first one does")
  func secondUpstream() throws {
    let site = try Self.site { configuration in
      let url = configuration["upstream", "url"] ?? ""
      configuration.ending += """
        [[upstreams]]
        name = "slow"
        url = \(url)
        [[route]]
        path = "/slow/"
        upstream = "slow"

        """
    }
    defer { site.stop() }
    let anna = try site.signedIn(as: "anna")
    let subject = try site.apple.subject(of: "anna")
    _ = try get(anna, site, "/open-cookie")
    // Without the code, and the other one as it is: no response by this upstream has set either.
    for path in ["/x", "/slow/x"] {
      let answer = try get(anna, site, path)
      #expect(answer.text.contains("sid=session-of-\(subject)"), "\(path): \(answer.text)")
      #expect(!answer.text.contains("session-of-\(subject)."), "\(path): \(answer.text)")
      #expect(answer.text.contains("seen=1"), "\(path): \(answer.text)")
    }
    // With the session of another account, by the other upstream, it does not reach the application.
    let ben = try site.signedIn(as: "ben")
    let fields = [
      ("Cookie", "__Host-cordon=\(try #require(ben.jar["__Host-cordon"])); sid=\(try #require(anna.jar["sid"]))"),
      ("Accept", "*/*"),
    ]
    let stolen = try site.gateway.client.get("/slow/x", fields: fields)
    #expect(stolen.text.contains("hello stranger") && !stolen.text.contains("sid="), "\(stolen.text)")
  }
}
