import Foundation
import Testing

// Signing in, honestly.
//
// - The way to Apple carries what Apple asks for; state and nonce are new each time.
// - The user lands where they wanted to go, with a cookie as the design says; the session is told as JSON.
// - Several tabs finish, in any order; another user ends the earlier session; the name survives a failed exchange.
// - Apple's observed habits (flags as text, no nonce support) are taken; cancelling and Apple's failures are pages.
// - Only navigations start an attempt; at most five are open, and one that was displaced says so.

@SystemActor
@Suite("Signing in", .serialized, .site)
struct SignInTests {
  private let site: Site

  init() throws {
    site = try Site.current
    try site.apple.behave()
  }

  @Test("Authorize sends the browser to Apple with what Apple asks for, and a new state and nonce each time")
  func authorizationRequest() throws {
    var states: Set<String> = []
    var nonces: Set<String> = []
    for _ in 0..<3 {
      let response = try Visitor().open(site.own("authorize?return_to=%2Fx"), following: false).response
      #expect(response.status == 302)
      let location = try #require(response.location)
      #expect(location.contains("scope=name%20email") || location.contains("scope=email%20name"))
      let address = try WebAddress(location)
      #expect(address.origin == site.apple.baseURL)
      #expect(address.path == "/auth/authorize")
      #expect(address[parameter: "client_id"] == GatewayConfiguration.clientID)
      #expect(address[parameter: "redirect_uri"] == site.own("callback"))
      #expect(address[parameter: "response_type"] == "code id_token")
      #expect(address[parameter: "response_mode"] == "form_post")
      states.insert(try #require(address[parameter: "state"]))
      nonces.insert(try #require(address[parameter: "nonce"]))
      #expect(response.fields["Cache-Control"]?.contains("no-store") == true)
    }
    #expect(states.count == 3)
    #expect(nonces.count == 3)
  }

  @Test("The user lands where they wanted to go, and the application knows them there")
  func landing() throws {
    let visitor = Visitor()
    let page = try visitor.signIn(site, as: "anna", returnTo: "/deep/page?a=1&b=%2F")
    #expect(page.address.description == "\(site.origin)/deep/page?a=1&b=%2F")
    #expect(page.status == 200)
    let seen = try site.upstream.waitForRequest { $0.target == "/deep/page?a=1&b=%2F" }
    #expect(seen.fields["X-Forwarded-User"] == (try site.apple.subject(of: "anna")))
  }

  @Test("A page asked for without a session leads by the sign-in page back to itself")
  func fromTheApplication() throws {
    let visitor = Visitor()
    let signIn = try visitor.open("\(site.origin)/invoices?year=2026")
    #expect(signIn.address.path == "/.auth/sign-in")
    #expect(signIn.status == 200)
    let button = try #require(
      HTMLTag.all(in: signIn.text).first { $0.name == "a" && $0["href"]?.contains("/.auth/authorize") == true })
    try visitor.follow(try #require(button["href"]))
    try visitor.decide(.proceed(user: "anna"))
    let landed = try visitor.carryBack()
    #expect(landed.address.description == "\(site.origin)/invoices?year=2026")
  }

  @Test("The session cookie is small, and closed to scripts, other sites and cleartext")
  func cookieAttributes() throws {
    let visitor = Visitor()
    try visitor.start(site)
    try visitor.decide(.proceed(user: "anna"))
    let page = try visitor.carryBack(following: false)
    #expect(page.status == 303)
    let line = try #require(page.response.setCookies.first { $0.hasPrefix("__Host-cordon=") })
    let attributes = Set(
      line.split(separator: ";").dropFirst().map { $0.trimmingCharacters(in: .whitespaces).lowercased() })
    #expect(attributes.isSuperset(of: ["httponly", "secure", "path=/", "samesite=lax"]))
    #expect(!attributes.contains { $0.hasPrefix("domain") })
    let value = try #require(line.split(separator: ";").first)
    #expect(value.utf8.count < 200)
  }

  @Test("The session is told as JSON to who has it, and 401 to who has not")
  func sessionJSON() throws {
    let anna = try site.signedIn()
    let response = try anna.fetch(site.own("session"))
    #expect(response.status == 200)
    #expect(response.fields["Content-Type"]?.hasPrefix("application/json") == true)
    #expect(response.text.contains(try site.apple.subject(of: "anna")))
    #expect(response.text.contains("anna.bergstrom@example.com"))
    #expect(response.fields["Cache-Control"]?.contains("no-store") == true)
    #expect(try site.gateway.client.get("/.auth/session").status == 401)
  }

  @Test("Two tabs sign in, in either order", arguments: [true, false])
  func twoTabs(firstFinishesFirst: Bool) throws {
    let visitor = Visitor()
    try visitor.start(site, returnTo: "/first")
    try visitor.decide(.proceed(user: "anna"))
    let first = try visitor.answerForm()
    let firstPage = try #require(visitor.page?.address.description)
    try visitor.start(site, returnTo: "/second")
    try visitor.decide(.proceed(user: "anna"))
    let second = try visitor.answerForm()
    #expect(!firstPage.isEmpty)
    for form in firstFinishesFirst ? [first, second] : [second, first] {
      let page = try visitor.carryBack(form)
      #expect(page.status == 200)
      #expect(page.address.path == (form.inputs.first?.1 == first.inputs.first?.1 ? "/first" : "/second"))
      #expect(try visitor.fetch(site.own("session")).status == 200)
      // Back to a page of Apple's, from which the other form is submitted.
      try visitor.open("\(site.apple.baseURL)/simulator")
    }
  }

  @Test("No more than five attempts are open at a time")
  func manyAttempts() throws {
    let visitor = Visitor()
    for index in 0..<12 { try visitor.start(site, returnTo: "/\(index)") }
    let attempts = visitor.jar.cookies.filter { $0.name.hasPrefix("__Host-cordon-attempt-") }
    #expect((1...5).contains(attempts.count))
    // The newest still works.
    try visitor.decide(.proceed(user: "anna"))
    #expect(try visitor.carryBack().address.path == "/11")
  }

  @Test("A sign-in that newer ones displaced says that it has ended, or leads on if the browser is signed in")
  func displaced() throws {
    let visitor = Visitor()
    var answers: [HTMLForm] = []
    for index in 0..<7 {
      try visitor.start(site, returnTo: "/tab\(index)")
      try visitor.decide(.proceed(user: "anna"))
      answers.append(try visitor.answerForm())
    }
    let ended = try visitor.carryBack(answers[0])
    #expect(ended.status == 400 && ended.text.contains("This sign-in has ended"), "\(ended.text)")
    #expect(ended.text.contains("href=\"/.auth/sign-in?return_to=/tab6\""))
    #expect(ended.response.setCookies.isEmpty && visitor.jar["__Host-cordon"] == nil)

    try visitor.open("\(site.apple.baseURL)/simulator")
    #expect(try visitor.carryBack(answers[6]).address.path == "/tab6")
    let session = try #require(visitor.jar["__Host-cordon"])
    try visitor.open("\(site.apple.baseURL)/simulator")
    let late = try visitor.carryBack(answers[1], following: false)
    #expect(late.status == 303 && late.response.location == "/" && late.response.setCookies.isEmpty)
    #expect(visitor.jar["__Host-cordon"] == session)
    #expect(try visitor.fetch(site.own("session")).status == 200)
  }

  @Test("Another user in the same browser ends the earlier session")
  func anotherUser() throws {
    let visitor = try site.signedIn(as: "anna")
    let earlier = try #require(try visitor.cookieHeader(for: site.origin + "/"))
    try visitor.signIn(site, as: "ben")
    #expect(try visitor.fetch(site.own("session")).text.contains(try site.apple.subject(of: "ben")))
    #expect(try site.gateway.client.get("/.auth/session", fields: [("Cookie", earlier)]).status == 401)
  }

  @Test("The name that Apple tells once is kept although the first exchange fails")
  func nameSurvives() throws {
    try site.apple.add(user: [
      "id": "nora", "first_name": "Nora", "last_name": "Ferreira", "email": "nora@example.com",
    ])
    try site.apple.fault("token", "status", ["status": 500, "times": 8])
    let visitor = Visitor()
    let failed = try visitor.signIn(site, as: "nora")
    #expect(failed.status >= 500)
    #expect(visitor.jar["__Host-cordon"] == nil)
    try site.apple.behave()
    try visitor.signIn(site, as: "nora", returnTo: "/nora")
    let seen = try site.upstream.waitForRequest { $0.target == "/nora" }
    #expect(seen.fields["X-Forwarded-Name"] == "Nora Ferreira")
  }

  @Test("Apple's flags as text, and tokens without nonce support, are taken")
  func appleHabits() throws {
    try site.apple.switches(["flags_as_strings": true])
    defer { try? site.apple.switches(["flags_as_strings": false]) }
    let anna = try site.signedIn()
    #expect(try anna.fetch(site.own("session")).text.contains("anna.bergstrom@example.com"))
    let claims: [String: Any] = ["nonce": NSNull(), "nonce_supported": false]
    for place in ["authorize", "token"] { try site.apple.tamper(place, token: ["claims": claims]) }
    _ = try site.signedIn(as: "ben")
  }

  @Test("Keys that Apple rotates are fetched again")
  func keyRotation() throws {
    _ = try site.signedIn()
    let before = try site.apple.requests(at: "/auth/keys").count
    try site.apple.rotateKeys(dropOld: false)
    _ = try site.signedIn()
    #expect(try site.apple.requests(at: "/auth/keys").count > before)
  }

  @Test("Cancelling at Apple's is a page that leads on, and no session")
  func cancelling() throws {
    let visitor = Visitor()
    try visitor.start(site, returnTo: "/wanted")
    try visitor.decide(.cancel)
    let page = try visitor.carryBack()
    #expect((400..<500).contains(page.status))
    #expect(HTMLTag.all(in: page.text).contains { $0["href"]?.contains("/.auth/") == true })
    #expect(visitor.jar["__Host-cordon"] == nil)
  }

  @Test(
    "Trouble at Apple is a page, no session, and no harm",
    arguments: [
      "status", "html", "truncated-json", "deep-json", "empty", "cut", "endless-json", "refuse",
    ])
  func appleTrouble(kind: String) throws {
    try site.surviving {
      try site.apple.fault("token", kind)
      let visitor = Visitor()
      let page = try visitor.signIn(site)
      #expect(page.status >= 500)
      #expect(page.response.fields["Content-Type"]?.hasPrefix("text/html") == true)
      #expect(visitor.jar["__Host-cordon"] == nil)
      try site.apple.behave()
      _ = try site.signedIn()
    }
  }

  @Test("A failed sign-in that is reloaded says that it has ended, and leads to where it was going")
  func reloadedFailure() throws {
    try site.surviving {
      try site.apple.fault("token", "status", ["status": 500, "times": 8])
      let visitor = try site.beforeCallback(returnTo: "/deep?x=1")
      let answer = try visitor.answerForm()
      #expect(try visitor.carryBack(answer).status == 503)
      try site.apple.behave()
      let reloaded = try visitor.carryBack(answer)
      #expect(reloaded.status == 400 && reloaded.text.contains("This sign-in has ended"), "\(reloaded.text)")
      #expect(reloaded.text.contains("href=\"/.auth/sign-in?return_to=/deep%3Fx%3D1\""))
      #expect(visitor.jar["__Host-cordon"] == nil)
      try visitor.signIn(site, returnTo: "/deep?x=1")
      #expect(try visitor.fetch(site.own("session")).status == 200)
    }
  }

  @Test("A user who cancels another sign-in is told whose session continues, and can go on")
  func cancellingAgain() throws {
    let anna = try site.signedIn()
    try anna.start(site, returnTo: "/wanted")
    try anna.decide(.cancel)
    let answer = try anna.answerForm()
    for _ in 0..<2 {
      let page = try anna.carryBack(answer)
      #expect(page.status == 403 && page.text.contains("You are still signed in"), "\(page.text)")
      #expect(page.text.contains("anna.bergstrom@example.com") && page.text.contains("href=\"/wanted\""))
      #expect(!page.text.contains("you are not signed in"))
      try anna.open("\(site.apple.baseURL)/simulator")
    }
    #expect(try anna.fetch(site.own("session")).status == 200)
    // The session has ended meanwhile.
    try anna.submit(try #require(try anna.open(site.own("sign-out")).forms.first))
    try anna.open("\(site.apple.baseURL)/simulator")
    #expect(try anna.carryBack(answer).text.contains("you are not signed in"))
  }

  @Test("A cancelled sign-in that is reloaded is still a cancelled one")
  func reloadedCancellation() throws {
    let visitor = Visitor()
    try visitor.start(site, returnTo: "/wanted")
    try visitor.decide(.cancel)
    let answer = try visitor.answerForm()
    for _ in 0..<2 {
      let page = try visitor.carryBack(answer)
      #expect(page.status == 403 && page.text.contains("Sign-in cancelled"))
      #expect(page.text.contains("href=\"/.auth/sign-in?return_to=/wanted\""))
    }
  }

  @Test("A request of a script, or by another method, starts no attempt")
  func onlyNavigationsStart() throws {
    let visitor = Visitor()
    for (method, fields) in [
      ("GET", [("Sec-Fetch-Mode", "cors")]), ("GET", [("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "image")]),
      ("POST", [("Sec-Fetch-Mode", "navigate")]),
    ] {
      let response = try site.gateway.client.send(
        method, "/.auth/authorize", fields: fields, body: method == "POST" ? [] : nil)
      #expect((400..<500).contains(response.status), "\(method) \(fields)")
      #expect(response.location == nil)
      #expect(response.setCookies.isEmpty)
    }
    #expect(visitor.jar.cookies.isEmpty)
  }

  @Test("Our pages may not be framed, cached or sniffed")
  func pageHeaders() throws {
    for path in ["sign-in", "sign-out"] {
      let response = try Visitor().open(site.own(path), following: false).response
      let policy = response.fields["Content-Security-Policy"] ?? ""
      #expect(policy.contains("frame-ancestors 'none'"), "\(path)")
      #expect(!policy.contains("unsafe-inline"), "\(path)")
      #expect(response.fields["X-Content-Type-Options"] == "nosniff", "\(path)")
      #expect(response.fields["Cache-Control"]?.contains("no-store") == true, "\(path)")
      #expect(response.fields["Referrer-Policy"] != nil, "\(path)")
      #expect(response.fields["Cross-Origin-Resource-Policy"] == "same-origin", "\(path)")
      // An application may open them in a window, and wait for its message.
      #expect(response.fields["Cross-Origin-Opener-Policy"] == nil, "\(path)")
    }
  }
}
