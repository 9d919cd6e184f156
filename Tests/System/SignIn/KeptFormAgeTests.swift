import Foundation
import Testing

// Forms that are submitted with a sign-in that is too old for their route (`keep_forms` and `max_age`).
//
// - The page has the fields, for the account of the session; a sign-in that is too old counts as none.
// - In a real browser, over HTTP/2, on a `[[host]]`: the form is sent once, after the same account has signed in again.
// - Scripts, and forms that cannot be kept, are refused as on other routes.

@SystemActor
@Suite("Forms that survive a repeated sign-in")
struct KeptFormAgeTests {
  private static let application: RawUpstream.RequestHandler = { request, connection in
    let form = """
      <!doctype html><title>Edit</title><form method="post" action="/wiki/save"><input name="text" id="text">
      <button id="save">Save</button></form>
      """
    let body = request.method == "POST" ? "<!doctype html><title>Saved</title>saved" : form
    try connection.send(RawUpstream.response(fields: ["Content-Type: text/html; charset=utf-8"], body: body))
  }

  private static func routes(host: String = "") -> String {
    let place = host.isEmpty ? "" : "host = \"\(host)\"\n"
    return "[[route]]\npath = \"/wiki/\"\n\(place)keep_forms = \"1KiB\"\n"
      + "[[route]]\npath = \"/wiki/save\"\n\(place)max_age = \"12h\"\n"
  }

  private let navigation = [
    ("Accept", "text/html,*/*;q=0.8"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document"),
    ("Sec-Fetch-Site", "same-origin"),
  ]

  @Test("A form whose sign-in is too old gets a page with its fields, for the same account once it is recent")
  func page() throws {
    let site = try Site(fakeClock: true, upstream: Self.application) {
      $0["pages", "show_sign_in_page"] = "false"
      $0.ending = Self.routes()
    }
    defer { site.stop() }
    let anna = try site.signedIn()
    func save(_ text: String, _ more: [(String, String)]) throws -> HTTPResponse {
      let cookies = try #require(try anna.cookieHeader(for: site.origin + "/wiki/save"))
      return try site.gateway.client.post(
        "/wiki/save", form: [("text", text)], fields: navigation + more + [("Cookie", cookies)])
    }
    let own = [("Origin", site.origin)]
    #expect(try save("recent", own).text.contains("saved"))
    site.upstream.forget()
    try site.setClock(secondsAhead: 12 * 3_600 + 60)
    let mark = try #require(anna.jar["__Host-cordon-last"])
    let page = try save("my \"secret\"", own)
    #expect(page.status == 401 && page.text.contains("name=\"text\" value=\"my &quot;secret&quot;\""), "\(page.text)")
    #expect(page.text.contains("data-check=\"/.auth/form?account=\(mark)&amp;max_age=43200\""), "\(page.text)")
    #expect(page.text.contains("needs a more recent sign-in") && !page.text.contains("signed out"))
    #expect(page.fields["Cache-Control"] == "no-store")

    // The account of the session counts, not that of the cookie about the last one.
    let ben = try site.signedIn(as: "ben")
    let planted = try #require(ben.jar["__Host-cordon-last"])
    let session = try #require(anna.jar["__Host-cordon"])
    let answer = try site.gateway.client.post(
      "/wiki/save", form: [("text", "x")],
      fields: navigation + own + [("Cookie", "__Host-cordon=\(session); __Host-cordon-last=\(planted)")])
    #expect(answer.status == 401 && answer.text.contains("form?account=\(mark)&amp;max_age"))

    func account(_ visitor: Visitor, _ more: String) throws -> String {
      try visitor.fetch(site.own("form?account=\(mark)\(more)")).text
    }
    #expect(try account(anna, "&max_age=43200") == "{\"account\":\"none\"}\n")
    #expect(
      try account(anna, "") == "{\"account\":\"same\"}\n" && account(anna, "&max_age=0") == "{\"account\":\"same\"}\n")
    #expect(try account(anna, "&max_age=-1") == "{\"account\":\"none\"}\n")
    #expect(try account(ben, "&max_age=43200") == "{\"account\":\"other\"}\n")

    // What cannot be kept is refused, and a script is told as ever.
    let foreign = try save("secret", [("Origin", "http://evil.example")])
    #expect(foreign.status == 401 && foreign.text.contains("could not keep what you entered"))
    #expect(foreign.text.contains("needs a more recent sign-in") && !foreign.text.contains("secret"))
    let script = try anna.fetch(
      site.origin + "/wiki/save", method: "POST",
      fields: own + [("Sec-Fetch-Mode", "cors"), ("Sec-Fetch-Site", "same-origin")], form: "text=x")
    #expect(script.status == 401 && script.text.contains("\"error\":\"reauthentication_required\""))
    #expect(!site.upstream.requests.contains { $0.method == "POST" })

    try anna.open(site.own("authorize?return_to=/.auth/form"))
    try anna.decide(.proceed(user: "anna"))
    #expect(try anna.carryBack().text.contains("Go back to the tab with your form"))
    #expect(try account(anna, "&max_age=43200") == "{\"account\":\"same\"}\n")
    #expect(try save("at last", own).text.contains("saved"))
  }

