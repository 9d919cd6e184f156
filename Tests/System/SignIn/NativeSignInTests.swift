import Foundation
import Testing

// Native apps: tokens from the system's own sheet, for a session.
//
// - Each of the listed apps gets a session: JSON, cookie, bearer token; the code is exchanged for that app, without a
//   redirect URI; the nonce is compared raw or as SHA-256; the name is kept, also where the exchange fails.
// - Nobody gets in with a token of another app, of the web, of another nonce, of another sign-in; a code works once.
// - Never from a page of another site, never another type, never too long, never what is not this JSON.
// - The bearer token serves as the cookie does; it never reaches the application, another's Authorization does.

@SystemActor
@Suite(
  "Native apps", .serialized,
  .site {
    $0["apple", "native_client_ids"] = "[\"com.example.app\", \"com.example.tv\"]"
    $0["native", "bearer"] = "true"
    $0.ending = "[[route]]\npath = \"/public/\"\naccess = \"public\"\n"
  })
struct NativeSignInTests {
  private let site: Site

  init() throws {
    site = try Site.current
    try site.apple.behave()
    site.upstream.forget()
  }

  private func post(
    _ json: Any, to path: String = "native", fields: [(String, String)] = []
  ) throws -> HTTPResponse {
    try site.gateway.client.send(
      "POST", "/.auth/\(path)", fields: [("Content-Type", "application/json")] + fields,
      body: Array(JSONSerialization.data(withJSONObject: json)))
  }

  /// The request of an app after Apple's sheet.
  private func request(
    as user: String = "anna", app: String = "com.example.app", nonce: String = "raw-nonce", sent: String? = nil
  ) throws -> [String: Any] {
    let answer = try site.apple.authorizeNatively(user, app: app, nonce: sent ?? nonce)
    var request: [String: Any] = [
      "identity_token": answer.identityToken, "authorization_code": answer.code, "nonce": nonce,
    ]
    request["user"] = answer.user
    return request
  }

  private func token(as user: String = "anna") throws -> String {
    try #require(try post(request(as: user)).json()["session_token"] as? String)
  }

  private func bearer(_ token: String) -> [(String, String)] { [("Authorization", "Bearer \(token)")] }

  // MARK: Signing in

  @Test(
    "Each listed app gets a session, and its code is exchanged for it without a redirect URI",
    arguments: GatewayConfiguration.appIDs)
  func session(app: String) throws {
    try site.apple.forgetRequests()
    let response = try post(request(app: app))
    #expect(response.status == 200, "\(response.text)")
    #expect(response.fields["Cache-Control"]?.contains("no-store") == true)
    let session = try response.json()
    #expect(session["sub"] as? String == (try site.apple.subject(of: "anna")))
    #expect(session["client_id"] as? String == app)
    let exchange = try #require(try site.apple.tokenRequests("authorization_code").last)
    #expect(exchange.form["client_id"] == app && exchange.form["redirect_uri"] == nil)
    let cookie = try #require(response.setCookies.first?.split(separator: ";").first.map(String.init))
    #expect(cookie.hasPrefix("__Host-cordon="))
    let own = try site.gateway.client.get("/.auth/session", fields: [("Cookie", cookie)])
    #expect(own.status == 200)
    #expect(try own.json()["session_token"] == nil, "told once, at the sign-in")
  }

  @Test("The nonce is compared with what Apple was given: raw, or its SHA-256 in hexadecimal")
  func nonce() throws {
    let hash = try ServerProcess.run("/bin/sh", ["-c", "printf raw-nonce | sha256sum"]).standardOutput.prefix(64)
    #expect(try post(request()).status == 200)
    #expect(try post(request(sent: String(hash))).status == 200)
    for wrong in ["other", String(hash).uppercased()] {
      let response = try post(request(sent: wrong))
      #expect(response.status == 400 && response.setCookies.isEmpty)
      #expect(try response.json()["error"] as? String == "answer_invalid")
    }
    // Anybody can read the claim in the token: the hash is not a proof of itself, whoever hands it in.
    var stolen = try request(sent: String(hash))
    stolen["nonce"] = String(hash)
    let response = try post(stolen)
    #expect(response.status == 400 && response.setCookies.isEmpty)
  }

