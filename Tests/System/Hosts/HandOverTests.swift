import Foundation
import TemporaryDirectoryTesting
import Testing

// The hand-over of a session from public_url to other hosts.
//
// - One visit to Apple serves all hosts; each has a cookie of its own.
// - A one-time code works once, on its host, in the browser that began the visit, for a minute.
// - No open redirect; nobody else's code signs a browser in; arriving ends the host's other session.
// - A sign-in that is too old goes to Apple once; a cancelled one leads back to the host.

@SystemActor
@Suite("The hand-over between hosts", .serialized)
struct HandOverTests {
  @Test(
    "One visit to Apple signs in to all hosts, each with a cookie of its own, and lands on the page that was wanted")
  func oneVisit() throws {
    let site = try Site.withHosts(showsPage: true)
    defer { site.stop() }
    let anna = Visitor()
    let page = try anna.open(site.origin(of: "wiki") + "/page/1?a=b%26c")
    #expect(page.address.origin == site.origin && page.status == 200, "the sign-in page is public_url's")
    let link = try #require(
      HTMLTag.all(in: page.text).compactMap { $0["href"] }.first { $0.hasPrefix("/.auth/authorize?visit=") })
    try anna.follow(link)
    let landed = try anna.continueAtApple()
    #expect(landed.status == 200 && landed.address.description == site.origin(of: "wiki") + "/page/1?a=b%26c")
    let subject = try site.apple.subject(of: "anna")
    #expect(landed.text.contains("X-Forwarded-User: \(subject)") && !landed.text.contains("__Host-cordon"))

    let second = try anna.open(site.origin(of: "tickets") + "/list")
    #expect(second.status == 200 && second.address.description == site.origin(of: "tickets") + "/list")
    #expect(second.text.contains("X-Forwarded-User: \(subject)"))
    #expect(try anna.open(site.origin + "/").text.contains("X-Forwarded-User: \(subject)"))
    #expect(try site.apple.tokenRequests("authorization_code").count == 1)

    let hosts = ["localhost", "wiki.localhost", "tickets.localhost"]
    let cookies = try hosts.map { try #require(anna.cookie("__Host-cordon", of: $0)) }
    #expect(Set(cookies).count == 3)
    for (host, own) in zip(hosts, cookies) {
      let client = HTTPClient(port: site.gateway.configuration.port, host: host)
      for cookie in cookies {
        let response = try client.get("/.auth/session", fields: [("Cookie", "__Host-cordon=\(cookie)")])
        #expect(response.status == (cookie == own ? 200 : 401), "\(host)")
      }
    }
    #expect(!anna.jar.cookies.contains { $0.name.contains("-visit-") }, "a visit's cookie ends with it")
    let log = String(decoding: site.gateway.log, as: UTF8.self)
    #expect(!log.contains("code=") && !log.contains("visit="))
  }

