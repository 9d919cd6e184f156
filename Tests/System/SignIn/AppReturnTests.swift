import Foundation
import Testing

// A sign-in in the browser, handed back to a native app by its custom scheme.
//
// - The app begins with a challenge, gets a one-time code at its own address, and exchanges it with the verifier for a
//   session; the browser gets none. No token is ever in an address.
// - The code works once, also on another gateway that shares the store, for a minute, with the right verifier only.
// - Only listed schemes; errors come back as error=.

@SystemActor
@Suite(
  "Handing a sign-in back to an app", .serialized,
  .site {
    $0["native", "return_schemes"] = "[\"com.example.app\"]"
    $0["native", "bearer"] = "true"
  })
struct AppReturnTests {
  private let site: Site
  /// Verifier and challenge of RFC 7636, appendix B.
  private let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
  private let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

  init() throws {
    site = try Site.current
    try site.apple.behave()
  }

  private func begin(
    _ visitor: Visitor, to address: String = "com.example.app:/signed-in", challenge: String? = nil,
    method: String = "S256", following: Bool = true
  ) throws -> Visitor.Page {
    let items = [
      ("return_to", address), ("code_challenge", challenge ?? self.challenge), ("code_challenge_method", method),
    ]
    return try visitor.open(site.own("authorize?\(FormEncoding.encode(items))"), following: following)
  }

  /// Signs in, up to the redirect to the app.
  private func handBack(
    _ visitor: Visitor = Visitor(), as user: String = "anna", to address: String = "com.example.app:/signed-in"
  ) throws -> String {
    _ = try begin(visitor, to: address)
    try visitor.decide(.proceed(user: user))
    let page = try visitor.carryBack(following: false)
    #expect(page.status == 303)
    return try #require(page.response.location)
  }

  private func code(_ location: String) throws -> String {
    let query = location.split(separator: "?").last.map(String.init) ?? ""
    return try #require(FormEncoding.decode(query).first { $0.0 == "code" }?.1)
  }

  private func exchange(_ code: String, _ verifier: String? = nil) throws -> HTTPResponse {
    try site.gateway.client.post(
      "/.auth/native/exchange", json: ["code": code, "code_verifier": verifier ?? self.verifier])
  }

  @Test("The app gets a code at its own address, and for code and verifier a session; the browser gets nothing")
  func wholeWay() throws {
    let visitor = Visitor()
    let location = try handBack(visitor, to: "COM.example.app://signed-in?state=a%20b")
    #expect(location.hasPrefix("COM.example.app://signed-in?state=a%20b&code="))
    #expect(visitor.jar["__Host-cordon"] == nil)
    #expect(visitor.jar.cookies.isEmpty, "the attempt is over")
    let response = try exchange(code(location))
    #expect(response.status == 200, "\(response.text)")
    let session = try response.json()
    #expect(session["sub"] as? String == (try site.apple.subject(of: "anna")))
    let token = try #require(session["session_token"] as? String)
    #expect(!location.contains(token))
    let cookie = try #require(response.setCookies.first?.split(separator: ";").first.map(String.init))
    for field in [("Cookie", cookie), ("Authorization", "Bearer \(token)")] {
      #expect(try site.gateway.client.get("/.auth/session", fields: [field]).status == 200)
    }
  }

  @Test("The browser's own session stays as it is")
  func browserSession() throws {
    let ben = try site.signedIn(as: "ben")
    _ = try handBack(ben, as: "anna")
    #expect(try ben.fetch(site.own("session")).text.contains(try site.apple.subject(of: "ben")))
  }

  @Test("A code works once, however many ask for it at a time")
  func once() async throws {
    let code = try code(try handBack())
    let (client, verifier) = (site.gateway.client, verifier)
    let requests = (0..<8).map { _ in
      Task.detached {
        try client.post("/.auth/native/exchange", json: ["code": code, "code_verifier": verifier]).status
      }
    }
    var statuses: [Int] = []
    for request in requests { statuses.append(try await request.value) }
    #expect(statuses.filter { $0 == 200 }.count == 1 && statuses.filter { $0 == 400 }.count == 7)
  }

