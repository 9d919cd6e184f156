import Foundation
import Testing

// The whole way in a real browser: the gateway on `localhost`, Apple on `127.0.0.1`, so that they are two sites and
// SameSite is really tried; behind the gateway the example application, which greets its user by name.
//
// - Open the application, press Apple's button, sign in, land where one wanted to go, reload, sign out.
// - Cancel, and try again. Two tabs. Another user. The back button, and Apple's button pressed again.
// - By keyboard alone. With JavaScript switched off. In a window that a page of the application has opened.
// - What a screen reader needs is there; no page breaks its own content security policy.
// Screenshots of every page, on desktop and phone, in light and dark, are in .build/screenshots.

@SystemActor
@Suite("Signing in with a real browser")
struct BrowserSignInTests {
  private let application: PythonAppProcess
  private let apple: SimulatorProcess
  private let gateway: GatewayProcess
  private let browser: Browser

  init() throws {
    application = try PythonAppProcess()
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:\(application.port)", apple: nil)
    apple = try SimulatorProcess(redirectURI: configuration.redirectURI)
    configuration["apple", "base_url"] = "\"\(apple.baseURL)\""
    configuration.ending = "[[route]]\npath = \"/public/\"\naccess = \"public\"\n"
    gateway = try GatewayProcess(configuration)
    browser = try Browser()
  }

  private func end() {
    browser.quit()
    gateway.stop()
    apple.stop()
    application.stop()
  }

  // MARK: Steps

  private func pressAppleButton() throws {
    try browser.click("a[href*='/.auth/authorize']")
    try browser.waitForAddress("Apple's page") { $0.hasPrefix(apple.baseURL) }
  }

  private func chooseAtApple(_ user: String) throws {
    try browser.click("#user-\(user)")
    try browser.click("#continue")
  }

  private func waitForApplication(at path: String) throws {
    try browser.waitForAddress("the application at \(path)") { $0 == gateway.origin + path }
  }

  private func signIn(as user: String, from path: String = "/") throws {
    try browser.open(gateway.origin + path)
    try pressAppleButton()
    try chooseAtApple(user)
    try waitForApplication(at: path)
  }

  // MARK: The main way

  @Test("Open the application, press the button, sign in, land there, reload, sign out, and be out")
  func mainWay() throws {
    defer { end() }
    try browser.open("\(gateway.origin)/?week=3")
    try browser.waitForAddress("the sign-in page") { $0.contains("/.auth/sign-in") }
    try browser.screenshots("1-sign-in")
    try pressAppleButton()
    try browser.screenshots("2-apple")
    try chooseAtApple("anna")
    try waitForApplication(at: "/?week=3")
    try browser.waitForText("Anna")
    try browser.screenshots("3-application")
    let cookie = try #require(try browser.cookies()["__Host-cordon"])
    #expect(cookie["httpOnly"] as? Bool == true)
    #expect(cookie["secure"] as? Bool == true)
    #expect(cookie["sameSite"] as? String == "Lax")
    #expect(try browser.script("return document.cookie") as? String == "")
    #expect(try browser.cookies().keys.filter { $0.hasPrefix("__Host-cordon-attempt") } == [])

    try browser.reload()
    try browser.waitForText("Anna")
    try browser.open("\(gateway.origin)/headers")
    try browser.waitForText("anna.bergstrom@example.com")

    // The application's own form, posted in the browser.
    try browser.open("\(gateway.origin)/")
    try browser.type("2", into: "#hours")
    try browser.type("Planed the door", into: "#note")
    try browser.click("#book")
    try browser.waitForText("Planed the door")

    try browser.open("\(gateway.origin)/.auth/sign-out")
    try browser.screenshots("4-sign-out")
    try browser.click("form[action*='sign-out'] button")
    try browser.waitForAddress("the page after signing out") { _ in try browserIsSignedOut() }
    try browser.screenshots("5-signed-out")
    try browser.open("\(gateway.origin)/")
    try browser.waitForAddress("the sign-in page") { $0.contains("/.auth/sign-in") }
  }

  private func browserIsSignedOut() throws -> Bool { try browser.cookies()["__Host-cordon"] == nil }

