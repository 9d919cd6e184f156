import Foundation
import Testing

// Access in a real browser: asking, an invitation, and the people page; by keyboard, on a phone, without JavaScript.
//
// - A refused user presses the button and sees the code; a manager finds it and admits.
// - A guest opens an invitation, signs in, comes back and joins: no policy of a page stops a redirect to Apple.
// - Every page has a language, a title, one heading, names for its buttons, and fits on a phone, in each language.
// Screenshots are in .build/screenshots.

@SystemActor
@Suite("Access in a real browser")
struct BrowserAccessTests {
  private let site: Site
  private let browser: Browser

  init() throws {
    site = try AccessSite.make {
      $0["admin", "token_file"] = "\"admin.token\""
      $0.ending += "[[group]]\nname = \"2-guests\"\n"
    }
    browser = try Browser()
  }

  private func end() {
    browser.quit()
    site.stop()
  }

  private func signIn(_ user: String, at path: String) throws {
    try browser.open(site.own("authorize?return_to=\(FormEncoding.escape(path))"))
    try browser.click("#user-\(user)")
    try browser.click("#continue")
    try browser.waitForAddress("our page") { $0.hasPrefix(site.origin) && !$0.contains("/callback") }
  }

  /// The facts about the page that hold for every page, in the eyes of a screen reader and on a phone.
  private func examine(_ name: String) throws {
    try browser.show(on: .phone)
    let facts = try #require(
      try browser.script(
        """
        return {
          language: document.documentElement.lang, title: document.title,
          headings: document.querySelectorAll('h1').length,
          overflow: document.documentElement.scrollWidth > document.documentElement.clientWidth,
          small: [...document.querySelectorAll('main a, main button, main select, main input:not([type=hidden])')]
            .filter(e => { const r = e.getBoundingClientRect(); return r.width > 0 && r.height < 24 }).length,
          unnamed: [...document.querySelectorAll('a, button, select, input:not([type=hidden])')]
            .filter(e => !(e.innerText || e.ariaLabel || e.labels?.length)).length,
          dangling: [...document.querySelectorAll('[aria-labelledby]')]
            .filter(e => e.getAttribute('aria-labelledby').split(' ').some(i => !document.getElementById(i))).length,
          levels: [...document.querySelectorAll('h1, h2, h3')].map(e => Number(e.tagName[1]))
            .every((l, i, a) => i == 0 ? l == 1 : l <= a[i - 1] + 1)
        }
        """) as? [String: Any])
    #expect((facts["language"] as? String)?.isEmpty == false, "\(name)")
    #expect((facts["title"] as? String)?.isEmpty == false, "\(name)")
    #expect(facts["headings"] as? Int == 1, "\(name)")
    #expect(facts["overflow"] as? Bool == false, "\(name)")
    #expect(facts["levels"] as? Bool == true, "\(name): a level of headings is left out")
    for fault in ["small", "unnamed", "dangling"] { #expect(facts[fault] as? Int == 0, "\(name): \(fault)") }
    try browser.screenshots("access-\(name)")
    try browser.show(on: .desktop)
  }

  /// Whether the page, with a long name of the application on its buttons, fits in 320 pixels (WCAG 2.2, 1.4.10).
  private func fitsNarrowPhone() throws -> Bool {
    try browser.devTools(
      "Emulation.setDeviceMetricsOverride",
      ["width": 320, "height": 640, "deviceScaleFactor": 2, "mobile": true])
    let fits =
      try browser.script(
        """
        for (const button of document.querySelectorAll("main a, main button"))
          button.textContent = button.textContent.replace(location.host, "applicationsofthewholecompany.example.com");
        return document.documentElement.scrollWidth <= 320;
        """) as? Bool
    try browser.show(on: .desktop)
    return fits == true
  }

  /// The number of lines that an address in a table has on a phone.
  private func lines(of address: String) throws -> Int? {
    try browser.show(on: .phone)
    let count = try browser.script(
      """
      const cell = [...document.querySelectorAll('td .mail')].find(e => e.textContent == '\(address)');
      const range = document.createRange(); range.selectNodeContents(cell);
      return new Set([...range.getClientRects()].map(r => r.top)).size
      """)
    try browser.show(on: .desktop)
    return count as? Int
  }

