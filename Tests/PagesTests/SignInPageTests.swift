import Pages
import Testing

@Suite("The pages of signing in and out")
struct SignInPageTests {
  @Test("Apple's button is a link to authorize that carries where to return to")
  func button() throws {
    let page = renderer(named: "Orchard").signIn(returnTo: "/a b?c=d&e=\"f\"#g")
    let html = String(decoding: page.body, as: UTF8.self)
    #expect(page.status == 200)
    #expect(html.contains("href=\"/.auth/authorize?return_to=/a%20b%3Fc%3Dd%26e%3D%22f%22%23g\""))
    #expect(html.contains("<span lang=\"en\" dir=\"auto\">Sign in with Apple</span>"))
    #expect(count("class=\"apple centred\"", in: html) == 1)
    #expect(!html.contains("<form"))
  }

  @Test("For a visit from another host Apple's button carries the visit instead")
  func visit() throws {
    let html = String(decoding: renderer(named: "Orchard").signIn(visit: "AW3v_-x").body, as: UTF8.self)
    #expect(html.contains("href=\"/.auth/authorize?visit=AW3v_-x\"") && !html.contains("return_to"))
  }

  @Test("The sign-in page has one script, of its nonce, that adds the fragment of the address to Apple's button")
  func fragment() throws {
    let page = renderer(named: "Orchard").signIn(returnTo: "/x")
    let html = String(decoding: page.body, as: UTF8.self)
    let nonce = try #require(page.contentSecurityPolicy.firstMatch(of: /script-src 'nonce-([0-9a-f]{32})'/)?.1)
    #expect(count("<script nonce=\"\(nonce)\">", in: html) == 1 && count("<script", in: html) == 1)
    #expect(html.contains("location.hash.replaceAll('\\\\', '%5C')"))
    #expect(html.contains("'&\(PageRenderer.fragment)=' + encodeURIComponent(fragment)"))
    // In a link that is too long for a request target nobody could sign in.
    #expect(html.contains("if (address.length < 7000)"))
  }

  @Test("Signing out is a form that posts, and staying is a link")
  func question() throws {
    let page = renderer(named: "Orchard").signOutQuestion(user: "Ann O'Neill", returnTo: "/x?a=b&c=d")
    let html = String(decoding: page.body, as: UTF8.self)
    #expect(html.contains("<form method=\"post\" action=\"/.auth/sign-out\">"))
    #expect(html.contains("name=\"return_to\" value=\"/x?a=b&amp;c=d\""))
    #expect(html.contains("<button class=\"solid\" type=\"submit\">Sign out</button>"))
    #expect(html.contains("href=\"/x?a=b&amp;c=d\">Stay signed in"))
    #expect(html.contains("<bdi>Ann O&#39;Neill</bdi>"))
    #expect(page.contentSecurityPolicy.contains("form-action 'self'"))
  }

  @Test("Without a user's name the question names nobody", arguments: [nil, ""])
  func nobody(user: String?) throws {
    let html = String(decoding: renderer(named: "Orchard").signOutQuestion(user: user).body, as: UTF8.self)
    #expect(!html.contains("You are signed in as"))
  }

  @Test("After signing out there is a way to sign in again")
  func signedOut() throws {
    let html = String(decoding: renderer(named: "Orchard").signedOut(returnTo: "/x").body, as: UTF8.self)
    #expect(html.contains("<h1>You are signed out</h1>"))
    #expect(html.contains("role=\"status\""))
    #expect(html.contains("href=\"/.auth/sign-in?return_to=/x\""))
  }

  @Test(
    "A link never leads to another origin",
    arguments: ["//evil", "/\\evil", "https://evil", "javascript:alert(1)", "", "evil", "\\\\evil"])
  func foreignTargets(target: String) throws {
    let renderer = renderer(named: "Orchard")
    let question = String(decoding: renderer.signOutQuestion(returnTo: target).body, as: UTF8.self)
    #expect(question.contains("href=\"/\">Stay signed in"))
    #expect(question.contains("name=\"return_to\" value=\"/\""))
    let failure = String(decoding: renderer.failure(.badGateway, returnTo: target).body, as: UTF8.self)
    #expect(failure.contains("href=\"/\">Try again"))
  }

  @Test("The second post carries every field in its order, by a script of its nonce and by a button")
  func repost() throws {
    let user = "{\"name\":{\"firstName\":\"<b>\",\"lastName\":\"O'\\\"x\"}}"
    let page = renderer(named: "Orchard").callbackRepost(
      fields: [("state", "s&t"), ("code", "c"), ("user", user), ("again", "1")])
    let html = String(decoding: page.body, as: UTF8.self)
    let names = html.matches(of: /<input type="hidden" name="([a-z]+)"/).map { String($0.1) }
    #expect(names == ["state", "code", "user", "again"])
    #expect(html.contains("value=\"s&amp;t\""))
    #expect(
      html.contains(
        "value=\"{&quot;name&quot;:{&quot;firstName&quot;:&quot;&lt;b&gt;&quot;,&quot;lastName&quot;:&quot;O&#39;\\&quot;x&quot;}}\""
      ))
    #expect(html.contains("<form class=\"ways\" method=\"post\" action=\"/.auth/callback\">"))
    #expect(html.contains("type=\"submit\">Continue</button>"))
    let nonce = try #require(page.contentSecurityPolicy.firstMatch(of: /script-src 'nonce-([0-9a-f]{32})'/)?.1)
    #expect(count("<script nonce=\"\(nonce)\">", in: html) == 1)
    #expect(count("<script", in: html) == 1)
    // Chromium holds the redirects that answer a form to form-action; the application may lead on to anywhere.
    #expect(!page.contentSecurityPolicy.contains("form-action"))
  }
}