  @Test("A rejected token of an app is logged with the request ID of the response")
  func requestOfRejection() throws {
    let requestID = try #require(try post(request(sent: "other")).fields["X-Request-Id"])
    try site.gateway.waitForLogLine("identity token rejected", requestID)
  }

  @Test("The name that the app hands over is kept, also where the exchange fails, and user may be an object")
  func name() throws {
    try site.apple.add(user: ["id": "nils", "first_name": "Nils", "last_name": "Holm", "email": "nils@example.com"])
    try site.apple.fault("token", "status", ["status": 500, "times": 8])
    let failed = try post(request(as: "nils"))
    #expect(failed.status == 503)
    #expect(try failed.json()["error"] as? String == "apple_unreachable")
    try site.apple.behave()
    #expect(try post(request(as: "nils")).json()["name"] as? String == "Nils Holm")

    var own = try request(as: "ben")
    own["user"] = ["name": ["firstName": "Benedict", "lastName": "O."]]
    #expect(try post(own).json()["name"] as? String == "Benedict O.")
  }

  @Test(
    "Each error of the token endpoint is told as JSON, and begins no session; the next sign-in of the app succeeds",
    arguments: [
      ("invalid_request", 502, "apple_refused"), ("invalid_client", 502, "apple_refused"),
      ("invalid_grant", 400, "answer_invalid"), ("unauthorized_client", 502, "apple_refused"),
      ("unsupported_grant_type", 502, "apple_refused"), ("invalid_scope", 502, "apple_refused"),
    ])
  func everyError(error: String, status: Int, told: String) throws {
    try site.apple.fault("token", "refuse", ["error": error, "times": 1, "grant_type": "authorization_code"])
    let response = try post(request(as: "ben"))
    #expect(response.status == status && response.setCookies.isEmpty, "\(response.text)")
    #expect(response.fields["Content-Type"] == "application/json")
    let json = try response.json()
    #expect(json["error"] as? String == told && json["session_token"] == nil)
    #expect(try site.apple.tokenRequests("authorization_code").last?.form["client_id"] == "com.example.app")
    #expect(try post(request(as: "ben")).status == 200)
  }

  @Test(
    "Apple in trouble begins no session either, and is no fault of the app's",
    arguments: [("status", 429), ("status", 503), ("html", 200)])
  func trouble(kind: String, status: Int) throws {
    try site.apple.fault("token", kind, kind == "status" ? ["status": status, "times": 8] : ["times": 8])
    let response = try post(request(as: "ben"))
    #expect(response.status == 503 && response.setCookies.isEmpty, "\(response.text)")
    #expect(try response.json()["error"] as? String == "apple_unreachable")
    #expect(response.fields["Retry-After"] != nil)
    try site.apple.behave()
    #expect(try post(request(as: "ben")).status == 200)
  }

  // MARK: Nobody else

  @Test("A code works once")
  func replay() throws {
    let request = try request()
    #expect(try post(request).status == 200)
    let exchanges = try site.apple.tokenRequests("authorization_code").count
    let again = try post(request)
    #expect(again.status == 400)
    #expect(try again.json()["error"] as? String == "attempt_used")
    #expect(try site.apple.tokenRequests("authorization_code").count == exchanges)
  }