  @Test("The fragment of the address survives signing in, for applications whose routes are behind the #")
  func fragment() throws {
    defer { end() }
    try signIn(as: "anna", from: "/?week=3#/orders/17?tab=%C3%A9")
    try browser.waitForText("Anna")
  }

  @Test("A fragment that is too long to be kept, as of a drawing or a search, stops nobody from signing in")
  func longFragment() throws {
    defer { end() }
    try browser.open("\(gateway.origin)/?week=3#" + String(repeating: "a:b,", count: 2_500))
    try pressAppleButton()
    try chooseAtApple("anna")
    try waitForApplication(at: "/?week=3")
    try browser.waitForText("Anna")
  }

  @Test("Cancel at Apple's, see why nothing happened, and try again")
  func cancelling() throws {
    defer { end() }
    try browser.open("\(gateway.origin)/")
    try pressAppleButton()
    try browser.click("#cancel")
    try browser.waitForAddress("our page") { $0.hasPrefix(gateway.origin) }
    #expect(try browserIsSignedOut())
    try browser.screenshots("6-cancelled")
    try browser.click("main a[href*='/.auth/']")
    if try !browser.address().hasPrefix(apple.baseURL) { try pressAppleButton() }
    try chooseAtApple("ben")
    try browser.waitForText("Ben")
  }

  @Test("Two tabs sign in, the second before the first, and both land where they wanted to go")
  func twoTabs() throws {
    defer { end() }
    try browser.open("\(gateway.origin)/?tab=1")
    try pressAppleButton()
    let tabs = try browser.openTab()
    try signIn(as: "anna", from: "/?tab=2")
    try browser.switchTo(tabs.old)
    try chooseAtApple("anna")
    try waitForApplication(at: "/?tab=1")
    try browser.waitForText("Anna")
    try browser.switchTo(tabs.new)
    try browser.reload()
    try browser.waitForText("Anna")
  }

  @Test("Another user signs in after the first, and is greeted by their own name")
  func anotherUser() throws {
    defer { end() }
    try signIn(as: "anna")
    try browser.waitForText("Anna")
    try browser.open("\(gateway.origin)/.auth/authorize?return_to=%2F%3Fwho%3Dben")
    try chooseAtApple("ben")
    try waitForApplication(at: "/?who=ben")
    try browser.waitForText("Ben")
    #expect(try !browser.text(of: "#greeting").contains("Anna"))
    // Whose name is not of this alphabet, too.
    try browser.open("\(gateway.origin)/.auth/authorize")
    try chooseAtApple("eleni")
    try waitForApplication(at: "/")
    let greeting = try browser.text(of: "#greeting")
    #expect(greeting.unicodeScalars.contains { $0.value > 0x7F })
    #expect(!greeting.contains("%"))
  }

  @Test("Going back to Apple's page and pressing its button again is refused, and the session goes on")
  func backButton() throws {
    defer { end() }
    try browser.open("\(gateway.origin)/")
    try pressAppleButton()
    let page = try browser.address()
    try chooseAtApple("anna")
    try waitForApplication(at: "/")
    try browser.back()
    try browser.waitForAddress("Apple's page again") { $0.hasPrefix(apple.baseURL) }
    // The simulator answers each page that it has shown once: asked for again, it takes another press, for a new code
    // with the same state. The attempt's cookie was cleared with the first answer.
    try browser.open(page)
    try chooseAtApple("anna")
    try browser.waitForText("You have already completed this sign-in")
    #expect(try browser.address().hasPrefix(gateway.origin))
    #expect(try apple.tokenRequests("authorization_code").count == 1, "the second code is not exchanged")
    try browser.open("\(gateway.origin)/")
    try browser.waitForText("Anna")
  }

  @Test("By keyboard alone: Tab to Apple's button, Enter")
  func keyboard() throws {
    defer { end() }
    try browser.open("\(gateway.origin)/")
    try browser.waitForAddress("the sign-in page") { $0.contains("/.auth/sign-in") }
    for _ in 0..<10 {
      try browser.press("\u{E004}")
      let target = try browser.script("return document.activeElement.href || ''") as? String ?? ""
      if target.contains("/.auth/authorize") { break }
    }
    // The focus can be seen.
    let outline = try browser.script("return getComputedStyle(document.activeElement).outlineStyle") as? String
    #expect(outline != "none")
    try browser.screenshot("7-keyboard")
    try browser.press("\u{E007}")
    try browser.waitForAddress("Apple's page") { $0.hasPrefix(apple.baseURL) }
  }

