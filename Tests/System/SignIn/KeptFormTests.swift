import Foundation
import Testing

// Forms that are submitted without a session (`keep_forms`).
//
// - The page has the fields, escaped, for the same address; no log, no application and no store has them.
// - Other forms get the page without them, which says so: too large, with a file, of another origin.
// - In a real browser: the form is sent once, by a click, after the same account has signed in in another tab; never
//   with another account.

@SystemActor
@Suite("Forms that survive a sign-in")
struct KeptFormTests {
  /// An application with a form, which keeps what it is sent.
  private static let application: RawUpstream.RequestHandler = { request, connection in
    let page = """
      <!doctype html><title>Edit</title><form method="post" action="/wiki/save?id=7" enctype="multipart/form-data">
      <textarea name="text"></textarea><input name="text" value="second"><input type="file" name="upload">
      <input type="hidden" name="submit" value="x"><button id="save" name="button" value="save">Save</button></form>
      """
    let body = request.method == "POST" ? "<!doctype html><title>Saved</title>saved" : page
    try connection.send(RawUpstream.response(fields: ["Content-Type: text/html; charset=utf-8"], body: body))
  }

  private func site() throws -> Site {
    try Site(upstream: Self.application) {
      $0["pages", "show_sign_in_page"] = "false"
      $0["log", "access"] = "true"
      $0["log", "level"] = "\"debug\""
      $0.ending = "[[route]]\npath = \"/wiki/\"\nkeep_forms = \"1KiB\"\n"
    }
  }