  @Test("The exchange ends the session that the app had before, by its token or its cookie, and no other")
  func replaced() throws {
    let other = try #require(try exchange(code(try handBack(as: "anna"))).json()["session_token"] as? String)
    for isBearer in [true, false] {
      let token = try #require(try exchange(code(try handBack(as: "anna"))).json()["session_token"] as? String)
      let field = isBearer ? ("Authorization", "Bearer \(token)") : ("Cookie", "__Host-cordon=\(token)")
      let json = ["code": try code(try handBack(as: "ben")), "code_verifier": verifier]
      let response = try site.gateway.client.send(
        "POST", "/.auth/native/exchange", fields: [field, ("Content-Type", "application/json")],
        body: Array(JSONSerialization.data(withJSONObject: json)))
      #expect(response.status == 200)
      #expect(try site.gateway.client.get("/.auth/session", fields: [field]).status == 401)
    }
    #expect(
      try site.gateway.client.get("/.auth/session", fields: [("Authorization", "Bearer \(other)")]).status == 200)
  }

  @Test("A gateway that restarts on the same store knows that the code is used, and accepts one that is not")
  func restart() throws {
    let (used, unused) = (try code(try handBack()), try code(try handBack(as: "ben")))
    #expect(try exchange(used).status == 200)
    try site.gateway.killAndRestart()
    #expect(try exchange(used).json()["error"] as? String == "attempt_used")
    #expect(try exchange(unused).status == 200)
  }

  @Test("A wrong verifier gets nothing, and does not take the code from the app")
  func wrongVerifier() throws {
    let code = try code(try handBack())
    for wrong in [String(verifier.dropLast()) + "A", "", challenge, String(repeating: "a", count: 200)] {
      let response = try exchange(code, wrong)
      #expect(response.status == 400 && response.setCookies.isEmpty, "\(wrong)")
    }
    #expect(try exchange(code).status == 200)
  }

  @Test("A code that is not ours, or not whole, is refused", arguments: ["", "x", "changed", "cut", "attempt"])
  func forged(how: String) throws {
    try site.surviving {
      var code = try code(try handBack())
      switch how {
      case "changed": code = String(code.dropLast()) + (code.hasSuffix("A") ? "B" : "A")
      case "cut": code = String(code.dropLast(4))
      case "attempt":
        let visitor = Visitor()
        _ = try begin(visitor)
        code = try #require(visitor.jar.cookies.first { $0.name.contains("-attempt-") }?.value)
      default: code = how
      }
      let response = try exchange(code)
      #expect(response.status == 400 && response.setCookies.isEmpty)
    }
  }

  @Test("A failed sign-in returns to the app as error=, and its session never begins")
  func errors() throws {
    let cancelled = Visitor()
    _ = try begin(cancelled)
    try cancelled.decide(.cancel)
    #expect(
      try cancelled.carryBack(following: false).response.location
        == "com.example.app:/signed-in?error=sign_in_cancelled")
    try site.apple.fault("token", "status")
    #expect(try handBack() == "com.example.app:/signed-in?error=apple_unreachable")
    // No challenge, or another method: the app's mistake.
    for (challenge, method) in [("", "S256"), (challenge, "plain"), ("short", "S256"), (challenge + "A", "S256")] {
      let page = try begin(Visitor(), challenge: challenge, method: method, following: false)
      #expect(page.response.location == "com.example.app:/signed-in?error=bad_request", "\(challenge) \(method)")
    }
  }

  @Test(
    "Nothing is handed to a scheme that is not listed, nor to what is not an address",
    arguments: [
      "com.example.evil:/x", "com.example.app.evil:/x", "https://evil.example/", "javascript:alert(1)", "data:x",
      "com.example.app", " com.example.app:/x", "com.example.app:/#fragment", "com.example.app:/\r\nX: y",
      "com.example.app:/\"quoted\"", "com.example.app:/\u{E9}",
    ])
  func foreignSchemes(address: String) throws {
    try site.surviving {
      let visitor = Visitor()
      let page = try begin(visitor, to: address, following: false)
      if page.status == 302 {
        // An ordinary sign-in, that leads to the front page.
        try visitor.followRedirect()
        try visitor.decide(.proceed(user: "anna"))
        #expect(try visitor.carryBack(following: false).response.location == "/")
      } else {
        #expect(page.status == 400 && page.response.location == nil)
      }
    }
  }
}

@SystemActor
@Suite("Handing back, when a minute has passed", .serialized)
struct AppReturnClockTests {
  @Test("After a minute the code is worth nothing")
  func expired() throws {
    let site = try Site(fakeClock: true, adjust: { $0["native", "return_schemes"] = "[\"com.example.app\"]" })
    defer { site.stop() }
    let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    let visitor = Visitor()
    let items = [
      ("return_to", "com.example.app:/"), ("code_challenge", challenge), ("code_challenge_method", "S256"),
    ]
    try visitor.open(site.own("authorize?\(FormEncoding.encode(items))"))
    try visitor.decide(.proceed(user: "anna"))
    let location = try #require(try visitor.carryBack(following: false).response.location)
    let code = try #require(location.split(separator: "=").last.map(String.init))
    try site.setClock(secondsAhead: 61)
    let response = try site.gateway.client.post(
      "/.auth/native/exchange", json: ["code": code, "code_verifier": verifier])
    #expect(response.status == 400)
    #expect(try response.json()["error"] as? String == "attempt_expired")
  }
}
