import AppleSimulator
import Foundation
import Testing

@Suite("GET /auth/authorize")
struct AuthorizeTests {
  @Test("The page says that it is not Apple, and has labelled controls with stable ids")
  func page() async throws {
    try await Relying.withSimulator { relying async throws in
      let page = try await relying.get("/auth/authorize", Relying.request)
      #expect(page.status == 200)
      #expect(page.text.contains("not Apple"))
      for id in [
        "user-anna", "user-ben", "user-new", "new-email", "new-first-name", "new-last-name", "first-name",
        "last-name", "share-email", "hide-email",
      ] {
        #expect(page.text.contains("id=\"\(id)\""), "\(id)")
        #expect(page.text.contains("for=\"\(id)\""), "\(id)")
      }
      #expect(page.text.contains("id=\"continue\""))
      #expect(page.text.contains("id=\"cancel\""))
    }
  }

  @Test("A wrong client gets an error page with Apple's code, and no redirect")
  func wrongClient() async throws {
    try await Relying.withSimulator { relying async throws in
      var query = Relying.request
      query["client_id"] = "com.example.other"
      let page = try await relying.get("/auth/authorize", query)
      #expect(page.status == 400)
      #expect(page.headers["location"] == nil)
      #expect(page.text.contains("<h1 id=\"error-code\">invalid_client</h1>"))
    }
  }

  @Test("form_post posts code, identity token and state to the client, with a button for those without scripts")
  func formPost() async throws {
    try await Relying.withSimulator { relying async throws in
      let answer = try await relying.decide(["user": "anna"])
      #expect(answer.text.contains("<form method=\"post\" action=\"\(Relying.redirectURI)\""))
      #expect(answer.text.contains("<noscript>"))
      // A policy of "no-referrer" would make the browser send "Origin: null", which Apple's page does not.
      #expect(answer.headers["referrer-policy"] == nil)
      let fields = Relying.hiddenFields(of: answer.text)
      #expect(Set(fields.keys) == ["state", "code", "id_token", "user"])
      #expect(fields["state"] == "a state")
    }
  }

  @Test("query answers with a 302 to the redirect URI, and fragment with one to its fragment")
  func redirects() async throws {
    try await Relying.withSimulator { relying async throws in
      var query = Relying.request
      query["scope"] = nil
      query["response_mode"] = "query"
      query["response_type"] = "code"
      let byQuery = try await relying.decide(["user": "anna"], query: query)
      #expect(byQuery.status == 302)
      #expect(byQuery.headers["location"]?.hasPrefix("\(Relying.redirectURI)?state=a%20state&code=") == true)
      query["response_mode"] = "fragment"
      query["response_type"] = "code id_token"
      let byFragment = try await relying.decide(["user": "anna"], query: query)
      #expect(byFragment.headers["location"]?.hasPrefix("\(Relying.redirectURI)#state=a%20state&code=") == true)
      #expect(byFragment.headers["location"]?.contains("&id_token=ey") == true)
    }
  }

  @Test("The user's name is sent the first time only, as the user edited it")
  func userOnlyOnce() async throws {
    try await Relying.withSimulator { relying async throws in
      let first = try await relying.signIn("ben", more: ["first_name": "Benny \"B\"", "last_name": ""])
      let user = try JSONDecoder().decode(
        [String: JSONValue].self, from: Data(try #require(first["user"]).utf8))
      #expect(user["name"] == .object(["firstName": "Benny \"B\"", "lastName": "Okafor"]))
      #expect(user["email"] == "ben@example.org")
      #expect(try await relying.signIn("ben")["user"] == nil)
      #expect(try await relying.signIn("anna")["user"] != nil)
    }
  }

  @Test("After a revocation the name is sent again")
  func userAgainAfterRevocation() async throws {
    try await Relying.withSimulator { relying async throws in
      _ = try await relying.signIn("ben")
      try await relying.order("POST", "users/ben/revoke")
      #expect(try await relying.signIn("ben")["user"] != nil)
    }
  }

  @Test("A hidden e-mail is a relay address, which stays")
  func hiddenEmail() async throws {
    try await Relying.withSimulator { relying async throws in
      let first = try await relying.signIn(more: ["email_choice": "hide"])
      let claims = try await relying.verifiedClaims(first["id_token"])
      let email = try #require(claims["email"]?.text)
      #expect(email.hasSuffix("@privaterelay.appleid.com"))
      #expect(claims["is_private_email"] == true)
      let second = try await relying.verifiedClaims(
        try await relying.signIn(more: ["email_choice": "share"])["id_token"])
      #expect(second["email"]?.text == email)
    }
  }

  @Test("Cancel answers user_cancelled_authorize with the state")
  func cancel() async throws {
    try await Relying.withSimulator { relying async throws in
      let answer = try await relying.decide(["user": "anna", "decision": "cancel"])
      let fields = Relying.hiddenFields(of: answer.text)
      #expect(fields == ["error": "user_cancelled_authorize", "state": "a state"])
    }
  }

  @Test("A page is answered once")
  func once() async throws {
    try await Relying.withSimulator { relying async throws in
      let page = try await relying.get("/auth/authorize", Relying.request)
      let ticket = try #require(Relying.hiddenFields(of: page.text)["request"])
      let form = ["request": ticket, "user": "anna", "decision": "continue"]
      #expect(try await relying.post("/auth/authorize", form).status == 200)
      #expect(try await relying.post("/auth/authorize", form).status == 400)
    }
  }

  @Test("Somebody new gets an account, and the same one the next time")
  func newUser() async throws {
    try await Relying.withSimulator { relying async throws in
      let typed = ["new_email": "zoe@example.com", "new_first_name": "Zoë", "new_last_name": "<b>"]
      let first = try await relying.signIn("new", more: typed)
      #expect(first["user"]?.contains("Zoë") == true)
      let second = try await relying.signIn("new", more: typed)
      let firstClaims = try await relying.verifiedClaims(first["id_token"])
      let secondClaims = try await relying.verifiedClaims(second["id_token"])
      #expect(firstClaims["sub"] == secondClaims["sub"])
      #expect(firstClaims["email"] == "zoe@example.com")
    }
  }

  @Test("An ordered decision answers without a page")
  func automatic() async throws {
    try await Relying.withSimulator { relying async throws in
      try await relying.order("PUT", "answer", #"{"user":"anna"}"#)
      let answer = try await relying.get("/auth/authorize", Relying.request)
      #expect(Relying.hiddenFields(of: answer.text)["code"] != nil)
      try await relying.order("PUT", "answer")
      let cancelled = try await relying.get("/auth/authorize", Relying.request)
      #expect(Relying.hiddenFields(of: cancelled.text)["error"] == "user_cancelled_authorize")
    }
  }

  @Test("A managed account without an address has no e-mail claims")
  func managedAccount() async throws {
    try await Relying.withSimulator { relying async throws in
      let fields = try await relying.signIn("dana", more: ["email_choice": "hide"])
      let claims = try await relying.verifiedClaims(fields["id_token"])
      #expect(claims["email"] == nil)
      #expect(claims["org_id"] != nil)
    }
  }
}
