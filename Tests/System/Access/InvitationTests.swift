import Foundation
import PostgreSQLServerTesting
import Testing

// Invitations.
//
// - A guest without a session is led to sign in and back, presses again, and is in, after one sign-in at Apple.
// - The token of a sign-in for an invitation is kept only if that is open.
// - Twenty guests with an invitation for five through two gateways: exactly five.
// - Members, denied users, GET, HEAD, prefetches and frames use nothing up.
// - An unknown code, a used up, an expired and a revoked one are answered alike. The code is in no log.
// - A member of the group is told of the access instead, when an invitation was used up or has expired.

@SystemActor
@Suite("Invitations")
struct InvitationTests {
  private func form(_ page: Visitor.Page) throws -> HTMLForm {
    try #require(page.forms.first { $0.action.contains("/invite/") }, "\(page.status) \(page.text)")
  }

  private func uses(_ manager: Visitor, _ site: Site) throws -> [String] {
    try manager.open(site.own("people")).text.matches(of: /(\d+) \/ (\d+)</).map { "\($0.1)/\($0.2)" }
  }

  @Test("A guest without a session is led to sign in, comes back, presses again and is in")
  func guest() throws {
    let site = try AccessSite.make()
    defer { site.stop() }
    let anna = try site.signedIn()
    let link = try site.invite(anna)
    let ben = Visitor()
    let page = try ben.open(link)
    #expect(page.status == 200)
    #expect(page.response.fields["Referrer-Policy"] == "strict-origin")
    #expect(page.response.fields["Cache-Control"] == "no-store")
    let signIn = try ben.submit(try form(page))
    #expect(signIn.address.path == "/.auth/sign-in")
    let button = try #require(HTMLTag.all(in: signIn.text).first { $0["href"]?.contains("authorize") == true }?["href"])
    try ben.follow(button)
    try ben.decide(.proceed(user: "ben"))
    let back = try ben.carryBack()
    #expect(back.address.description == link && back.status == 200)
    let joined = try ben.submit(try form(back))
    #expect(joined.status == 200 && !joined.text.contains("<form"))
    // Anna's sign-in and Ben's: the application is reached without another one.
    #expect(try site.apple.tokenRequests("authorization_code").count == 2)
    #expect(try ben.open("\(site.origin)/", following: false).status == 200)
    try site.gateway.waitForLog("\"event\":\"invitation_redeemed\"")
    let event = try #require(site.audit("invitation_redeemed").first)
    #expect(event["group"] as? String == "guests" && event["invitation"] is String)
    let code = try #require(link.split(separator: "/").last.map(String.init))
    #expect(!String(decoding: site.gateway.log, as: UTF8.self).contains(code), "the code is in a log")
    // It was for one.
    #expect(try Visitor().open(link).status == 404)
  }

  @Test("A guest who is signed in with the wrong account uses another one, and joins with that")
  func otherAccount() throws {
    let site = try AccessSite.make()
    defer { site.stop() }
    let link = try site.invite(try site.signedIn())
    let guest = try site.signedIn(as: "ben")
    let page = try guest.open(link)
    let other = try #require(HTMLTag.all(in: page.text).first { $0["href"]?.contains("authorize") == true }?["href"])
    try AccessSite.addUser("gail", to: site)
    try guest.follow(other)
    try guest.decide(.proceed(user: "gail"))
    let back = try guest.carryBack()
    #expect(back.address.description == link && back.text.contains("Gail Lind"))
    #expect(try guest.submit(try form(back)).text.contains("You now have access."))
    #expect(try guest.fetch(site.origin + "/").status == 200)
    #expect(try site.signedIn(as: "ben").fetch(site.origin + "/").status == 403)
  }

