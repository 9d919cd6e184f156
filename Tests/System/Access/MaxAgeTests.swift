import Foundation
import Testing

// `max_age`: a sign-in that is too old is repeated.
//
// - A navigation goes to Apple once more and lands where it wanted to; the new session replaces the old one.
// - A script and `verify` get 401. An open WebSocket goes on.

@SystemActor
@Suite("The maximum age of a sign-in", .serialized)
struct MaxAgeTests {
  @Test("An old sign-in is repeated by a navigation, and refused to a script")
  func age() throws {
    let site = try Site(fakeClock: true, upstream: EchoingApplication.answer) {
      $0["listen", "trusted_proxies"] = "[\"127.0.0.0/8\"]"
      $0["pages", "show_sign_in_page"] = "false"
      $0.ending = "[[route]]\npath = \"/fresh/\"\nmax_age = \"12h\"\n[[route]]\npath = \"/socket\"\nmax_age = \"12h\"\n"
    }
    defer { site.stop() }
    let anna = try site.signedIn()
    let fresh = site.origin + "/fresh/x?a=b"
    let socket = try site.gateway.webSocket(of: anna, site)
    #expect(try anna.fetch(fresh).status == 200)
    try site.setClock(secondsAhead: 12 * 3_600 + 60)
    let refused = try anna.fetch(fresh)
    #expect(refused.status == 401 && refused.text.contains("\"error\":\"reauthentication_required\""))
    #expect(try anna.fetch(site.own("verify"), fields: [("X-Original-URI", "/fresh/x")]).status == 401)
    #expect(try anna.fetch(site.origin + "/x").status == 200)
    try socket.send("still here")
    #expect(try socket.read(count: 10) == Array("still here".utf8))
    let before = try #require(try anna.cookieHeader(for: site.origin + "/"))
    try anna.open(fresh)
    try anna.decide(.proceed(user: "anna"))
    let landed = try anna.carryBack()
    #expect(landed.status == 200 && landed.address.description == fresh)
    #expect(try anna.fetch(fresh).status == 200)
    #expect(try site.gateway.client.get("/.auth/session", fields: [("Cookie", before)]).status == 401, "replaced")
  }
}
