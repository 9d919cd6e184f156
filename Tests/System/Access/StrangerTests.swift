import Foundation
import Testing

// Strangers: users whom no route but public ones admits.
//
// - Their refresh token is discarded, not revoked, and they are never revalidated.
// - Once admitted, a script gets 401 and the next navigation goes to Apple once more, after which all is as for others.
// - An account with a token that nobody admits any longer is not revalidated, and is before its first admitted request:
//   who has left at Apple meanwhile does not come back.

@SystemActor
@Suite("Strangers", .serialized)
struct StrangerTests {
  private static func site() throws -> Site {
    try Site(
      fakeClock: true,
      adjust: {
        $0["admin", "token_file"] = "\"admin.token\""
        $0["pages", "show_sign_in_page"] = "false"
        $0["access", "allow_groups"] = "[\"staff\"]"
        $0.ending = "[[group]]\nname = \"staff\"\n[[route]]\npath = \"/open/\"\naccess = \"public\"\n"
      })
  }

  @Test("A stranger's token is discarded; once admitted, one more sign-in brings one")
  func discarded() throws {
    let site = try Self.site()
    defer { site.stop() }
    let ben = try site.signedIn(as: "ben")
    #expect(try ben.fetch(site.origin + "/x").status == 403)
    try site.setClock(secondsAhead: 36 * 3_600)
    #expect(try ben.fetch(site.origin + "/x").status == 403)
    #expect(try ben.fetch(site.origin + "/open/x").status == 200)
    #expect(try site.apple.tokenRequests("refresh_token").isEmpty)
    #expect(try site.apple.requests(at: "/auth/revoke").isEmpty)
    try site.gateway.order("PUT", site.member("ben", of: "staff"))
    let refused = try ben.fetch(site.origin + "/x")
    #expect(refused.status == 401 && refused.text.contains("reauthentication_required"))
    try ben.open(site.origin + "/x")
    try ben.decide(.proceed(user: "ben"))
    #expect(try ben.carryBack().status == 200)
    #expect(try ben.fetch(site.origin + "/x").status == 200)
    try site.setClock(secondsAhead: 72 * 3_600)
    #expect(try ben.fetch(site.origin + "/x").status == 200)
    try poll("a revalidation") { try site.apple.tokenRequests("refresh_token").isEmpty ? nil : () }
  }

  @Test("An account that nobody admits is revalidated before its first admitted request")
  func admittedAgain() throws {
    let site = try Self.site()
    defer { site.stop() }
    try site.gateway.order("PUT", site.member("ben", of: "staff"))
    let ben = try site.signedIn(as: "ben")
    #expect(try ben.fetch(site.origin + "/x").status == 200)
    try site.gateway.order("DELETE", site.member("ben", of: "staff"))
    try site.setClock(secondsAhead: 26 * 3_600)
    #expect(try ben.fetch(site.origin + "/x").status == 403)
    #expect(try site.apple.tokenRequests("refresh_token").isEmpty)
    try site.apple.revoke("ben")
    try site.gateway.order("PUT", site.member("ben", of: "staff"))
    #expect(try ben.fetch(site.origin + "/x").status == 401)
    #expect(try site.apple.tokenRequests("refresh_token").count == 1)
  }
}
