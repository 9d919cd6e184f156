import Foundation
import Testing

// Two gateways on one host name, on different ports: browsers send each the cookies of both.
//
// - One browser has a session of each, of different accounts; sign-ins under way do not disturb each other.
// - Signing out of one leaves the other. No application sees a cookie of either.

@SystemActor
@Suite("Another name of the session cookie")
struct CookieNameTests {
  private func site(_ name: String? = nil) throws -> Site {
    try Site(upstream: EchoingApplication.answer) {
      $0["pages", "show_sign_in_page"] = "false"
      $0["session", "cookie_name"] = name.map { "\"\($0)\"" }
      try? $0.addHosts(["wiki"])
    }
  }

  @Test("Two gateways on one host name do not disturb each other", arguments: ["__Host-cordon-2", "__Host-wiki"])
  func together(name: String) throws {
    let first = try site()
    defer { first.stop() }
    let second = try site(name)
    defer { second.stop() }
    // Both sign-ins are under way at once.
    let (browser, tab) = (Visitor(), Visitor())
    try browser.start(first)
    tab.jar = browser.jar
    try tab.start(second)
    try tab.decide(.proceed(user: "ben"))
    try tab.carryBack()
    browser.jar = tab.jar
    try browser.decide(.proceed(user: "anna"))
    try browser.carryBack()
    let (anna, ben) = (try first.apple.subject(of: "anna"), try second.apple.subject(of: "ben"))
    func session(of site: Site) throws -> HTTPResponse { try browser.fetch(site.own("session")) }
    for (site, subject) in [(first, anna), (second, ben)] {
      let page = try browser.open(site.origin + "/")
      #expect(page.text.contains("X-Forwarded-User: \(subject)"))
      #expect(try session(of: site).text.contains(subject))
    }
    // A visit to a host of the second gateway.
    let visited = try browser.open(second.origin(of: "wiki") + "/page")
    #expect(visited.status == 200 && visited.text.contains("X-Forwarded-User: \(ben)"))
    let names = Set(browser.jar.cookies.map(\.name))
    #expect(names == ["__Host-cordon", "__Host-cordon-last", name, name + "-last"])
    // The second gateway knows the names of the first, and the first those that begin with its own.
    #expect(second.upstream.requests.allSatisfy { !$0.headText.contains("__Host-") })
    if name.hasPrefix("__Host-cordon") {
      #expect(first.upstream.requests.allSatisfy { !$0.headText.contains("__Host-") })
    }
    let form = [("Origin", second.origin)]
    #expect(try browser.fetch(second.own("sign-out"), method: "POST", fields: form).status == 204)
    #expect(try session(of: second).status == 401 && browser.cookie(name, of: "localhost") == nil)
    #expect(try session(of: first).status == 200)
  }
}