  @Test("The fragment that the sign-in page's script adds comes back to the host")
  func fragment() throws {
    let site = try Site.withHosts(showsPage: true)
    defer { site.stop() }
    let anna = Visitor()
    let page = try anna.open(site.origin(of: "wiki") + "/page?a=b")
    let link = try #require(
      HTMLTag.all(in: page.text).compactMap { $0["href"] }.first { $0.hasPrefix("/.auth/authorize?visit=") })
    try anna.follow(link + "&fragment=%23/orders/17")
    try anna.decide(.proceed(user: "anna"))
    let arrive = try #require(try anna.carryBack(following: false).response.location)
    let arrived = try anna.open(arrive, following: false)
    #expect(arrived.response.location == "/page?a=b#/orders/17")
  }

  @Test("A code works once, and not without the cookie of its visit: any attempt uses it up")
  func codes() throws {
    let site = try Site.withHosts()
    defer { site.stop() }
    let anna = try site.signedIn(as: "anna")
    let ben = try site.signedIn(as: "ben")

    let used = try site.code(for: anna, on: "wiki", returnTo: "/a")
    let arrived = try anna.open(used, following: false)
    #expect(arrived.status == 303 && arrived.response.location == "/a")
    #expect(arrived.response.fields["Referrer-Policy"] == "no-referrer")
    #expect(arrived.response.fields["Cache-Control"] == "no-store")
    #expect(try anna.fetch(site.own("session", on: "wiki")).status == 200)
    let again = try anna.open(used, following: false)
    #expect(again.status == 400 && again.text.contains("href=\"/a\"") && again.response.setCookies.isEmpty)
    #expect(again.response.fields["Referrer-Policy"] == "no-referrer")

    // Another browser, with a visit of its own, and one without any.
    for visitor in [ben, Visitor()] {
      let stolen = try site.code(for: anna, on: "tickets", returnTo: "/b")
      if visitor === ben { _ = try site.code(for: ben, on: "tickets") }
      let refused = try visitor.open(stolen, following: false)
      #expect(refused.status == 400 && refused.text.contains("/.auth/sign-in?return_to=/b"))
      #expect(visitor.cookie("__Host-cordon", of: "tickets.localhost") == nil)
      #expect(try anna.open(stolen, following: false).status == 400, "used up")
      #expect(anna.cookie("__Host-cordon", of: "tickets.localhost") == nil)
    }

    // At another host, with the cookie of a visit there.
    let moved = try site.code(for: anna, on: "wiki", returnTo: "/c")
    _ = try site.code(for: anna, on: "tickets")
    let elsewhere = moved.replacingOccurrences(of: "//wiki.", with: "//tickets.")
    #expect(try anna.open(elsewhere, following: false).status == 400)
    #expect(anna.cookie("__Host-cordon", of: "tickets.localhost") == nil)
    #expect(try anna.open(moved, following: false).status == 400, "used up")

    // Nor with the cookie of the very visit, which a client can send to any host.
    let copied = try site.code(for: anna, on: "wiki")
    let cookie = try #require(try anna.cookieHeader(for: copied))
    let tickets = HTTPClient(port: site.gateway.configuration.port, host: "tickets.localhost")
    let misplaced = try tickets.get(WebAddress(copied).target, fields: [("Cookie", cookie)])
    #expect(misplaced.status == 400 && misplaced.setCookies.isEmpty)

    for forged in ["arrive", "arrive?code=", "arrive?code=abc", "arrive?code=\(used.suffix(300))x"] {
      #expect(try anna.open(site.own(forged, on: "tickets"), following: false).status == 400)
    }
    let framed = try site.code(for: anna, on: "tickets")
    let fields = [("Sec-Fetch-Dest", "iframe"), ("Sec-Fetch-Mode", "navigate")]
    #expect(try anna.fetch(framed, fields: fields).status == 400, "in a frame")
  }

  @Test("A code that was used stays used when the process is killed at once, and one that was not used works")
  func kills() throws {
    let site = try Site.withHosts()
    defer { site.stop() }
    let anna = try site.signedIn()
    let (wiki, tickets) = (
      try site.code(for: anna, on: "wiki", returnTo: "/a"), try site.code(for: anna, on: "tickets", returnTo: "/b")
    )
    let fields = [
      ("Cookie", try #require(try anna.cookieHeader(for: wiki))), ("Sec-Fetch-Mode", "navigate"),
      ("Sec-Fetch-Dest", "document"), ("Sec-Fetch-Site", "cross-site"),
    ]
    let target = try #require(wiki.range(of: "/.auth/arrive")).lowerBound
    let arrived = try site.client(of: "wiki").get(String(wiki[target...]), fields: fields)
    #expect(arrived.status == 303 && arrived.setCookies.contains { $0.hasPrefix("__Host-cordon=") })
    try site.gateway.killAndRestart()
    let again = try site.client(of: "wiki").get(String(wiki[target...]), fields: fields)
    #expect(again.status == 400 && !again.setCookies.contains { $0.hasPrefix("__Host-cordon=") })
    #expect(try anna.open(tickets, following: false).response.location == "/b")
  }

  @Test("A code expires after a minute and a visit after ten, with a page that leads back to where it began")
  func expiry() throws {
    let site = try Site.withHosts(fakeClock: true)
    defer { site.stop() }
    let anna = try site.signedIn()
    let code = try site.code(for: anna, on: "wiki", returnTo: "/late")
    try anna.open(site.own("sign-in?return_to=/later", on: "tickets"), following: false)
    let visit = try #require(anna.page?.response.location)
    try site.setClock(secondsAhead: 61)
    let late = try anna.open(code, following: false)
    #expect(late.status == 400 && late.text.contains("href=\"/.auth/sign-in?return_to=/late\""))
    try site.setClock(secondsAhead: 601)
    let later = try anna.open(visit, following: false)
    #expect(later.status == 400)
    #expect(later.text.contains("href=\"\(site.own("sign-in?return_to=/later", on: "tickets"))\""))
    try anna.follow(site.own("sign-in?return_to=/later", on: "tickets"))
    #expect(anna.page?.address.description == site.origin(of: "tickets") + "/later")
    for forged in ["x", String(visit.suffix(200))] {
      #expect(try anna.open(site.own("sign-in?visit=\(forged)"), following: false).status == 400)
      #expect(try anna.open(site.own("authorize?visit=\(forged)"), following: false).status == 400)
    }
  }

  @Test("A return address elsewhere becomes the front page of the host, that of a sibling host, too")
  func returnAddresses() throws {
    let site = try Site.withHosts()
    defer { site.stop() }
    let anna = try site.signedIn()
    for address in [
      "https://evil.example/", "//evil.example", "/\\evil.example", site.origin + "/x",
      site.origin(of: "tickets") + "/x",
      "/.auth/arrive?code=x",
    ] {
      let code = try site.code(for: anna, on: "wiki", returnTo: address)
      #expect(try anna.open(code, following: false).response.location == "/", "\(address)")
    }
    let code = try site.code(for: anna, on: "wiki", returnTo: site.origin(of: "wiki") + "/own?x=1")
    #expect(try anna.open(code, following: false).response.location == "/own?x=1")
  }

  @Test("Arriving ends another session that the host's cookie named")
  func otherSession() throws {
    let site = try Site.withHosts()
    defer { site.stop() }
    let browser = try site.signedIn(as: "anna")
    try browser.open(site.origin(of: "wiki") + "/")
    let before = try browser.session(on: "wiki")
    // public_url forgets the session; the wiki does not.
    browser.jar.forget(host: "localhost")
    try browser.signIn(site, as: "ben")
    #expect(try site.client(of: "wiki").get("/.auth/session", fields: [("Cookie", before)]).status == 200)
    try browser.open(site.own("sign-in?return_to=/", on: "wiki"))
    let subject = try site.apple.subject(of: "ben")
    #expect(browser.page?.text.contains("X-Forwarded-User: \(subject)") == true)
    #expect(try site.client(of: "wiki").get("/.auth/session", fields: [("Cookie", before)]).status == 401)
  }

  @Test("A host's max_age goes to Apple once, not twice, and other hosts need no new sign-in")
  func maxAge() throws {
    let site = try Site(fakeClock: true, upstream: EchoingApplication.answer) { configuration in
      configuration["pages", "show_sign_in_page"] = "false"
      try? configuration.addHosts(["wiki", "tickets"])
      configuration.ending +=
        "[[route]]\nhost = \"wiki.localhost:\(configuration.port)\"\npath = \"/fresh/\"\nmax_age = \"12h\"\n"
    }
    defer { site.stop() }
    let fresh = site.origin(of: "wiki") + "/fresh/x?a=b"
    let anna = try site.signedIn()
    #expect(try anna.open(fresh).address.description == fresh)
    try site.setClock(secondsAhead: 12 * 3_600 + 60)
    #expect(try anna.open(site.origin(of: "wiki") + "/x").status == 200)
    #expect(try anna.open(site.origin(of: "tickets") + "/x").address.origin == site.origin(of: "tickets"))
    #expect(try anna.fetch(fresh).status == 401)
    let old = try anna.session(on: "wiki")
    let form = try site.client(of: "wiki").send(
      "POST", "/fresh/x",
      fields: [
        ("Cookie", old), ("Accept", "text/html"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document"),
        ("Sec-Fetch-Site", "same-origin"), ("Content-Type", "application/x-www-form-urlencoded"),
      ], body: Array("a=b".utf8))
    #expect(form.status == 401 && form.text.contains("&amp;new=1\""), "a form's page leads to Apple, too")
    try anna.open(fresh)
    let landed = try anna.continueAtApple()
    #expect(landed.status == 200 && landed.address.description == fresh)
    #expect(try site.apple.tokenRequests("authorization_code").count == 2)
    #expect(try site.client(of: "wiki").get("/.auth/session", fields: [("Cookie", old)]).status == 401, "replaced")
    #expect(try anna.open(site.origin(of: "tickets") + "/y").address.origin == site.origin(of: "tickets"))
    #expect(try site.apple.tokenRequests("authorization_code").count == 2)
  }

  @Test("A user who is admitted at last goes to Apple once for all hosts, and not before")
  func admitted() throws {
    let site = try Site.withHosts(ending: "[[group]]\nname = \"staff\"\n[access]\nallow_groups = [\"staff\"]\n")
    defer { site.stop() }
    let anna = try site.signedIn()
    let (wiki, tickets) = (site.origin(of: "wiki") + "/a", site.origin(of: "tickets") + "/b")
    for address in [wiki, tickets] {
      let refused = try anna.open(address)
      #expect(refused.status == 403 && refused.address.description == address)
    }
    try site.gateway.order("PUT", try site.member("anna", of: "staff"))
    // What a session's cookie and a fresh visit are answered is the same.
    try anna.open(wiki)
    let landed = try anna.continueAtApple()
    #expect(landed.status == 200 && landed.address.description == wiki)
    #expect(try anna.open(tickets).address.description == tickets)
    #expect(anna.page?.status == 200)
    #expect(try site.apple.tokenRequests("authorization_code").count == 2)
  }

  @Test("A session that only a new sign-in can save is not handed over: the browser goes to Apple, not to and fro")
  func unverified() throws {
    let site = try Site.withHosts(fakeClock: true)
    defer { site.stop() }
    let anna = try site.signedIn()
    let wiki = site.origin(of: "wiki") + "/a"
    try anna.open(wiki)
    try site.apple.fault("token", "status", ["status": 503])
    try site.setClock(secondsAhead: 80 * 3_600)
    #expect(try anna.open(wiki).status == 200)
    try site.setClock(secondsAhead: 129 * 3_600)
    for host in ["wiki", "tickets"] {
      let page = try anna.open(site.origin(of: host) + "/a")
      #expect(page.address.port == (try WebAddress(site.apple.baseURL + "/").port), "\(page.address)")
    }
    try site.apple.behave()
    let landed = try anna.continueAtApple()
    #expect(landed.address.description == site.origin(of: "tickets") + "/a" && landed.status == 200)
  }

  @Test("A code that cannot be marked as used signs nobody in")
  func storeAway() throws {
    let site = try Site.withHosts()
    defer { site.stop() }
    let anna = try site.signedIn()
    let code = try site.code(for: anna, on: "wiki", returnTo: "/x")
    let lock = try DatabaseLock("\(site.gateway.directory.path)/cordon.db")
    defer { lock.release() }
    let page = try anna.open(code, following: false)
    #expect(page.status == 503 && page.text.contains("href=\"/x\""))
    #expect(anna.cookie("__Host-cordon", of: "wiki.localhost") == nil)
  }

  @Test("A cancelled sign-in leads back to the host, and so does the wish for another account")
  func cancelled() throws {
    let site = try Site.withHosts(ending: "[access]\nallow_emails = [\"nobody@example.com\"]\n")
    defer { site.stop() }
    let anna = Visitor()
    try anna.open(site.origin(of: "wiki") + "/page")
    try anna.decide(.cancel)
    let page = try anna.carryBack()
    let again = site.own("sign-in?return_to=/page", on: "wiki")
    #expect(page.status == 403 && page.text.contains("href=\"\(again)\""))
    try anna.follow(again)
    let refused = try anna.continueAtApple()
    #expect(refused.status == 403 && refused.address.description == site.origin(of: "wiki") + "/page")
    let other = try #require(
      HTMLTag.all(in: refused.text).compactMap { $0["href"] }.first { $0.contains("sign-in?") })
    #expect(other.contains("new=1"))
    try anna.follow(other.replacingOccurrences(of: "&amp;", with: "&"))
    _ = try anna.continueAtApple(as: "ben")
    #expect(anna.page?.address.description == site.origin(of: "wiki") + "/")
    #expect(try anna.fetch(site.own("session", on: "wiki")).text.contains(try site.apple.subject(of: "ben")))
  }

  @Test("A user who is banned sees on public_url why, and a session that has ended is signed in again without a loop")
  func banned() throws {
    let site = try Site.withHosts()
    defer { site.stop() }
    let anna = try site.signedIn()
    try anna.open(site.origin(of: "wiki") + "/")
    let code = try site.code(for: anna, on: "tickets")
    try site.gateway.order("PUT", try site.ban(of: "anna"))
    let ended = try anna.open(code, following: false)
    #expect(ended.status == 401 && ended.text.contains("/.auth/sign-in?return_to=/"))
    try anna.open(site.origin(of: "wiki") + "/")
    let refused = try anna.continueAtApple()
    #expect(refused.status == 403 && refused.address.origin == site.origin)
    #expect(refused.text.contains(site.own("sign-in?return_to=/&amp;new=1", on: "wiki")))
  }
}