  @Test("A refused user asks by the button, and a manager admits by the code, without JavaScript")
  func asking() throws {
    defer { end() }
    try signIn("ben", at: "/reports/")
    try browser.devTools("Emulation.setScriptExecutionDisabled", ["value": true])
    try browser.click("form[action*='request-access'] button")
    try browser.waitForText("tell this code to the operator of")
    let code = try browser.text(of: ".code")
    #expect(site.code(in: code) == code)
    try browser.devTools("Emulation.setScriptExecutionDisabled", ["value": false])
    try examine("asked")
    try browser.open("\(site.origin)/reports/")
    try browser.waitForText(code)
    try examine("waits")

    try signIn("anna", at: "/.auth/people")
    try browser.waitForText(code)
    try examine("people")
    try browser.devTools(
      "Emulation.setDeviceMetricsOverride",
      ["width": 320, "height": 640, "deviceScaleFactor": 2, "mobile": true])
    let overflows =
      try browser.script(
        """
        const options = document.querySelectorAll("td option");
        for (const option of options) option.textContent = "a-group-with-a-very-long-name-for-a-page-of-people";
        const page = document.documentElement;
        return options.length === 0 || page.scrollWidth > page.clientWidth;
        """) as? Bool
    #expect(overflows == false, "a long name of a group has room on a narrow phone")
    try browser.show(on: .desktop)
    #expect(try lines(of: "anna.bergstrom@example.com") == 1, "an ordinary address has room on a phone")
    try browser.devTools("Emulation.setScriptExecutionDisabled", ["value": true])
    try browser.click("form:has([value='admit']) button")
    try browser.waitForAddress("the people page") { $0.contains("done=admitted") }
    try browser.devTools("Emulation.setScriptExecutionDisabled", ["value": false])
    try browser.waitForText("The person was admitted.")

    // By keyboard: the search is reached, and Enter finds the person.
    for _ in 0..<20 {
      try browser.press("\u{E004}")
      if try browser.script("return document.activeElement.id") as? String == "q" { break }
    }
    #expect(try browser.script("return document.activeElement.id") as? String == "q")
    try browser.type("ben", into: "#q")
    try browser.press("\u{E007}")
    try browser.waitForAddress("the search") { $0.contains("q=ben") }
    try browser.click("#p0d")
    try browser.waitForText("ben@example.org")
    try examine("person")
    try browser.click("#ban")
    try browser.waitForText("Ban Ben Okafor?")
    try examine("ban")
    try browser.type("left", into: "#reason")
    try browser.click("form:has([value='ban']) button")
    try browser.waitForText("The person was banned.")
    try examine("banned")
  }

  @Test("A guest opens an invitation, signs in, comes back and joins")
  func invitation() throws {
    defer { end() }
    let link = try site.invite(try site.signedIn())
    try browser.open(link)
    try examine("invitation")
    try browser.click("form[action*='/invite/'] button")
    try browser.click("a[href*='/.auth/authorize']")
    try browser.click("#user-ben")
    try browser.click("#continue")
    try browser.waitForAddress("the invitation") { $0 == link }
    try browser.waitForText("Ben Okafor")
    try browser.click("form[action*='/invite/'] button")
    try browser.waitForText("You now have access.")
    try examine("joined")
    try browser.open(link)
    try browser.waitForText("You already have access.")
  }

  @Test("Pages of access and of the account fit on a phone in each language", arguments: [true, false])
  func languages(isManager: Bool) throws {
    defer { end() }
    let link = try site.invite(try site.signedIn())
    _ = try site.signedIn(as: "ben").fetch(
      site.own("request-access"), method: "POST", fields: [("Origin", site.origin)])
    let (ben, anna) = (
      FormEncoding.escape(try site.apple.subject(of: "ben")), FormEncoding.escape(try site.apple.subject(of: "anna"))
    )
    try signIn(isManager ? "anna" : "ben", at: "/.auth/account")
    try browser.devTools("Network.enable")
    let pages =
      isManager
      // Anna is a member by configuration, which is long in some languages.
      ? [
        "people", "people?person=\(ben)", "people?person=\(ben)&ask=ban", "people?person=\(ben)&ask=end-sessions",
        "people?person=\(anna)",
      ]
      : ["account", "account/stop", "request-access", "invite/\(link.split(separator: "/").last ?? "")", "sign-out"]
    for language in ["de", "fr", "es", "it", "pt-BR", "ja", "ko", "zh-CN", "ar"] {
      try browser.devTools("Network.setExtraHTTPHeaders", ["headers": ["Accept-Language": language]])
      for (number, page) in pages.enumerated() {
        try browser.open(site.own(page))
        try examine("\(isManager ? "manager" : "user")-\(number)-\(language)")
        #expect(try fitsNarrowPhone(), "\(page) in \(language)")
        let shown = try browser.script("return document.documentElement.lang") as? String
        #expect(shown == (language == "zh-CN" ? "zh-Hans" : language), "\(page)")
      }
    }
  }

  @Test("In Arabic an identifier and a group keep their order, and an address stands at the edge where the name does")
  func arabic() throws {
    defer { end() }
    _ = try site.signedIn(as: "ben")
    let subject = try site.apple.subject(of: "ben")
    try site.gateway.order("PUT", site.member("ben", of: "2-guests"))
    try signIn("anna", at: "/.auth/people")
    try browser.devTools("Network.enable")
    try browser.devTools("Network.setExtraHTTPHeaders", ["headers": ["Accept-Language": "ar"]])
    let start = """
      const text = (e, from, to) => {
        const range = document.createRange(); range.setStart(e.firstChild, from); range.setEnd(e.firstChild, to);
        return range.getBoundingClientRect()
      };
      const inOrder = e => text(e, 0, 1).left < text(e, e.textContent.length - 1, e.textContent.length).left;

      """
    try browser.open(site.own("people?person=\(FormEncoding.escape(subject))"))
    #expect(try browser.script("return document.querySelector('dd code').textContent") as? String == subject)
    for part in ["dd code", "td strong"] {
      let isInOrder = try browser.script(start + "return inOrder(document.querySelector('\(part)'))") as? Bool
      #expect(isInOrder == true, "\(part)")
    }
    try browser.open(site.own("people?q=ben"))
    let facts = try browser.script(
      start + """
        const mail = document.querySelector('td .mail bdi'), name = document.querySelector('td strong bdi');
        return [text(mail, 0, mail.textContent.length).right - name.getBoundingClientRect().right,
          inOrder([...document.querySelectorAll('.tag')].find(e => e.textContent == '2-guests')) ? 1 : 0]
        """)
    let numbers = try #require(facts as? [Double])
    #expect(abs(numbers[0]) < 2 && numbers[1] == 1, "\(numbers)")
  }
}
