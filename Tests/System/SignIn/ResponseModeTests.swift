import Foundation
import TemporaryDirectoryTesting
import Testing

// The ways by which Apple's answer comes back, and what of it is allowed.
//
// - Every combination of response mode and type that Apple allows signs somebody in, in a real browser.
// - Every other is refused by check, at its line, with Apple's reason; so is a redirect URI that Apple would not take.
// - A browser that keeps the attempt's cookie from another site's POST is led through our own page, and signs in.
// - With response_type code, the name that Apple sends once survives an exchange that fails.

@SystemActor
@Suite("Response modes in a real browser")
struct ResponseModeTests {
  nonisolated struct Combination: Sendable, CustomTestStringConvertible {
    let mode: String
    let type: String
    let scopes: String
    var testDescription: String { "\(mode), \(type), \(scopes)" }
  }

  nonisolated static let allowed = [
    Combination(mode: "form_post", type: "code id_token", scopes: #"["name", "email"]"#),
    Combination(mode: "form_post", type: "code", scopes: #"["name", "email"]"#),
    Combination(mode: "form_post", type: "code id_token", scopes: "[]"),
    Combination(mode: "form_post", type: "code", scopes: "[]"),
    Combination(mode: "fragment", type: "code id_token", scopes: "[]"),
    Combination(mode: "fragment", type: "code", scopes: "[]"),
    Combination(mode: "query", type: "code", scopes: "[]"),
  ]

  private func configure(_ combination: Combination, _ configuration: inout GatewayConfiguration) {
    configuration["apple", "response_mode"] = "\"\(combination.mode)\""
    configuration["apple", "response_type"] = "\"\(combination.type)\""
    configuration["apple", "scopes"] = combination.scopes
  }

  private func greetsByName(_ site: Site, _ browser: Browser, _ path: String) throws {
    try browser.waitForAddress("the application at \(path)") { $0 == site.origin + path }
    try browser.waitForText("upstream saw GET \(path)")
  }

  @Test("Each combination that Apple allows signs a user in, where the user wanted to go", arguments: allowed)
  func allowed(combination: Combination) throws {
    let site = try Site(adjust: { configure(combination, &$0) })
    let browser = try Browser()
    defer {
      browser.quit()
      site.stop()
    }
    try browser.open("\(site.origin)/.auth/authorize?return_to=%2Fwanted%3Fa%3D1")
    try browser.click("#user-anna")
    try browser.click("#continue")
    try greetsByName(site, browser, "/wanted?a=1")
    let seen = try site.upstream.waitForRequest { $0.target == "/wanted?a=1" }
    #expect(seen.fields["X-Forwarded-User"] == (try site.apple.subject(of: "anna")))
    #expect(seen.fields.contains("X-Forwarded-Name") == (combination.scopes != "[]"))
    // Apple's answer is in no address that the browser remembers.
    try browser.back()
    #expect(try !browser.address().contains("code="))
    let authorize = try #require(try site.apple.requests(at: "/auth/authorize").first)
    #expect(
      authorize.query["response_mode"] == combination.mode && authorize.query["response_type"] == combination.type)
  }

  @Test("Cancelling comes back in each mode", arguments: allowed.suffix(3))
  func cancelled(combination: Combination) throws {
    let site = try Site(adjust: { configure(combination, &$0) })
    let browser = try Browser()
    defer {
      browser.quit()
      site.stop()
    }
    try browser.open("\(site.origin)/.auth/authorize")
    try browser.click("#cancel")
    try browser.waitForText("cancelled")
    #expect(try browser.address().hasPrefix("\(site.origin)/.auth/callback"))
  }

  @Test("The page for the fragment keeps its own strict policy, and says so where scripts are off")
  func fragmentPage() throws {
    let site = try Site(adjust: { configure(Self.allowed[4], &$0) })
    let browser = try Browser()
    defer {
      browser.quit()
      site.stop()
    }
    let page = try Visitor().open(site.own("callback"), following: false).response
    #expect(page.status == 200)
    let policy = try #require(page.fields["Content-Security-Policy"])
    #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'nonce-"))
    #expect(!policy.contains("unsafe"))
    #expect(page.fields["Cache-Control"]?.contains("no-store") == true)
    #expect(page.setCookies.isEmpty)
    try browser.devTools("Emulation.setScriptExecutionDisabled", ["value": true])
    try browser.open("\(site.origin)/.auth/callback#state=x&code=y")
    try browser.waitForText("This sign-in needs JavaScript")
    // A button that has nothing to hand on is not offered; the way back is.
    #expect(try !browser.visibleText().contains("Continue"))
    try browser.screenshots("10-fragment-without-scripts")
    try browser.click("a[href='/.auth/sign-in']")
    try browser.waitForAddress("the sign-in page") { $0 == site.own("sign-in") }
  }

  @Test("A fragment from a page of another site starts nothing and runs nothing")
  func hostileFragment() throws {
    let site = try Site(adjust: { configure(Self.allowed[4], &$0) })
    let browser = try Browser()
    defer {
      browser.quit()
      site.stop()
    }
    for fragment in [
      "", "state=x&code=y", "%22%3E%3Cscript%3Edocument.title%3D1%3C/script%3E=1", "a=1&a=2&__proto__=x",
    ] {
      try browser.open("\(site.origin)/.auth/sign-in")
      try browser.open("\(site.origin)/.auth/callback#\(fragment)")
      try browser.waitForText("sign")
      #expect(try browser.title() != "1")
      #expect(try browser.cookies()["__Host-cordon"] == nil)
    }
  }

  @Test("A browser that keeps the attempt's cookie from another site's POST signs in by our own page's second post")
  func withheldCookie() throws {
    let site = try Site(adjust: { $0["log", "access"] = "true" })
    let browser = try Browser()
    defer {
      browser.quit()
      site.stop()
    }
    try browser.open("\(site.origin)/.auth/authorize?return_to=%2Fwanted")
    // As browsers keep it that know no SameSite=None, and take it for Strict.
    let kept = try browser.devTools("Network.getCookies", ["urls": [site.origin]]) as? [String: Any]
    let cookie = try #require(
      (kept?["cookies"] as? [[String: Any]])?.first { ($0["name"] as? String)?.contains("-attempt-") == true })
    try browser.devTools(
      "Network.setCookie",
      [
        "name": cookie["name"] ?? "", "value": cookie["value"] ?? "", "url": site.origin, "path": "/", "secure": true,
        "httpOnly": true, "sameSite": "Strict",
      ])
    try browser.click("#user-anna")
    try browser.click("#continue")
    try greetsByName(site, browser, "/wanted")
    try poll("both posts in the access log") {
      let lines = String(decoding: site.gateway.log, as: UTF8.self).split(separator: "\n")
      return lines.count { $0.contains("/.auth/callback") && $0.contains("POST") } == 2 ? () : nil
    }
  }