  @Test("An invitation to a group that only another host admits leads on to that host")
  func otherHost() throws {
    let site = try AccessSite.make { configuration in
      configuration["access", "allow_groups"] = #"["staff", "managers"]"#
      try? configuration.addHosts(["wiki"])
      let host = "wiki.localhost:\(configuration.port)"
      configuration.ending += """
        [[route]]
        host = "\(host)"
        path = "/"
        allow_groups = ["guests"]

        """
    }
    defer { site.stop() }
    let link = try site.invite(try site.signedIn())
    let ben = Visitor()
    try ben.signIn(site, as: "ben", returnTo: try WebAddress(link).path)
    for page in [try ben.submit(try form(try ben.open(link))), try ben.open(link)] {
      let way = try #require(HTMLTag.all(in: page.text).first { $0["class"] == "solid" }?["href"], "\(page.text)")
      #expect(page.status == 200 && way == site.origin(of: "wiki") + "/")
    }
    let wiki = try ben.follow(site.origin(of: "wiki") + "/")
    #expect(wiki.status == 200 && wiki.address.description == site.origin(of: "wiki") + "/")
    #expect(try ben.fetch(site.origin + "/").status == 403)
  }

  @Test("The token of a sign-in for an invitation is kept only if the invitation is open")
  func token() throws {
    let site = try AccessSite.make { $0["admin", "token_file"] = "\"admin.token\"" }
    defer { site.stop() }
    let anna = try site.signedIn()
    let (open, used) = (try site.invite(anna, uses: 5), try site.invite(anna))
    try AccessSite.addUser("cleo", to: site)
    let cleo = try site.signedIn(as: "cleo")
    #expect(try cleo.submit(try form(try cleo.open(used))).status == 200)
    let cases = [
      ("gail", open, 200), ("hugo", used, 401), ("ines", site.own("invite/AAAAAAAAAAAAAAAAAAAAAA"), 401),
    ]
    for (user, link, status) in cases {
      try AccessSite.addUser(user, to: site)
      let guest = Visitor()
      try guest.signIn(site, as: user, returnTo: try WebAddress(link).path)
      #expect(try guest.fetch(site.origin + "/").status == 403, "\(user)")
      try site.gateway.order("PUT", site.member(user, of: "guests"))
      // Without a token the user has to sign in again once admitted.
      #expect(try guest.fetch(site.origin + "/").status == status, "\(user)")
    }
  }

  @Test("Members and denied users use nothing up, and neither do GET, HEAD, prefetches and frames")
  func nothingUsedUp() throws {
    let site = try AccessSite.make()
    defer { site.stop() }
    try AccessSite.addUser("sten", domain: "staff.example", to: site)
    let anna = try site.signedIn()
    let link = try site.invite(anna, group: "staff", uses: 5)
    let path = try WebAddress(link).target
    let sten = try site.signedIn(as: "sten")
    let member = try sten.submit(try form(try sten.open(link)))
    #expect(member.status == 200)
    let eve = try site.signedIn(as: "eve")
    let denied = try eve.submit(try form(try eve.open(link)))
    #expect(denied.status == 403)
    let ben = try site.signedIn(as: "ben")
    let cookie = try #require(try ben.cookieHeader(for: link))
    for (method, fields) in [
      ("GET", []), ("HEAD", []), ("GET", [("Sec-Purpose", "prefetch;prerender")]), ("GET", [("Purpose", "prefetch")]),
      ("GET", [("Sec-Fetch-Dest", "iframe")]), ("GET", [("Sec-Fetch-Dest", "image")]),
    ] as [(String, [(String, String)])] {
      let response = try site.gateway.client.send(method, path, fields: fields + [("Cookie", cookie)])
      #expect(response.status == 200, "\(method) \(fields)")
      #expect(response.fields["X-Frame-Options"] == "DENY")
    }
    let foreign = try site.gateway.client.post(
      path, form: [], fields: [("Cookie", cookie), ("Origin", "http://evil.example")])
    #expect(foreign.status == 403)
    #expect(try uses(anna, site) == ["0/5"])
    #expect(try ben.submit(try form(try ben.open(link))).status == 200)
    #expect(try ben.submit(try form(try ben.open(link))).status == 200)
    #expect(try uses(anna, site) == ["1/5"])
  }

