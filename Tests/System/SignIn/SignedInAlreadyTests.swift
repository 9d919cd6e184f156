import Foundation
import Testing

// The sign-in page in a browser that is signed in: a tab that was restored, the back button, a sign-in in another tab.
//
// - With a session that suffices it leads straight to the page that was wanted.
// - It is shown for a new sign-in, for the gateway's own pages, and where the gate would refuse the session: a user who
//   is refused, a sign-in that is too old for any route. No redirect is endless.

@SystemActor
@Suite("The sign-in page in a browser that is signed in")
struct SignedInAlreadyTests {
  private func isSignInPage(_ page: Visitor.Page) -> Bool {
    page.address.path == "/.auth/sign-in" && page.status == 200
  }

  @Test("The sign-in page leads straight to the page that was wanted, unless that is a new sign-in or a page of ours")
  func straight() throws {
    let site = try Site()
    defer { site.stop() }
    let visitor = Visitor()
    let address = site.own("sign-in?return_to=/later%3Fa%3Db")
    #expect(try isSignInPage(visitor.open(address)))
    try visitor.signIn(site)
    let back = try visitor.open(address, following: false)
    #expect(back.status == 303 && back.response.location == "/later?a=b")
    #expect(back.response.fields["Cache-Control"]?.contains("no-store") == true)
    #expect(try visitor.followRedirect().status == 200)
    for query in ["return_to=/later&new=1", "return_to=/.auth/people", "return_to=/.auth/account"] {
      #expect(try isSignInPage(visitor.open(site.own("sign-in?\(query)"))), "\(query)")
    }
    let cookie = try #require(try visitor.cookieHeader(for: address))
    for fields in [[("Sec-Fetch-Dest", "iframe")], [("Sec-Purpose", "prefetch")], [("Sec-Fetch-Mode", "cors")]] {
      let response = try site.gateway.client.get(
        "/.auth/sign-in?return_to=/later", fields: [("Cookie", cookie)] + fields)
      #expect(response.status == 200, "\(fields)")
    }
    #expect(try site.gateway.client.send("HEAD", "/.auth/sign-in", fields: [("Cookie", cookie)]).status == 200)
    // The session has ended, and the page is back.
    try visitor.submit(try #require(try visitor.open(site.own("sign-out")).forms.first))
    #expect(try isSignInPage(visitor.open(address)))
  }

  @Test("A user who is refused gets the page, also where a public route knows nobody, and can use another account")
  func refused() throws {
    let site = try Site(adjust: {
      $0["access", "deny_emails"] = #"["anna.bergstrom@example.com"]"#
      $0.ending = "[[route]]\npath = \"/public/\"\naccess = \"public\"\n"
    })
    defer { site.stop() }
    let anna = try site.signedIn()
    for path in ["/", "/x", "/public/x"] {
      #expect(try isSignInPage(anna.open(site.own("sign-in?return_to=\(path)"))), "\(path)")
    }
    let refused = try anna.open(site.origin + "/x")
    #expect(refused.status == 403 && refused.address.path == "/x")
    let other = try #require(
      HTMLTag.all(in: refused.text).compactMap { $0["href"] }.first { $0.contains("/.auth/authorize") })
    try anna.follow(other)
    try anna.decide(.proceed(user: "ben"))
    let landed = try anna.carryBack()
    #expect(landed.status == 200 && landed.address.path == "/")
    #expect(try anna.open(site.own("sign-in?return_to=/public/x")).address.path == "/public/x")
  }

  @Test("A sign-in that is too old for any route can be repeated from every page, and is not led back")
  func tooOld() throws {
    let site = try Site(
      fakeClock: true,
      adjust: {
        $0.ending = "[[route]]\npath = \"/save\"\nmethods = [\"POST\"]\nmax_age = \"12h\"\n"
      })
    defer { site.stop() }
    let anna = try site.signedIn()
    #expect(try anna.open(site.own("sign-in?return_to=/edit")).address.path == "/edit")
    try site.setClock(secondsAhead: 12 * 3_600 + 60)
    #expect(try anna.open(site.origin + "/edit").status == 200)
    let page = try anna.open(site.own("sign-in?return_to=/edit"))
    #expect(isSignInPage(page))
    let button = try #require(
      HTMLTag.all(in: page.text).compactMap { $0["href"] }.first { $0.contains("/.auth/authorize") })
    try anna.follow(button)
    try anna.decide(.proceed(user: "anna"))
    #expect(try anna.carryBack().address.path == "/edit")
    #expect(try anna.open(site.own("sign-in?return_to=/edit")).address.path == "/edit")
  }
}
