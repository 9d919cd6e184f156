import Foundation
import Testing

// The account page of a signed-in user, in the real process.
//
// - It shows what Apple gave, and the sessions in everyday words; without a session a browser is sent to sign in, and a
//   script gets 401.
// - A user ends one session or all others, never another user's; they are dead at once, open streams too. Only our own
//   pages may ask for it.
// - "Stop using" revokes at Apple and deletes everything; what Apple does not revoke is kept and can be tried again.

@SystemActor
@Suite("The account page")
struct AccountPageTests {
  private static let page = "/.auth/account"

  private func site(_ adjust: (inout GatewayConfiguration) -> Void = { _ in }) throws -> Site {
    try Site(
      upstream: StreamingApplication.answer,
      adjust: {
        $0["pages", "application_name"] = "\"Orchard\""
        $0["log", "format"] = "\"json\""
        $0["admin", "token_file"] = "\"admin.token\""
        adjust(&$0)
      })
  }

  private func id(_ visitor: Visitor, _ site: Site) throws -> String {
    try #require(try visitor.fetch(site.own("session")).json()["session_id"] as? String)
  }

  private func isSignedIn(_ visitor: Visitor, _ site: Site) throws -> Bool {
    try visitor.fetch(site.own("session")).status == 200
  }

  private func audit(_ site: Site, _ event: String) -> [[String: Any]] {
    site.gateway.log.split(separator: 10).compactMap {
      try? JSONSerialization.jsonObject(with: Data($0)) as? [String: Any]
    }.filter { $0["kind"] as? String == "audit" && $0["event"] as? String == event }
  }