  @Test("The same without a browser: one page in between, once, and then a refusal")
  func withheldCookieOnce() throws {
    let site = try Site()
    defer { site.stop() }
    let visitor = Visitor()
    try visitor.start(site)
    try visitor.decide(.proceed(user: "anna"))
    for cookie in visitor.jar.cookies where cookie.name.contains("-attempt-") { visitor.jar[cookie.name] = nil }
    let between = try visitor.submit(try visitor.answerForm())
    #expect(between.status == 200)
    let again = try #require(between.forms.first { $0.action.hasSuffix("/callback") })
    let refused = try visitor.submit(again)
    #expect(refused.status == 400 && refused.forms.isEmpty)
    #expect(try site.apple.tokenRequests("authorization_code").isEmpty)
  }

  @Test(
    "With response_type code the name survives an exchange that fails, for a user who has none, and for ten minutes")
  func nameSurvives() throws {
    let site = try Site(fakeClock: true, adjust: { $0["apple", "response_type"] = "\"code\"" })
    defer { site.stop() }
    for (id, name) in [("nora", "Nora"), ("otto", "Otto")] {
      try site.apple.add(user: ["id": id, "first_name": name, "last_name": "F", "email": "\(id)@example.com"])
    }
    func fails(_ visitor: Visitor, _ user: String) throws {
      try site.apple.fault("token", "status", ["status": 500])
      #expect(try visitor.signIn(site, as: user).status == 503)
      #expect(visitor.jar["__Host-cordon"] == nil)
      try site.apple.behave()
    }
    let visitor = Visitor()
    try fails(visitor, "nora")
    // Another user of this browser, who brings a name: nobody's name is mixed up, and Nora's waits for her.
    try visitor.signIn(site, as: "anna")
    #expect(try visitor.fetch(site.own("session")).json()["name"] as? String == "Anna Bergström")
    try visitor.signIn(site, as: "nora")
    #expect(try visitor.fetch(site.own("session")).json()["name"] as? String == "Nora F")

    let other = Visitor()
    try fails(other, "otto")
    try other.signIn(site, as: "otto")
    #expect(try other.fetch(site.own("session")).json()["name"] as? String == "Otto F")
    #expect(other.jar["__Host-cordon-name"] == nil)
  }
}