  @Test("An unknown code, a malformed, a used up, an expired and a revoked one are answered alike")
  func alike() throws {
    let site = try AccessSite.make(fakeClock: true)
    defer { site.stop() }
    let anna = try site.signedIn()
    let usedUp = try site.invite(anna)
    let ben = try site.signedIn(as: "ben")
    try ben.submit(try form(try ben.open(usedUp)))
    let revoked = try site.invite(anna)
    let people = try anna.open(site.own("people"))
    // The newest stands first.
    let after = try anna.submit(try people.form("revoke"))
    #expect(after.forms("revoke").count == people.forms("revoke").count - 1)
    let expired = try site.invite(anna)
    try site.setClock(secondsAhead: 8 * 86_400)
    let links = [
      usedUp, revoked, expired, site.own("invite/AAAAAAAAAAAAAAAAAAAAAA"), site.own("invite/x"), site.own("invite"),
    ]
    var answers: Set<String> = []
    for link in links {
      for response in try [
        site.gateway.client.get(WebAddress(link).target, fields: [("Accept", "text/html")]),
        site.gateway.client.post(
          WebAddress(link).target, form: [], fields: [("Accept", "text/html"), ("Origin", site.origin)]),
      ] {
        #expect(response.fields["Referrer-Policy"] == "strict-origin")
        let text = response.text.replacing(/nonce="[0-9a-f]+"/, with: "").replacing(
          /<footer>(?s:.)*<\/footer>/, with: "")
        answers.insert("\(response.status) \(text)")
      }
    }
    #expect(answers.count == 1 && answers.first?.hasPrefix("404 ") == true, "\(answers.count) different answers")
  }

  @Test("A used or expired invitation tells members of its group that they have access, and nobody else anything")
  func usedByMember() throws {
    let site = try AccessSite.make(fakeClock: true)
    defer { site.stop() }
    try AccessSite.addUser("cleo", to: site)
    let anna = try site.signedIn()
    let (used, expiring) = (try site.invite(anna), try site.invite(anna))
    let ben = try site.signedIn(as: "ben")
    #expect(try ben.submit(try form(try ben.open(used))).text.contains("You now have access."))
    let again = try ben.open(used)
    #expect(again.status == 200 && again.text.contains("You already have access.") && again.forms.isEmpty)
    #expect(again.response.fields["Referrer-Policy"] == "strict-origin")
    let posted = try ben.fetch(
      used, method: "POST", fields: [("Origin", site.origin), ("Accept", "text/html")], form: "")
    #expect(posted.status == 200 && posted.text.contains("You already have access."))
    for user in ["cleo", "eve"] {
      let other = try site.signedIn(as: user)
      #expect(try other.open(used).status == 404, "\(user)")
      let pressed = try other.fetch(used, method: "POST", fields: [("Origin", site.origin)], form: "")
      #expect(pressed.status == 404, "\(user)")
    }
    try site.setClock(secondsAhead: 8 * 86_400)
    #expect(try site.signedIn(as: "ben").open(expiring).text.contains("You already have access."))
    #expect(try site.signedIn(as: "cleo").open(expiring).status == 404)
    #expect(try Visitor().open(expiring).status == 404)
  }

  @Test("Of twenty guests with an invitation for five, at two gateways at the same moment, exactly five come in")
  func race() async throws {
    let cluster = try Cluster(2, adjust: AccessSite.adjust)
    defer { cluster.stop() }
    let site = cluster.site
    let anna = try site.signedIn()
    let link = try site.invite(anna, uses: 5)
    let path = try WebAddress(link).target
    var cookies: [String] = []
    for index in 0..<20 {
      try AccessSite.addUser("guest\(index)", to: site)
      let guest = try site.signedIn(as: "guest\(index)")
      cookies.append(try #require(try guest.cookieHeader(for: link)))
    }
    let clients = (0..<2).map { cluster.client(of: $0) }
    let origin = site.origin
    // Everybody presses three times.
    let requests = (0..<60).map { number in
      let (client, cookie) = (clients[number % 2], cookies[number % 20])
      return Task.detached {
        try client.post(
          path, form: [], fields: [("Cookie", cookie), ("Origin", origin), ("Sec-Fetch-Site", "same-origin")]
        ).status
      }
    }
    for request in requests { _ = try await request.value }
    var admitted = 0
    for cookie in cookies {
      let statuses = try clients.map { try $0.get("/", fields: [("Cookie", cookie), ("Accept", "text/html")]).status }
      #expect(Set(statuses).count == 1, "the gateways agree: \(statuses)")
      if statuses[0] != 403 { admitted += 1 }
    }
    #expect(admitted == 5)
    #expect(try uses(anna, site) == ["5/5"])
  }
}
