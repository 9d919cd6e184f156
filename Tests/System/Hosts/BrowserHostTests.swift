import Foundation
import Testing

// Three hosts of localhost in a real browser, which keeps a cookie jar for each and applies SameSite between them.
//
// - Three tabs: the first signs in with Apple, the others need no second visit; signing out in one ends all three.
// - Another user afterwards, on every host. A sign-in that is cancelled on the second host, and tried again.
// - The browser refuses third-party cookies: none are needed.

@SystemActor
@Suite("Several hosts in a real browser")
struct BrowserHostTests {
  private let site: Site
  private let browser: Browser

  init() throws {
    site = try Site(upstream: EchoingApplication.answer) { try? $0.addHosts(["wiki", "tickets"]) }
    browser = try Browser(blocksThirdPartyCookies: true)
  }

  private func end() {
    browser.quit()
    site.stop()
  }

  private func waitForSignInPage() throws {
    try browser.waitForAddress("the sign-in page of public_url") { $0.hasPrefix(site.own("sign-in?visit=")) }
  }

  /// From the sign-in page to Apple, and back to an address.
  private func signIn(as user: String, to address: String) throws {
    try browser.click("a[href*='/.auth/authorize']")
    try browser.waitForAddress("Apple's page") { $0.hasPrefix(site.apple.baseURL) }
    try browser.click("#user-\(user)")
    try browser.click("#continue")
    try browser.waitForAddress(address) { $0 == address }
    try browser.waitForText(try site.apple.subject(of: user))
  }

  @Test("Three tabs on three hosts need one sign-in, and signing out in one of them is signing out in all")
  func threeTabs() throws {
    defer { end() }
    let (wiki, tickets) = (site.origin(of: "wiki") + "/page?a=b", site.origin(of: "tickets") + "/list")
    try browser.open(wiki)
    try waitForSignInPage()
    try browser.screenshots("14-sign-in-for-a-host")
    try signIn(as: "anna", to: wiki)
    let cookie = try #require(try browser.cookies()["__Host-cordon"])
    #expect(cookie["httpOnly"] as? Bool == true && cookie["sameSite"] as? String == "Lax")
    #expect(try browser.cookies().keys.allSatisfy { !$0.contains("-visit-") })

    let first = try browser.openTab()
    try browser.open(tickets)
    try browser.waitForAddress("the second host") { $0 == tickets }
    #expect(try browser.cookies()["__Host-cordon"]?["value"] as? String != cookie["value"] as? String)
    let second = try browser.openTab()
    try browser.open(site.origin + "/")
    try browser.waitForText(try site.apple.subject(of: "anna"))
    #expect(try site.apple.tokenRequests("authorization_code").count == 1)

    try browser.switchTo(first.new)
    try browser.open(site.own("sign-out", on: "tickets"))
    try browser.click("form[action*='sign-out'] button")
    try browser.waitForText("signed out")
    for (tab, address) in [(first.old, wiki), (second.new, site.origin + "/")] {
      try browser.switchTo(tab)
      try browser.open(address)
      try browser.waitForAddress("the sign-in page") { $0.hasPrefix(site.own("sign-in?")) }
    }

    // Another user, who is then the one on every host.
    try browser.switchTo(first.old)
    try browser.open(wiki)
    try waitForSignInPage()
    try signIn(as: "ben", to: wiki)
    try browser.switchTo(first.new)
    try browser.open(tickets)
    try browser.waitForText(try site.apple.subject(of: "ben"))
  }

  @Test("A sign-in that is cancelled leads back to the host, and works at the second attempt")
  func cancelled() throws {
    defer { end() }
    let tickets = site.origin(of: "tickets") + "/list"
    try browser.open(tickets)
    try waitForSignInPage()
    try browser.click("a[href*='/.auth/authorize']")
    try browser.click("#cancel")
    try browser.waitForAddress("the page that says so") { $0 == site.own("callback") }
    try browser.click("a[href^='\(site.own("sign-in", on: "tickets"))']")
    try waitForSignInPage()
    try signIn(as: "anna", to: tickets)
  }
}