  private let navigation = [
    ("Accept", "text/html,*/*;q=0.8"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document"),
    ("Sec-Fetch-Site", "same-origin"),
  ]

  @Test("The page holds the fields, for the same address and account, and nothing else does")
  func page() throws {
    let site = try site()
    defer { site.stop() }
    let anna = try site.signedIn()
    let mark = try #require(anna.jar["__Host-cordon-last"])
    site.upstream.forget()
    let secret = "my \"secret\" <b>"
    let page = try site.gateway.client.post(
      "/wiki/save?id=7", form: [("text", secret), ("more", "1")],
      fields: navigation + [("Origin", site.origin), ("Cookie", "__Host-cordon-last=\(mark)")])
    #expect(page.status == 401 && page.text.contains("Your form was not sent"))
    #expect(page.text.contains("name=\"text\" value=\"my &quot;secret&quot; &lt;b&gt;\""))
    #expect(page.text.contains("data-check=\"/.auth/form?account=\(mark)\"") && page.text.contains("<noscript>"))
    #expect(!page.text.contains("action="), "the address is that of the page")
    #expect(page.fields["Cache-Control"] == "no-store" && page.fields["X-Frame-Options"] == "DENY")
    let policy = try #require(page.fields["Content-Security-Policy"])
    #expect(policy.contains("frame-ancestors 'none'") && policy.contains("connect-src 'self'"))
    #expect(site.upstream.requests.isEmpty)
    _ = try site.gateway.client.get("/.auth/session")
    try site.gateway.waitForLog("/.auth/session")
    #expect(!String(decoding: site.gateway.log, as: UTF8.self).contains("secret"))
    // A cookie that is not a keyed hash says nothing.
    let planted = try site.gateway.client.post(
      "/wiki/save", form: [("text", "x")],
      fields: navigation + [("Origin", site.origin), ("Cookie", "__Host-cordon-last=\"><script>")])
    #expect(planted.text.contains("data-check=\"/.auth/form?account=\""))
  }

  @Test("A form that cannot be kept gets the page without its fields, which says so; elsewhere nothing is kept")
  func notKept() throws {
    let site = try site()
    defer { site.stop() }
    let own = [("Origin", site.origin)]
    let file = Array(
      ("--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"secret.txt\"\r\n"
        + "Content-Type: text/plain\r\n\r\nsecret\r\n--b--\r\n").utf8)
    let client = site.gateway.client
    let answers = [
      try client.post(
        "/wiki/save", form: [("text", String(repeating: "secret", count: 200))], fields: navigation + own),
      try client.post(
        "/wiki/save", form: [("text", "secret")], fields: navigation + [("Origin", "http://evil.example")]),
      try client.send(
        "POST", "/wiki/save", fields: navigation + own + [("Content-Type", "multipart/form-data; boundary=b")],
        body: file),
    ]
    for answer in answers {
      #expect(answer.status == 401 && answer.text.contains("could not keep what you entered"))
      #expect(!answer.text.contains("secret") && !answer.text.contains("<script"))
    }
    let elsewhere = try client.post("/save", form: [("text", "secret")], fields: navigation + own)
    #expect(elsewhere.status == 401 && elsewhere.text.contains("go back and copy it"))
    #expect(!elsewhere.text.contains("could not keep") && !elsewhere.text.contains("secret"))
    let german = try client.post(
      "/wiki/save", form: [("text", "x")], fields: navigation + own + [("Accept-Language", "de")])
    #expect(german.text.contains("Formular senden"))
    #expect(site.upstream.requests.isEmpty)
  }

  @Test("The page learns who has signed in, and asking is no use of the session")
  func asking() throws {
    let site = try site()
    defer { site.stop() }
    let anna = try site.signedIn()
    let mark = try #require(anna.jar["__Host-cordon-last"])
    func answer(_ visitor: Visitor, _ account: String) throws -> String {
      try visitor.fetch(site.own("form?account=\(account)")).text
    }
    let other = mark.first == "A" ? "B" + mark.dropFirst() : "A" + mark.dropFirst()
    #expect(try answer(anna, mark) == "{\"account\":\"same\"}\n" && answer(anna, "") == "{\"account\":\"same\"}\n")
    #expect(try answer(anna, other) == "{\"account\":\"other\"}\n")
    #expect(try answer(Visitor(), mark) == "{\"account\":\"none\"}\n")
    #expect(try answer(try site.signedIn(as: "ben"), mark) == "{\"account\":\"other\"}\n")
    #expect(try anna.open(site.own("form")).text.contains("Go back to the tab with your form"))
    #expect(try Visitor().fetch(site.own("form")).status == 401)
  }

  // MARK: In a real browser

  private func signIn(_ browser: Browser, _ site: Site, as user: String, at path: String) throws {
    try browser.click("#user-\(user)")
    try browser.click("#continue")
    try browser.waitForAddress("our page") { $0.hasPrefix(site.origin + path) }
  }

  /// Opens the form, fills it in, loses the session and submits it.
  private func submitWithoutSession(_ browser: Browser, _ site: Site) throws {
    try browser.open(site.own("authorize?return_to=/wiki/edit"))
    try signIn(browser, site, as: "anna", at: "/wiki/edit")
    try browser.type("line \"one\"\nline <two> &amp; €", into: "textarea")
    try browser.devTools("Network.deleteCookies", ["name": "__Host-cordon", "url": site.origin])
    try browser.click("#save")
    try browser.waitForText("is kept on this page")
  }

  /// Follows the page's link into a new tab and signs in there; the tab of the form is in front again then.
  private func signInInTab(_ browser: Browser, _ site: Site, by link: String, as user: String) throws {
    let form = try browser.tab()
    try browser.click(link)
    let tab = try poll("a new tab") { try browser.tabs().first { $0 != form } }
    try browser.switchTo(tab)
    try signIn(browser, site, as: user, at: "/.auth/form")
    try browser.waitForText("Go back to the tab with your form")
    try browser.closeTab()
    try browser.switchTo(form)
    try browser.devTools("Page.bringToFront")
    // A browser without a screen gives no window the focus.
    try browser.script("dispatchEvent(new Event('focus'))")
  }

  @Test("In a browser the form is sent once, unchanged, after the same account has signed in")
  func sent() throws {
    let site = try site()
    defer { site.stop() }
    let browser = try Browser()
    defer { browser.quit() }
    try submitWithoutSession(browser, site)
    #expect(try browser.address() == site.origin + "/wiki/save?id=7")
    try browser.screenshots("kept-form")
    site.upstream.forget()
    // Another account first: the form waits.
    try signInInTab(browser, site, by: "[data-account=none] a", as: "ben")
    try browser.waitForText("signed in with another account")
    #expect(site.upstream.requests.isEmpty)
    try signInInTab(browser, site, by: "[data-account=other] a", as: "anna")
    try browser.waitForText("You can send the form now")
    #expect(try !browser.visibleText().contains("signed out"), "the page says only what is so by now")
    #expect(site.upstream.requests.isEmpty, "nothing is sent without a click")
    try browser.click("#send")
    try browser.waitForText("saved")
    let request = try #require(site.upstream.requests.first { $0.method == "POST" })
    #expect(site.upstream.requests.filter { $0.method == "POST" }.count == 1)
    #expect(request.target == "/wiki/save?id=7" && request.fields["Origin"] == site.origin)
    #expect(request.fields["X-Forwarded-User"] == (try site.apple.subject(of: "anna")))
    let type = try #require(request.fields["Content-Type"])
    #expect(type.hasPrefix("multipart/form-data; boundary="))
    let boundary = type.components(separatedBy: "boundary=")[1]
    let part = "--\(boundary)\r\nContent-Disposition: form-data; name="
    #expect(
      String(decoding: request.body, as: UTF8.self) == """
        \(part)"text"\r\n\r\nline "one"\r\nline <two> &amp; €\r\n\(part)"text"\r\n\r\nsecond\r\n\
        \(part)"upload"; filename=""\r\nContent-Type: application/octet-stream\r\n\r\n\r\n\
        \(part)"submit"\r\n\r\nx\r\n\(part)"button"\r\n\r\nsave\r\n--\(boundary)--\r\n
        """)
  }

  @Test("Without scripts the page says that nothing is kept, and shows no button to send")
  func withoutScripts() throws {
    let site = try site()
    defer { site.stop() }
    let browser = try Browser()
    defer { browser.quit() }
    try browser.open(site.own("authorize?return_to=/wiki/edit"))
    try signIn(browser, site, as: "anna", at: "/wiki/edit")
    try browser.devTools("Network.deleteCookies", ["name": "__Host-cordon", "url": site.origin])
    try browser.devTools("Emulation.setScriptExecutionDisabled", ["value": true])
    try browser.click("#save")
    try browser.waitForText("Without JavaScript, this page cannot keep what you entered.")
    #expect(try browser.visibleText().contains("Send the form") == false)
    #expect(try browser.visibleText().contains("Sign in"))
  }
}