  @Test("On a host and over HTTP/2, a browser sends the form once, after the same account has signed in again")
  func browser() throws {
    let folder = try TLSFolder()
    let clock = try FakeClock()
    let upstream = try RawUpstream(Self.application)
    defer { upstream.stop() }
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:\(upstream.port)", apple: nil)
    let (port, name) = (configuration.port, "wiki.localhost:\(configuration.port)")
    let wiki = "https://" + name
    let apple = try SimulatorProcess(redirectURI: "https://localhost:\(port)/.auth/callback")
    defer { apple.stop() }
    folder.configure(&configuration)
    configuration["listen", "hosts"] = "[]"
    configuration["pages", "show_sign_in_page"] = "false"
    configuration["apple", "base_url"] = "\"\(apple.baseURL)\""
    configuration.ending = "[[host]]\nname = \"\(name)\"\n" + Self.routes(host: name)
    let gateway = try GatewayProcess(configuration, clock: clock)
    defer { gateway.stop() }
    let browser = try Browser(acceptsAnyCertificate: true)
    defer { browser.quit() }

    func signIn(as user: String, to path: String) throws {
      try browser.click("#user-\(user)")
      try browser.click("#continue")
      try browser.waitForAddress(path) { $0 == wiki + path }
    }
    /// Follows the page's link into a new tab, signs in there, and comes back.
    /// - Parameter user: nil where a session of `public_url` is handed over.
    func signInInTab(by link: String, as user: String?) throws {
      let form = try browser.tab()
      try browser.click(link)
      try browser.switchTo(try poll("a new tab") { try browser.tabs().first { $0 != form } })
      if let user { try signIn(as: user, to: "/.auth/form") }
      try browser.waitForText("Go back to the tab with your form")
      try browser.closeTab()
      try browser.switchTo(form)
      try browser.devTools("Page.bringToFront")
      try browser.script("dispatchEvent(new Event('focus'))")
    }
    try browser.open(wiki + "/wiki/edit")
    try signIn(as: "anna", to: "/wiki/edit")
    try browser.type("line \"one\" & €", into: "#text")
    try clock.set(secondsAhead: 12 * 3_600 + 60)
    try apple.setClock(secondsAhead: 12 * 3_600 + 60)
    upstream.forget()
    try browser.click("#save")
    try browser.waitForText("is kept on this page")
    let page = try browser.visibleText()
    #expect(page.contains("needs a more recent sign-in") && !page.contains("signed out"), "\(page)")
    let used = try browser.script("return performance.getEntriesByType('navigation')[0].nextHopProtocol")
    #expect(used as? String == "h2")
    try browser.screenshots("kept-form-max-age")
    // Another account first: the form waits.
    try signInInTab(by: "[data-account=none] a", as: "ben")
    try browser.waitForText("signed in with another account")
    try signInInTab(by: "[data-account=other] a", as: "anna")
    try browser.waitForText("You can send the form now")
    #expect(upstream.requests.isEmpty, "nothing is sent without a click")
    try browser.click("#send")
    try browser.waitForText("saved")
    let posts = upstream.requests.filter { $0.method == "POST" }
    #expect(posts.count == 1 && posts.first?.target == "/wiki/save")
    #expect(posts.first?.fields["X-Forwarded-User"] == (try apple.subject(of: "anna")))
    #expect(posts.first.map { String(decoding: $0.body, as: UTF8.self) } == "text=line+%22one%22+%26+%E2%82%AC")

    // Without a session on this host, where the one of public_url goes on.
    try browser.open(wiki + "/wiki/edit")
    try browser.type("two", into: "#text")
    try browser.devTools("Network.deleteCookies", ["name": "__Host-cordon", "url": wiki])
    try browser.click("#save")
    try browser.waitForText("is kept on this page")
    #expect(try browser.visibleText().contains("You are signed out"))
    try signInInTab(by: "[data-account=none] a", as: nil)
    try browser.waitForText("You can send the form now")
    try browser.click("#send")
    try browser.waitForText("saved")
    #expect(upstream.requests.last { $0.method == "POST" }?.body == Array("text=two".utf8))
  }
}