  @Test("A token of the web, of a stranger's app, of Apple's enemies, or of another sign-in lets nobody in")
  func foreignTokens() throws {
    try site.surviving {
      let pid = site.gateway.process.pid
      let orders: [[String: Any]] =
        [
          ["client_id": GatewayConfiguration.clientID, "user": "anna", "nonce": "raw-nonce"]
        ]
        + [["claims": ["aud": "com.evil"]], ["claims": ["exp": 1]], ["signature": "none"], ["signature": "corrupt"]].map
      {
        ["client_id": "com.example.app", "user": "anna", "nonce": "raw-nonce", "token": $0]
      }
      try site.apple.forgetRequests()
      for order in orders {
        var request = try request()
        request["identity_token"] = try site.apple.mint(order)
        let response = try post(request)
        #expect(response.status == 400 && response.setCookies.isEmpty, "\(order): \(response.text)")
      }
      #expect(try site.apple.tokenRequests("authorization_code").isEmpty, "no code was exchanged")
      // Ben's code with Anna's token: the two tokens name different users.
      var mixed = try request(as: "anna")
      mixed["authorization_code"] = try request(as: "ben")["authorization_code"]
      let response = try post(mixed)
      #expect(response.status == 400 && response.setCookies.isEmpty)
      #expect(site.gateway.process.pid == pid)
    }
  }

  @Test(
    "Never from a page of another site",
    arguments: [
      ("Origin", "https://evil.example"), ("Origin", "null"), ("Sec-Fetch-Site", "cross-site"),
      ("Sec-Fetch-Site", "same-site"),
    ])
  func crossSite(field: String, value: String) throws {
    let response = try post(request(), fields: [(field, value)])
    #expect(response.status == 403 && response.setCookies.isEmpty)
    #expect(try response.json()["error"] as? String == "cross_site")
    #expect(try post(request(), fields: [("Origin", site.origin), ("Sec-Fetch-Site", "same-origin")]).status == 200)
  }

