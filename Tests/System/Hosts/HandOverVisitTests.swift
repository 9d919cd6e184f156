import Foundation
import Testing

// Visits of browsers from another host to public_url, until they come back with a code.
//
// - Only a navigation begins a visit; its cookie lives as long as its sign-in may take, five at most.
// - A visit that later ones have displaced leads to its page; a sibling host displaces no sign-in.

@SystemActor
@Suite("Visits to public_url for another host", .serialized)
struct HandOverVisitTests {
  @Test("A visit's cookie is Lax, for as long as its sign-in may take, five at most, and only a navigation begins one")
  func visits() throws {
    let site = try Site.withHosts()
    defer { site.stop() }
    let browser = Visitor()
    for number in 1...7 {
      let page = try browser.open(site.own("sign-in?return_to=/\(number)", on: "wiki"), following: false)
      #expect(page.status == 302 && page.response.fields["Referrer-Policy"] == "no-referrer")
      #expect(page.response.fields["Cache-Control"] == "no-store")
      let set = try #require(page.response.setCookies.first)
      #expect(set.hasPrefix("__Host-cordon-visit-"))
      for attribute in ["Path=/", "Secure", "HttpOnly", "SameSite=Lax", "Max-Age=1260"] {
        #expect(set.components(separatedBy: "; ").contains(attribute))
      }
    }
    #expect(browser.jar.cookies.filter { $0.name.contains("-visit-") }.count == 5)
    let client = site.client(of: "wiki")
    for fields in [
      [("Sec-Fetch-Mode", "cors")], [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")],
      [("Sec-Purpose", "prefetch")],
    ] {
      let response = try client.get("/.auth/sign-in", fields: fields)
      #expect(response.status == 401 && response.setCookies.isEmpty)
    }
    let head = try client.send("HEAD", "/.auth/sign-in")
    #expect(head.status == 401 && head.setCookies.isEmpty)
  }

  @Test("A service worker that passes navigations on, whose Sec-Fetch-Dest is empty then, hinders no sign-in")
  func serviceWorker() throws {
    let site = try Site.withHosts()
    defer { site.stop() }
    let passed = [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "empty"), ("Sec-Fetch-Site", "same-origin")]
    let page = passed + [("Accept", "text/html,*/*;q=0.8")]
    let wiki = site.client(of: "wiki")
    // As Firefox sends it.
    let other = [
      ("Sec-Fetch-Mode", "same-origin"), ("Sec-Fetch-Dest", "empty"), ("Sec-Fetch-Site", "same-origin"),
      ("Accept", "text/html,*/*;q=0.8"), ("Upgrade-Insecure-Requests", "1"),
    ]
    #expect(try wiki.get("/x", fields: other).location?.hasPrefix("/.auth/sign-in?") == true)
    for (client, endpoint) in [(site.gateway.client, "authorize"), (wiki, "sign-in")] {
      for fields in [page, other] {
        #expect(try client.get("/.auth/\(endpoint)?return_to=/x", fields: fields).status == 302)
      }
      let download = try client.get("/.auth/\(endpoint)?return_to=/x", fields: passed + [("Accept", "*/*")])
      #expect(download.status == 401 && download.setCookies.isEmpty)
    }
    let anna = try site.signedIn()
    let code = try site.code(for: anna, on: "wiki", returnTo: "/x")
    let target = try #require(code.range(of: "/.auth/arrive")).lowerBound
    let cookie = ("Cookie", try #require(try anna.cookieHeader(for: code)))
    let arrived = try wiki.get(String(code[target...]), fields: page + [cookie])
    #expect(arrived.status == 303 && arrived.location == "/x")
  }

  @Test("A visit that five later ones have displaced leads to its page once the browser has that session on the host")
  func displacedVisits() throws {
    let site = try Site.withHosts()
    defer { site.stop() }
    let anna = try site.signedIn(as: "anna")
    let codes = try (1...7).map { try site.code(for: anna, on: "wiki", returnTo: "/\($0)") }
    let early = try anna.open(codes[0], following: false)
    #expect(early.status == 400 && anna.cookie("__Host-cordon", of: "wiki.localhost") == nil, "not there yet")
    #expect(try anna.open(codes[6], following: false).response.location == "/7")
    let session = try anna.session(on: "wiki")
    let late = try anna.open(codes[1], following: false)
    #expect(late.status == 303 && late.response.location == "/2" && late.response.fields["Referrer-Policy"] != nil)
    #expect(try anna.session(on: "wiki") == session)
    #expect(try anna.open(codes[1], following: false).status == 400, "used up")

    // The session of another user on the host is not the one that arrives.
    let ben = try site.signedIn(as: "ben")
    try ben.open(site.origin(of: "wiki") + "/")
    let own = try ben.session(on: "wiki")
    let refused = try ben.open(try site.code(for: anna, on: "wiki"), following: false)
    #expect(refused.status == 400 && refused.response.setCookies.isEmpty)
    #expect(try site.client(of: "wiki").get("/.auth/session", fields: [("Cookie", own)]).status == 200)

    // A session that has ended meanwhile is not revived.
    let last = try site.code(for: anna, on: "wiki", returnTo: "/last")
    for _ in 1...5 { _ = try site.code(for: anna, on: "wiki") }
    let subject = try site.apple.subject(of: "anna")
    try site.gateway.order("DELETE", "/accounts/\(subject)/sessions")
    #expect(try anna.open(last, following: false).status == 401)
  }

  @Test("A sibling host displaces no sign-in by visits that it sends to public_url; our own redirects count as ours")
  func siblingVisits() throws {
    for showsPage in [true, false] {
      let site = try Site.withHosts(showsPage: showsPage)
      defer { site.stop() }
      let begun = try site.client(of: "wiki").get(
        "/.auth/sign-in?return_to=%2Fevil", fields: [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")])
      let visit = try #require(begun.location?.split(separator: "?visit=").last)
      let anna = try site.beforeCallback(returnTo: "/mine")
      let fields = [("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]
      for _ in 0..<3 {
        let cookie = try #require(try anna.cookieHeader(for: site.origin + "/"))
        let response = try site.gateway.client.get(
          "/.auth/authorize?visit=\(visit)", fields: fields + [("Cookie", cookie)])
        #expect(response.status == 302)
        anna.jar.take(response, host: try WebAddress(site.origin).host)
      }
      #expect(anna.jar.cookies.count { $0.name.contains("-attempt-") } == (showsPage ? 3 : 4))
      #expect(try anna.carryBack().address.path == "/mine")
    }
  }
}