  @Test("Without JavaScript a button carries the answer on")
  func withoutScripts() throws {
    defer { end() }
    try browser.devTools("Emulation.setScriptExecutionDisabled", ["value": true])
    try browser.open("\(gateway.origin)/public/")
    try browser.open("\(gateway.origin)/.auth/authorize?return_to=%2F")
    try browser.click("#user-ben")
    try browser.type("Ben", into: "#first-name")
    try browser.click("#continue")
    try browser.click("#return")
    try waitForApplication(at: "/")
    try browser.screenshot("8-without-scripts")
  }

  @Test("A visitor of another site brings no session: SameSite holds")
  func otherSite() throws {
    defer { end() }
    try signIn(as: "anna")
    // A page of the other site posts to sign-out, as an attacker's would.
    try browser.open("\(apple.baseURL)/auth/authorize?client_id=nobody")
    try browser.script(
      """
      const form = document.createElement('form');
      form.method = 'post'; form.action = arguments[0]; document.body.append(form); form.submit();
      """, ["\(gateway.origin)/.auth/sign-out"])
    try browser.waitForAddress("our answer") { $0.hasPrefix(gateway.origin) }
    try browser.open("\(gateway.origin)/")
    try browser.waitForText("Anna")
  }

  @Test("A page of the application cannot read Apple's answer in a window that it has opened")
  func openedWindow() throws {
    defer { end() }
    try browser.open("\(gateway.origin)/public/")
    let page = try browser.tab()
    try browser.script("window.opened = window.open('/.auth/authorize?return_to=%2F')")
    let opened = try poll("the opened window") { try browser.tabs().first { $0 != page } }
    try browser.switchTo(opened)
    try browser.waitForAddress("Apple's page") { $0.hasPrefix(apple.baseURL) }
    try browser.switchTo(page)
    #expect(try browser.script("return opened.closed") as? Bool == false)
    try browser.switchTo(opened)
    try chooseAtApple("anna")
    try waitForApplication(at: "/")
    try browser.waitForText("Anna")
    #expect(try browser.script("return window.opener === null") as? Bool == true)
    try browser.switchTo(page)
    #expect(try browser.script("return opened.closed") as? Bool == true)
  }

  // MARK: Pages for everybody

  @Test("Each page has a language, a title, one heading, a main part, and fits on a phone")
  func accessibility() throws {
    defer { end() }
    let pages = ["sign-in", "sign-out", "nowhere", "callback"]
    for path in pages {
      try browser.show(on: .phone)
      try browser.open("\(gateway.origin)/.auth/\(path)")
      let facts = try #require(
        try browser.script(
          """
          return {
            language: document.documentElement.lang, title: document.title,
            headings: document.querySelectorAll('h1').length, main: document.querySelectorAll('main').length,
            overflow: document.documentElement.scrollWidth > document.documentElement.clientWidth,
            small: [...document.querySelectorAll('main a, main button')]
              .filter(e => { const r = e.getBoundingClientRect(); return r.width > 0 && r.height < 24 }).length,
            unnamed: [...document.querySelectorAll('a, button, input:not([type=hidden])')]
              .filter(e => !(e.innerText || e.value || e.ariaLabel || e.labels?.length)).length,
            images: [...document.querySelectorAll('img, svg')]
              .filter(e => !(e.alt || e.ariaLabel || e.ariaHidden || e.getAttribute('role') === 'presentation'
                || e.closest('[aria-hidden=true]'))).length
          }
          """) as? [String: Any])
      #expect((facts["language"] as? String)?.isEmpty == false, "\(path)")
      #expect((facts["title"] as? String)?.isEmpty == false, "\(path)")
      #expect(facts["headings"] as? Int == 1, "\(path)")
      #expect(facts["main"] as? Int == 1, "\(path)")
      for fault in ["small", "unnamed", "images"] { #expect(facts[fault] as? Int == 0, "\(path): \(fault)") }
      #expect(facts["overflow"] as? Bool == false, "\(path)")
      try browser.screenshots("9-\(path)")
    }
  }
}