  @Test("A body that is not the expected JSON is refused in JSON, and nothing is exchanged")
  func malformed() throws {
    try site.surviving {
      let good = String(decoding: try JSONSerialization.data(withJSONObject: request()), as: UTF8.self)
      let bodies: [(String, String, Int)] = [
        ("application/x-www-form-urlencoded", good, 415), ("text/plain", good, 415), ("application/jsonx", good, 415),
        ("application/json", "", 400), ("application/json", "[]", 400), ("application/json", "{", 400),
        ("application/json", "{}", 400), ("application/json", good.dropLast() + ",\"nonce\":\"x\"}", 400),
        ("application/json", String(repeating: "[", count: 20_000), 400),
        ("application/json", #"{"identity_token":1e300,"authorization_code":"c","nonce":"n"}"#, 400),
        ("application/json", #"{"identity_token":"a b","authorization_code":"c","nonce":"n"}"#, 400),
        ("application/json", #"{"identity_token":"a","authorization_code":"","nonce":"n"}"#, 400),
        ("application/json", #"{"identity_token":"a.b.c","authorization_code":"c","nonce":"n"}"#, 400),
        ("application/json", "{\"x\":\"" + String(repeating: "x", count: 40_000) + "\"}", 413),
      ]
      try site.apple.forgetRequests()
      for (type, body, status) in bodies {
        let response = try site.gateway.client.send(
          "POST", "/.auth/native", fields: [("Content-Type", type)], body: Array(body.utf8))
        #expect(response.status == status, "\(type) \(body.prefix(60))")
        #expect(response.fields["Content-Type"] == "application/json" && response.setCookies.isEmpty)
      }
      #expect(try site.apple.tokenRequests("authorization_code").isEmpty)
      #expect(try site.gateway.client.get("/.auth/native").status == 405)
    }
  }

  // MARK: The bearer token

  @Test("The bearer token stands for the session as the cookie does, and never reaches the application")
  func bearerToken() throws {
    let token = try token()
    for scheme in ["Bearer", "bearer"] {
      let path = "/orders/\(scheme)"
      let response = try site.gateway.client.get(path, fields: [("Authorization", "\(scheme) \(token)")])
      #expect(response.status == 200)
      let seen = try site.upstream.waitForRequest { $0.target == path }
      #expect(seen.fields["X-Forwarded-User"] == (try site.apple.subject(of: "anna")))
      #expect(!seen.fields.contains("Authorization") && !seen.headText.contains(token))
    }
    #expect(try site.gateway.client.get("/.auth/session", fields: bearer(token)).status == 200)
    #expect(try site.gateway.client.send("HEAD", "/.auth/session", fields: bearer(token)).status == 200)
    let verified = try site.gateway.client.get("/.auth/verify", fields: bearer(token))
    #expect(verified.status == 200 && verified.fields["X-Forwarded-User"] != nil)
    // On a public route too, and beside an Authorization of the application's.
    let both = [("Authorization", "Basic eDp5"), ("Authorization", "Bearer \(token)")]
    #expect(try site.gateway.client.get("/public/both", fields: both).status == 200)
    #expect(try !site.upstream.waitForRequest { $0.target == "/public/both" }.headText.contains(token))
  }

  @Test("Another's Authorization goes on untouched", arguments: ["Basic eDp5", "Bearer other-token", "Digest a=b"])
  func foreignAuthorization(value: String) throws {
    let anna = try site.signedIn()
    // As long as one of ours, too.
    for value in [value, "Bearer " + String(repeating: "A", count: 71)] {
      _ = try anna.fetch("\(site.origin)/foreign", fields: [("Authorization", value)])
      let seen = try site.upstream.waitForRequest { $0.target == "/foreign" }
      #expect(seen.fields[all: "Authorization"] == [value])
      #expect(seen.fields["X-Forwarded-User"] != nil, "the cookie counts")
      site.upstream.forget()
    }
  }

  @Test("A token counts before the cookie, and an expired one is 401, not the cookie's user")
  func tokenBeforeCookie() throws {
    let anna = try site.signedIn(as: "anna")
    let cookie = try #require(try anna.cookieHeader(for: site.origin + "/"))
    let token = try token(as: "ben")
    let fields = bearer(token) + [("Cookie", cookie)]
    _ = try site.gateway.client.get("/both", fields: fields)
    let seen = try site.upstream.waitForRequest { $0.target == "/both" }
    #expect(seen.fields["X-Forwarded-User"] == (try site.apple.subject(of: "ben")))

    // Signing out with the token needs no Origin, and ends its session alone.
    let signOut = try site.gateway.client.send("POST", "/.auth/sign-out", fields: fields, body: [])
    #expect(signOut.status == 204 && signOut.setCookies.isEmpty, "the cookie is of another session, which goes on")
    let dead = try site.gateway.client.get("/both", fields: fields + [("Accept", "text/html")])
    #expect(dead.status == 401)
    #expect(try anna.fetch(site.own("session")).status == 200)
    #expect(try site.gateway.client.get("/.auth/session", fields: bearer(token)).status == 401)
    // A cookie alone still needs our own origin.
    let other = try site.gateway.client.send("POST", "/.auth/sign-out", fields: [("Cookie", cookie)], body: [])
    #expect(other.status == 403)
    #expect(try anna.fetch(site.own("session")).status == 200)
  }

  @Test("A new sign-in of an app ends the session that it brought along")
  func replaced() throws {
    let old = try token()
    let response = try post(request(), fields: bearer(old))
    #expect(response.status == 200)
    #expect(try site.gateway.client.get("/.auth/session", fields: bearer(old)).status == 401)
  }
}

@SystemActor
@Suite("Native apps, where nothing is configured for them", .site)
struct NativeSignInOffTests {
  @Test("There is no native sign-in, and no bearer token counts; one of ours goes no further all the same")
  func off() throws {
    let site = try Site.current
    for path in ["native", "native/exchange"] {
      let response = try site.gateway.client.post("/.auth/\(path)", json: [String: String]())
      #expect(response.status == 404 && response.fields["Content-Type"] == "application/json")
    }
    let anna = try site.signedIn()
    let token = try #require(anna.jar["__Host-cordon"])
    let fields = [("Authorization", "Bearer \(token)")]
    #expect(try site.gateway.client.get("/.auth/session", fields: fields).status == 401)
    _ = try anna.fetch("\(site.origin)/with-token", fields: fields)
    let seen = try site.upstream.waitForRequest { $0.target == "/with-token" }
    #expect(!seen.headText.contains(token) && seen.fields["X-Forwarded-User"] != nil)
  }
}