  /// The form of the open page with this hidden field.
  private func form(_ visitor: Visitor, _ name: String, _ value: String? = nil) throws -> HTMLForm {
    try #require(
      visitor.page?.forms.first { $0.inputs.contains { $0.0 == name && (value == nil || $0.1 == value) } },
      "no form with \(name) on \(visitor.page?.text ?? "no page")")
  }

  // MARK: The page

  @Test("The account page shows name, address, groups and sessions, and says which session is this one")
  func contents() throws {
    let site = try site {
      $0.ending = "[[group]]\nname = \"pickers\"\nmembers = [\"@example.com\"]\n[[group]]\nname = \"others\"\n"
    }
    defer { site.stop() }
    let anna = try site.signedIn()
    let other = try site.signedIn()
    let page = try anna.open(site.own("account"))
    #expect(page.status == 200 && page.address.path == Self.page)
    #expect(page.text.contains("Your account at Orchard"))
    #expect(page.text.contains("<bdi>Anna Bergström</bdi>"))
    #expect(page.text.contains("<bdi>anna.bergstrom@example.com</bdi>"))
    #expect(page.text.contains("<li><bdi>pickers</bdi></li>") && !page.text.contains("<bdi>others</bdi>"))
    #expect(!page.text.contains("forwards mail"))
    // One form for the other session, one for all others; none for this one.
    let own = try id(anna, site)
    #expect(page.forms.allSatisfy { $0.method == "POST" && $0.action == Self.page })
    #expect(page.forms.flatMap(\.inputs).map(\.0) == ["session", "others"])
    #expect(page.forms.flatMap(\.inputs).first?.1 == (try id(other, site)))
    #expect(!page.text.contains(own))
    #expect(page.response.fields["Cache-Control"] == "no-store")
    let policy = try #require(page.response.fields["Content-Security-Policy"])
    #expect(policy.contains("default-src 'none'") && policy.contains("form-action 'self'"))
    #expect(!page.text.contains("<script") && !policy.contains("script-src"))
    let arabic = try anna.fetch(
      site.own("account"), fields: [("Accept", "text/html"), ("Accept-Language", "ar")])
    #expect(arabic.text.contains("dir=\"rtl\"") && arabic.fields["Content-Language"] == "ar")
    // A relay address is said to be one.
    let ben = Visitor()
    try ben.signIn(site, as: "ben", hideEmail: true)
    #expect(try ben.open(site.own("account")).text.contains("Apple made this address for you."))
  }

  @Test("Without a session a browser signs in and comes back, and a script gets 401")
  func withoutSession() throws {
    let site = try site()
    defer { site.stop() }
    for path in [Self.page, Self.page + "/stop"] {
      let visitor = Visitor()
      let first = try visitor.open(site.origin + path, following: false)
      #expect(first.status == 302)
      #expect(first.response.location == "/.auth/sign-in?return_to=\(path)")
      let script = try Visitor().fetch(site.origin + path)
      #expect(script.status == 401)
      #expect(try script.json()["error"] as? String == "sign_in_required")
      try visitor.signIn(site, as: "anna", returnTo: path)
      #expect(visitor.page?.address.path == path && visitor.page?.status == 200)
    }
    let post = try site.gateway.client.post(
      Self.page, form: [("others", "end")], fields: [("Origin", site.origin), ("Sec-Fetch-Site", "same-origin")])
    #expect(post.status == 401)
    #expect(try site.gateway.client.send("PUT", Self.page).status == 401)
  }

  // MARK: Ending sessions

  @Test(
    "A user ends another session of theirs: it is dead when the page answers, its stream too, and the audit says so")
  func endOne() throws {
    let site = try site()
    defer { site.stop() }
    let anna = try site.signedIn()
    let phone = try site.signedIn()
    let third = try site.signedIn()
    let ben = try site.signedIn(as: "ben")
    let handle = try id(phone, site)
    let cookie = try #require(phone.jar["__Host-cordon"])
    let events = try site.gateway.connect()
    try events.send(
      "GET /events HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\nCookie: __Host-cordon=\(cookie)\r\n\r\n")
    _ = try events.read(through: "data: first\n\n")
    try anna.open(site.own("account"))
    let ending = try form(anna, "session", handle)
    let page = try anna.submit(ending)
    #expect(page.status == 200 && page.address.target == Self.page + "?ended=one")
    #expect(page.text.contains("role=\"status\">That browser is now signed out."))
    #expect(try !isSignedIn(phone, site))
    try events.waitForClose()
    #expect(try isSignedIn(anna, site) && isSignedIn(third, site) && isSignedIn(ben, site))
    let line = try poll("the audit") { audit(site, "session_ended").first }
    #expect(line["session"] as? String == handle && line["reason"] as? String == "signed_out")
    #expect(line["user"] is String && line["request"] is String)
    // Once more, by a second click or from a tab that still shows it: the user sees the sessions that there are.
    let twice = try anna.submit(ending)
    #expect(twice.status == 200 && twice.address.target == Self.page)
    #expect(twice.text.contains("Your account at Orchard") && !twice.text.contains(handle))
    // For a program it is not a session now.
    let again = try anna.fetch(
      site.own("account"), method: "POST", fields: [("Origin", site.origin)], form: "session=\(handle)")
    #expect(again.status == 404)
  }

  @Test("All others end at once, and this one stays")
  func endOthers() throws {
    let site = try site()
    defer { site.stop() }
    let visitors = try (0..<4).map { _ in try site.signedIn() }
    let ben = try site.signedIn(as: "ben")
    try visitors[0].open(site.own("account"))
    let page = try visitors[0].submit(form(visitors[0], "others"))
    #expect(page.text.contains("You are now signed out everywhere else."))
    #expect(page.forms.isEmpty, "nothing is left to end")
    #expect(try visitors.map { try isSignedIn($0, site) } == [true, false, false, false])
    #expect(try isSignedIn(ben, site))
    try poll("the audit") { audit(site, "session_ended").count == 3 ? () : nil }
  }

  @Test("The session of another user is not found, and goes on")
  func foreign() throws {
    let site = try site()
    defer { site.stop() }
    let anna = try site.signedIn()
    let ben = try site.signedIn(as: "ben")
    for name in [try id(ben, site), "AAAAAAAAAAAAAAAAAAAAAA", "x", "", "%00", "é"] {
      let answer = try anna.fetch(
        site.own("account"), method: "POST", fields: [("Origin", site.origin)],
        form: "session=\(FormEncoding.escape(name))")
      #expect(answer.status == 404, "\(name)")
    }
    #expect(try isSignedIn(ben, site) && isSignedIn(anna, site))
    #expect(audit(site, "session_ended").isEmpty)
    let own = try id(anna, site)
    for body in ["", "session=\(own)&others=end", "session=a&session=b", "others", "other=end", "%zz"] {
      let answer = try anna.fetch(
        site.own("account"), method: "POST", fields: [("Origin", site.origin)], form: body)
      // A field without a value is still there.
      #expect(answer.status == (body == "others" ? 204 : 400), "\(body)")
    }
    #expect(try isSignedIn(ben, site) && isSignedIn(anna, site))
  }

  @Test("Only our own pages may ask to end a session or to stop")
  func crossSite() throws {
    let site = try site()
    defer { site.stop() }
    let anna = try site.signedIn()
    let other = try site.signedIn()
    let handle = try id(other, site)
    let cookie = try #require(try anna.cookieHeader(for: site.origin + "/"))
    let origins: [[(String, String)]] = [
      [], [("Origin", "null")], [("Origin", "https://evil.example")], [("Sec-Fetch-Site", "cross-site")],
      [("Sec-Fetch-Site", "same-site")], [("Sec-Fetch-Site", "none")],
      [("Origin", site.origin), ("Sec-Fetch-Site", "cross-site")], [("Origin", site.origin + ".evil.example")],
      [("Origin", "null"), ("Sec-Fetch-Site", "cross-site")],
      [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "same-origin")],
    ]
    for fields in origins {
      for (path, field) in [
        (Self.page, ("session", handle)), (Self.page, ("others", "end")), (Self.page + "/stop", ("stop", "yes")),
      ] {
        let answer = try site.gateway.client.post(path, form: [field], fields: fields + [("Cookie", cookie)])
        #expect(answer.status == 403, "\(path) \(fields)")
      }
    }
    // Nor does reading a page end anything.
    for query in ["?session=\(handle)", "?others=end", "/stop?stop=yes"] {
      #expect(try anna.open(site.origin + Self.page + query).status == 200)
    }
    #expect(try isSignedIn(anna, site) && isSignedIn(other, site))
    #expect(try site.apple.requests(at: "/auth/revoke").isEmpty)
    // An address of another site cannot make the page claim that something ended.
    try anna.open("\(site.apple.baseURL)/simulator")
    #expect(try !anna.follow(site.own("account?ended=one")).text.contains("role=\"status\""))
  }

  @Test("A page that tells no referrer is our own by Sec-Fetch-Site: browsers write null for its origin")
  func noReferrer() throws {
    let site = try site()
    defer { site.stop() }
    let (anna, other) = (try site.signedIn(), try site.signedIn())
    // With Sec-Fetch-Site: same-origin.
    let fields = [("Origin", "null")]
    #expect(try anna.fetch(site.own("account"), method: "POST", fields: fields, form: "others=end").status == 204)
    #expect(try isSignedIn(anna, site) && !isSignedIn(other, site))
    #expect(try anna.fetch(site.own("sign-out"), method: "POST", fields: fields, form: "").status < 400)
    #expect(try !isSignedIn(anna, site))
  }

  // MARK: Stop using

  @Test("Stop using asks first, then revokes at Apple, deletes everything and ends all sessions")
  func stop() throws {
    let site = try site()
    defer { site.stop() }
    let subject = try site.apple.subject(of: "anna")
    let anna = try site.signedIn()
    let phone = try site.signedIn()
    let ben = try site.signedIn(as: "ben")
    try anna.open(site.own("account"))
    let question = try anna.follow("/.auth/account/stop")
    #expect(question.text.contains("Stop using Orchard?"))
    #expect(question.text.contains("This ends the connection between Orchard and your Apple Account."))
    #expect(try isSignedIn(anna, site))
    let without = try anna.fetch(
      site.own("account/stop"), method: "POST", fields: [("Origin", site.origin)], form: "stop=no")
    #expect(without.status == 400)
    try anna.open(site.own("account/stop"))
    let cookie = try #require(try anna.cookieHeader(for: site.origin + "/"))
    let farewell = try anna.submit(form(anna, "stop"))
    #expect(farewell.status == 200 && farewell.text.contains("You have stopped using Orchard"))
    #expect(farewell.text.contains("Orchard is no longer connected to your Apple Account."))
    // A second click has sent the form again meanwhile; browsers show its answer only.
    let navigation = [("Origin", site.origin), ("Accept", "text/html"), ("Sec-Fetch-Mode", "navigate")]
    let twice = try site.gateway.client.post(
      Self.page + "/stop", form: [("stop", "yes")], fields: navigation + [("Cookie", cookie)])
    #expect(twice.status == 303 && twice.location == "/.auth/sign-out?deleted=connection")
    // Without a session of the user nothing was deleted, and the page does not say that a form was not sent.
    let stranger = try site.gateway.client.post(Self.page + "/stop", form: [("stop", "yes")], fields: navigation)
    #expect(stranger.status == 401 && stranger.text.contains("Please sign in"))
    // Reloading it confirms the same, without a session, and posts nothing again.
    let reloaded = try anna.open(farewell.address.description)
    #expect(reloaded.status == 200 && reloaded.text.contains("You have stopped using Orchard"))
    #expect(reloaded.text.contains("Orchard is no longer connected to your Apple Account."))
    #expect(anna.jar["__Host-cordon"] == nil)
    #expect(try !isSignedIn(phone, site) && isSignedIn(ben, site))
    #expect(try site.apple.requests(at: "/auth/revoke").map(\.status) == [200])
    let known = try site.gateway.admin.get(
      "/accounts?subject=\(subject)", fields: [("Authorization", "Bearer \(GatewayConfiguration.adminToken)")])
    #expect(try (known.json()["accounts"] as? [Any])?.isEmpty == true)
    let line = try poll("the audit") { audit(site, "stop_using").first }
    #expect(line["outcome"] as? String == "deleted")
    #expect(audit(site, "revocation").count == 1 && audit(site, "session_ended").count == 2)
    #expect(audit(site, "session_ended").allSatisfy { $0["reason"] as? String == "account_removed" })
    #expect(site.gateway.log.firstRange(of: Array("anna.bergstrom".utf8)) == nil)
    // Somebody who comes back is new.
    #expect(try site.signedIn().fetch(site.own("session")).status == 200)
    try poll("a new account") {
      audit(site, "sign_in").filter { $0["new_account"] as? Bool == true }.count == 3 ? () : nil
    }
  }

  @Test("A refused user, whose token was discarded, is told to end the connection in the Apple Account's settings")
  func stopWithoutToken() throws {
    let site = try site {
      $0["access", "allow_groups"] = #"["pickers"]"#
      $0.ending = "[[group]]\nname = \"pickers\"\n"
    }
    defer { site.stop() }
    let ben = try site.signedIn(as: "ben")
    let question = try ben.open(site.own("account/stop"))
    #expect(question.text.contains("Apple keeps the connection between Orchard and your Apple Account until you"))
    let farewell = try ben.submit(form(ben, "stop"))
    #expect(farewell.status == 200 && farewell.text.contains("You have stopped using Orchard"))
    #expect(farewell.text.contains("remove Orchard under Sign in with Apple"))
    #expect(!farewell.text.contains("no longer connected"))
    #expect(try site.apple.requests(at: "/auth/revoke").isEmpty)
  }

  @Test("Tokens that Apple does not revoke are kept, the page says so, and its button tries again")
  func notRevoked() throws {
    let site = try site()
    defer { site.stop() }
    let anna = try site.signedIn()
    let phone = try site.signedIn()
    try site.apple.fault("revoke", "status", ["status": 500])
    try anna.open(site.own("account/stop"))
    let refused = try anna.submit(form(anna, "stop"))
    #expect(refused.status == 502 && refused.text.contains("Apple did not confirm this"))
    #expect(try isSignedIn(anna, site) && isSignedIn(phone, site))
    let line = try poll("the audit") { audit(site, "stop_using").first }
    #expect(line["outcome"] as? String == "not_revoked")
    try site.apple.behave()
    let farewell = try anna.submit(form(anna, "stop"))
    #expect(farewell.status == 200 && farewell.text.contains("You have stopped using Orchard"))
    #expect(try !isSignedIn(anna, site) && !isSignedIn(phone, site))
  }

  @Test("More than a hundred sessions are counted, and all others still end")
  func many() throws {
    let site = try site()
    defer { site.stop() }
    let anna = try site.signedIn()
    for _ in 0..<103 { _ = try site.signedIn() }
    let page = try anna.open(site.own("account"))
    #expect(page.text.components(separatedBy: "<li>").count - 1 == 100)
    #expect(page.text.contains("More sessions that are not listed here: 4"))
    let after = try anna.submit(form(anna, "others"))
    #expect(after.text.components(separatedBy: "<li>").count - 1 == 1)
  }
}
