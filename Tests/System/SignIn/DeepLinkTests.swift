import Foundation
import Testing

// The page that a person wanted, through a whole sign-in; and what is shown where there is no way back.
//
// - A deep link comes back byte for byte, also where servers read it in more than one way, and its fragment with it.
// - A long one on a page of another site does so, too, at the cost of the sign-in page where that is skipped otherwise.
// - Signing in and out on an alias of listen.hosts happens at public_url, and leads to the same path.
// - A form that is submitted without a session shows a page, in the person's language; a script gets JSON.

@SystemActor
@Suite("Deep links, aliases and forms without a session")
struct DeepLinkTests {
  // MARK: Deep links

  @Test(
    "A deep link survives signing in byte for byte",
    arguments: [
      "/projects/group%2Fname/issues", "/wiki//Main_Page?x=1", "/faq/why%3F?a=b&c=%26", "/c%23/intro", "/a%252Fb",
      "/gr%FCn;v=1/x", "/plain/page",
    ])
  func deepLinks(target: String) throws {
    let site = try Site()
    defer { site.stop() }
    let visitor = Visitor()
    try visitor.open(site.origin + target)
    let link = try #require(
      HTMLTag.all(in: visitor.page?.text ?? "").compactMap { $0["href"] }.first { $0.contains("/.auth/authorize") })
    try visitor.follow(link)
    try visitor.decide(.proceed(user: "anna"))
    let back = try visitor.carryBack(following: false)
    #expect(back.response.location == target)
    try visitor.followRedirect()
    _ = try site.upstream.waitForRequest { $0.target == target }
  }

  @Test(
    "A place that is not surely ours becomes the front page after signing in",
    arguments: ["//evil.example/x", "/%2Fevil.example", "/%252Fevil.example", "/;//evil.example", "/x/%EF%BC%8Fy"])
  func foreignPlaces(target: String) throws {
    let site = try Site()
    defer { site.stop() }
    let visitor = Visitor()
    try visitor.start(site, returnTo: target)
    try visitor.decide(.proceed(user: "anna"))
    #expect(try visitor.carryBack(following: false).response.location == "/")
  }

  @Test("The fragment that the sign-in page's script adds survives signing in, and an unfit one changes nothing")
  func fragments() throws {
    let site = try Site()
    defer { site.stop() }
    for (target, fragment, landing) in [
      ("/deep?a=b", "#/orders/17?x=%C3%A9", "/deep?a=b#/orders/17?x=%C3%A9"), ("/", "#top", "/#top"),
      ("/a#own", "#other", "/a#own"), ("/a", "no-fragment", "/a"), ("/a", "#\r\nSet-Cookie: a=1", "/a"),
      ("/a", "#\\evil", "/a"), ("/a", "#" + String(repeating: "b", count: 2_048), "/a"),
    ] {
      let visitor = Visitor()
      let query = FormEncoding.encode([("return_to", target), ("fragment", fragment)])
      try visitor.open(site.own("authorize?\(query)"))
      try visitor.decide(.proceed(user: "anna"))
      #expect(try visitor.carryBack(following: false).response.location == landing)
    }
  }

  @Test("Without the sign-in page, a long link on a page of another site leads through that page, and comes back whole")
  func linksOfOtherSites() throws {
    let site = try Site(adjust: { $0["pages", "show_sign_in_page"] = "false" })
    defer { site.stop() }
    for (length, isShown) in [(500, false), (700, true), (1_500, true)] {
      let target = "/x?" + String(repeating: "a", count: length)
      let visitor = Visitor()
      try visitor.open("\(site.apple.baseURL)/simulator")
      let page = try visitor.follow(site.origin + target)
      #expect((page.address.path == "/.auth/sign-in") == isShown, "\(length): \(page.address)")
      if isShown {
        let link = HTMLTag.all(in: page.text).compactMap { $0["href"] }.first { $0.contains("/.auth/authorize") }
        try visitor.follow(try #require(link))
      }
      try visitor.decide(.proceed(user: "anna"))
      #expect(try visitor.carryBack(following: false).response.location == target, "\(length)")
    }
    // An address that was typed in goes straight to Apple.
    let typing = Visitor()
    let target = "/x?" + String(repeating: "a", count: 1_500)
    #expect(try typing.open(site.origin + target).address.path != "/.auth/sign-in")
    try typing.decide(.proceed(user: "anna"))
    #expect(try typing.carryBack(following: false).response.location == target)
  }

  // MARK: Aliases

  @Test("On an alias of listen.hosts people sign in and out at public_url, and land on the path that they wanted")
  func aliases() throws {
    let site = try Site(adjust: { $0["listen", "hosts"] = "[\"127.0.0.1:\($0.port)\"]" })
    defer { site.stop() }
    let alias = HTTPClient(port: site.gateway.configuration.port)
    let page = [("Accept", "text/html"), ("Sec-Fetch-Mode", "navigate")]

    let first = try alias.get("/deep/link?a=b&c", fields: page)
    #expect(first.status == 302)
    #expect(first.location == site.own("sign-in?return_to=/deep/link%3Fa%3Db%26c"))
    for target in ["sign-in?return_to=/x", "authorize?return_to=%2Fx%3Fy", "sign-in", "sign-out?return_to=/x"] {
      let response = try alias.get("/.auth/\(target)", fields: page)
      #expect(response.status == 302)
      #expect(response.location == site.own(target), "\(target)")
      #expect(response.setCookies.isEmpty)
    }
    let signOut = try alias.post(
      "/.auth/sign-out", form: [("return_to", "/x")], fields: [("Origin", "http://\(alias.authority)")])
    #expect(signOut.status == 303)
    #expect(signOut.location == site.own("sign-out"))
    #expect(try alias.get("/.auth/session").status == 401)

    let visitor = Visitor()
    try visitor.open("http://\(alias.authority)/deep/link?a=b")
    #expect(visitor.page?.address.origin == site.origin)
    let link = try #require(
      HTMLTag.all(in: visitor.page?.text ?? "").compactMap { $0["href"] }.first { $0.contains("/.auth/authorize") })
    try visitor.follow(link)
    try visitor.decide(.proceed(user: "anna"))
    let landed = try visitor.carryBack()
    #expect(landed.address.description == site.origin + "/deep/link?a=b")
    #expect(landed.status == 200)
  }

  // MARK: Forms

  @Test("A form that is submitted without a session shows a page that leads back to it; a script gets JSON")
  func forms() throws {
    let site = try Site(adjust: {
      $0.ending = "[[route]]\npath = \"/api/\"\nunauthenticated = \"401\"\n"
    })
    defer { site.stop() }
    func post(_ path: String, _ fields: [(String, String)]) throws -> HTTPResponse {
      try site.gateway.client.post(path, form: [("text", "a secret of mine")], fields: fields)
    }
    let html = ("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
    let navigation = [html, ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]

    let page = try post("/save", navigation + [("Referer", site.origin + "/edit/group%2Fname?id=7")])
    #expect(page.status == 401)
    #expect(page.fields["Content-Type"]?.hasPrefix("text/html") == true)
    #expect(page.fields["Cache-Control"] == "no-store")
    #expect(page.text.contains("Your form was not sent"))
    #expect(page.text.contains("href=\"/.auth/sign-in?return_to=/edit/group%252Fname%3Fid%3D7\""), "\(page.text)")
    #expect(!page.text.contains("a secret of mine"))

    // Not the address of the form itself, nor another site's, nor one of ours that leads in a circle.
    for referrer in [
      "http://evil.example/edit", site.origin + ".evil.example/", site.origin + "//evil", site.own("sign-out"),
    ] {
      let page = try post("/save", navigation + [("Referer", referrer)])
      #expect(page.text.contains("href=\"/.auth/sign-in?return_to=/\""), "\(referrer)")
    }
    #expect(try post("/save", navigation).text.contains("href=\"/.auth/sign-in?return_to=/\""))
    // Without fetch metadata the Accept decides.
    #expect(try post("/save", [html]).fields["Content-Type"]?.hasPrefix("text/html") == true)
    // A WebView of Android names its app.
    let webView = try post("/save", navigation + [("X-Requested-With", "com.example.app")])
    #expect(webView.text.contains("Your form was not sent"))
    #expect(try post("/save", navigation + [("Accept-Language", "de")]).text.contains("nicht gesendet"))

    for fields in [
      [("Accept", "*/*")], [], [("Accept", "application/json")], [html, ("Sec-Fetch-Mode", "cors")],
      [html, ("X-Requested-With", "XMLHttpRequest")], [("Accept", "application/json, text/html;q=0.5")],
    ] as [[(String, String)]] {
      let response = try post("/save", fields)
      #expect(response.status == 401)
      #expect(try response.json()["error"] as? String == "sign_in_required", "\(fields)")
    }
    #expect(try post("/api/save", navigation).json()["error"] as? String == "sign_in_required")
    #expect(!site.upstream.requests.contains { $0.method == "POST" })
  }
}