@SystemActor
@Suite("Response modes and redirect URIs that Apple does not take")
struct ResponseModeConfigurationTests {
  /// `check` of a configuration: exit and what it said.
  private func check(_ adjust: (inout GatewayConfiguration) -> Void) throws -> (ServerProcess.Exit, String) {
    let directory = try TemporaryDirectory()
    var configuration = try GatewayConfiguration()
    adjust(&configuration)
    let file = try configuration.install(in: directory)
    let result = try ServerProcess.run(
      Machine.binary("cordon"), ["check", "--config", file], directory: directory.path)
    return (result.exit, result.standardOutput + result.standardError)
  }

  @Test(
    "A combination that Apple does not allow is a mistake, with its reason",
    arguments: [
      ("query", "code", #"["name"]"#, "with any scope it must be form_post"),
      ("fragment", "code", #"["email"]"#, "with any scope it must be form_post"),
      ("fragment", "code id_token", #"["name", "email"]"#, "with any scope it must be form_post"),
      ("query", "code id_token", "[]", "it must be fragment or form_post"),
      ("form_post", "id_token", "[]", "response_type"), ("web_message", "code", "[]", "response_mode"),
    ])
  func refused(mode: String, type: String, scopes: String, reason: String) throws {
    let (exit, said) = try check {
      $0["apple", "response_mode"] = "\"\(mode)\""
      $0["apple", "response_type"] = "\"\(type)\""
      $0["apple", "scopes"] = scopes
    }
    #expect(exit == .code(78) && said.contains(reason), "\(said)")
    let place = try #require(said.split(separator: "\n").first { $0.contains(reason) })
    #expect(place.split(separator: ":").dropFirst().prefix(2).allSatisfy { Int($0) != nil }, "\(place)")
  }

  @Test(
    "A redirect URI that Apple does not take is a mistake of public_url, but not against a local Apple",
    arguments: [
      ("http://localhost:8080", "https:"), ("https://localhost", "not localhost"),
      ("https://app.localhost", "not localhost"),
      ("https://192.0.2.7", "not an IP address"), ("https://[2001:db8::1]", "not an IP address"),
      ("https://intranet", "with a domain name"),
    ])
  func redirectURI(publicURL: String, reason: String) throws {
    let (local, _) = try check { $0["", "public_url"] = "\"\(publicURL)\"" }
    #expect(local == .code(0))
    let (exit, said) = try check {
      $0["", "public_url"] = "\"\(publicURL)\""
      $0["apple", "base_url"] = nil
    }
    #expect(exit == .code(78) && said.contains("public_url") && said.contains(reason), "\(said)")
  }
}
