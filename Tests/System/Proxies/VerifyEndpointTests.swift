import Foundation
import Testing

// `verify` through the real process, for a proxy that passes on what its client says.
//
// - What `verify.believe` does not name has no effect; what it names, twice or in contradiction, is refused.
// - Any method with any body; below verify/ path and method are those of the request.
// - Deep links keep their whole query, in the redirect and in X-Auth-Sign-In, and split no response.
// - The forwarded host decides by which routes and for whom is judged: the session of one host is none on another.

@SystemActor
@Suite("External authorization, through the process", .serialized)
struct VerifyEndpointTests {
  private static let routes = """
    [[route]]
    path = "/open/"
    access = "public"
    [[route]]
    path = "/closed/"
    access = "deny"
    [[route]]
    path = "/wiki/"
    methods = ["GET"]
    access = "public"
    [[route]]
    path = "/near/"
    networks = ["10.0.0.0/8"]

    """

  private static func site(_ believe: [String]? = nil, ending: String = "") throws -> Site {
    try Site(adjust: {
      $0["listen", "trusted_proxies"] = "[\"127.0.0.1/32\"]"
      if let believe { $0["verify", "believe"] = "[\(believe.map { "\"\($0)\"" }.joined(separator: ", "))]" }
      $0["log", "format"] = "\"json\""
      $0.ending = routes + ending
    })
  }

  @Test("Forged headers that the proxy does not overwrite change nothing for the better")
  func forged() throws {
    let site = try Self.site()
    defer { site.stop() }
    let anna = try site.signedIn()
    func verify(_ visitor: Visitor?, _ path: String, _ forged: [(String, String)] = []) throws -> HTTPResponse {
      let cookie = try visitor?.cookieHeader(for: site.origin + "/")
      return try site.gateway.client.get(
        "/.auth/verify", fields: [("X-Original-URI", path)] + forged + (cookie.map { [("Cookie", $0)] } ?? []))
    }
    for forged in [
      ("X-Forwarded-Uri", "/open/x"), ("X-Original-URL", "\(site.origin)/open/x"), ("X-Forwarded-Method", "GET"),
      ("X-Forwarded-Host", "evil.test"), ("X-Forwarded-For", "10.1.2.3"), ("X-Auth-Redirect", "1"),
      ("X-Original-URI", "/open/x"), ("X-Rewrite-URL", "/open/x"), ("X-HTTP-Method-Override", "GET"),
    ] {
      #expect(try verify(anna, "/closed/x", [forged]).status == 403, "\(forged)")
      #expect(try verify(anna, "/near/x", [forged]).status == 403, "\(forged)")
      #expect([401, 403].contains(try verify(nil, "/private", [forged]).status), "\(forged)")
      #expect([401, 403].contains(try verify(nil, "/wiki/x", [forged]).status), "\(forged)")
    }
    #expect(try verify(anna, "/private").status == 200)
    #expect(try verify(nil, "/wiki/x").status == 401)
    #expect(try verify(anna, "/private", [("X-Forwarded-User", "001.evil")]).fields["X-Forwarded-User"] != "001.evil")
  }

  @Test("Every method is answered, with a body too, and below verify/ it is the original one")
  func methods() throws {
    let site = try Self.site(["path"])
    defer { site.stop() }
    let host = "Host: localhost:\(site.gateway.configuration.port)\r\n"
    for (method, path, status) in [
      ("GET", "/wiki/x?y", 200), ("HEAD", "/wiki/x", 200), ("POST", "/wiki/x", 401), ("PROPFIND", "/open/x", 200),
      ("DELETE", "/closed/x", 403), ("PUT", "/wiki/../open/x", 403), ("GET", "", 401),
    ] {
      let body = method == "GET" || method == "HEAD" ? "" : "four"
      // Of its own, because a body that nobody reads ends a connection.
      let connection = try TCPConnection(port: site.gateway.configuration.port)
      try connection.send(
        Array(
          "\(method) /.auth/verify\(path) HTTP/1.1\r\n\(host)Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8))
      let head = String(decoding: try connection.read(through: "\r\n\r\n"), as: UTF8.self)
      #expect(head.hasPrefix("HTTP/1.1 \(status) "), "\(method) \(path): \(head)")
    }
  }

  @Test("Deep links keep their whole query, and no byte of them splits a response")
  func deepLinks() throws {
    let site = try Self.site()
    defer { site.stop() }
    for target in [
      "/reports?a=1&b=%26%2F&c=ü".replacing("ü", with: "%C3%BC"),
      "/a%20b/c?next=https://evil.test/&x=%0d%0aX-Evil:%201",
      "/a?return_to=/b", "/a%3Fb", "/a;b=c?d;e",
    ] {
      let fields = [("X-Original-URI", target), ("Accept", "text/html"), ("Sec-Fetch-Mode", "navigate")]
      let redirect = try site.gateway.client.get("/.auth/verify?redirect=1", fields: fields)
      #expect(redirect.status == 302 && !redirect.fields.contains("X-Evil"), "\(target)")
      let told = try site.gateway.client.get("/.auth/verify", fields: fields)
      #expect(told.status == 401 && told.fields["X-Auth-Sign-In"] == redirect.location, "\(target)")
      let address = try WebAddress(#require(redirect.location))
      #expect(address.path == "/.auth/sign-in" && address[parameter: "return_to"] == target, "\(address)")
      #expect(redirect.location?.hasPrefix(site.origin + "/.auth/sign-in?") == true)
    }
    // A client that is led there comes back to the whole address.
    let visitor = Visitor()
    let led = try site.gateway.client.get(
      "/.auth/verify?redirect=1", fields: [("X-Original-URI", "/x?a=1&b=2"), ("Accept", "text/html")])
    try visitor.open(#require(led.location))
    let page = try #require(visitor.page)
    let link = HTMLTag.all(in: page.text).first { $0.name == "a" && $0["href"]?.contains("authorize") == true }
    try visitor.follow(#require(link?["href"]))
    try visitor.decide(.proceed(user: "anna"))
    let back = try visitor.carryBack()
    #expect(back.address.description.hasSuffix("/x?a=1&b=2"), "\(back.address)")
  }

  @Test("A host that is not listed, and a contradiction, are denied with a warning that says what to do")
  func warnings() throws {
    for (field, key) in [
      (("X-Forwarded-Host", "evil.test"), "[[host]]"), (("X-Forwarded-Uri", "/open/y"), "verify.believe"),
    ] {
      let site = try Self.site(["X-Original-URI", "X-Forwarded-Uri", "X-Forwarded-Host"])
      defer { site.stop() }
      let answer = try site.gateway.client.get(
        "/.auth/verify", fields: [("X-Original-URI", "/open/x"), field, ("X-Forwarded-For", "192.0.2.9")])
      #expect(answer.status == 403)
      try site.gateway.waitForLog("denied verify request")
      let line = String(decoding: site.gateway.log, as: UTF8.self).split(separator: "\n")
        .first { $0.contains("denied verify request") }
      #expect(line?.contains(key) == true, "\(line ?? "")")
      // The proxy, which has to change, and its client.
      #expect(line?.contains("127.0.0.1") == true && line?.contains("192.0.2.9") == true, "\(line ?? "")")
    }
  }

  @Test("The forwarded host chooses routes and session: the cookie of one host is nobody's on another")
  func hosts() throws {
    let site = try Site(adjust: {
      $0["listen", "trusted_proxies"] = "[\"127.0.0.1/32\"]"
      $0["verify", "believe"] = "[\"X-Original-URI\", \"X-Forwarded-Host\"]"
      let port = $0.port
      $0.ending =
        Self.routes + """
          [[host]]
          name = "wiki.localhost:\(port)"
          [[route]]
          host = "wiki.localhost:\(port)"
          path = "/hall/"
          access = "public"

          """
    })
    defer { site.stop() }
    let wiki = "wiki.localhost:\(site.gateway.configuration.port)"
    let anna = try site.signedIn()
    let cookie = try #require(try anna.cookieHeader(for: site.origin + "/"))
    func verify(_ path: String, _ host: String?, asking: String? = nil, _ cookie: String? = nil) throws -> HTTPResponse
    {
      var client = site.gateway.client
      if let asking { client.authority = asking }
      let fields = [("X-Original-URI", path)] + (host.map { [("X-Forwarded-Host", $0)] } ?? [])
      return try client.get("/.auth/verify", fields: fields + (cookie.map { [("Cookie", $0)] } ?? []))
    }
    // Public on public_url, unknown on the wiki, and the other way round.
    for (path, here, there) in [("/open/x", 200, 401), ("/hall/x", 401, 200)] {
      #expect(try verify(path, nil).status == here, "\(path)")
      #expect(try verify(path, wiki).status == there, "\(path)")
      #expect(try verify(path, nil, asking: wiki).status == there, "\(path)")
      #expect(try verify(path, nil, asking: "127.0.0.1:1").status == here, "\(path)")
    }
    #expect(try verify("/x", nil, cookie).status == 200)
    #expect(try verify("/x", wiki, cookie).status == 401)
    #expect(try verify("/x", nil, asking: wiki, cookie).status == 401)
    #expect(
      try verify("/x", wiki.uppercased()).fields["X-Auth-Sign-In"]?.hasPrefix("http://\(wiki)/.auth/sign-in?") == true)
    #expect(try verify("/open/x", "wiki.localhost").status == 403)
    // Signed in on the wiki, its own cookie passes there, and only there.
    try anna.open("http://\(wiki)/x")
    let own = try #require(try anna.cookieHeader(for: "http://\(wiki)/"))
    #expect(own != cookie)
    #expect(try verify("/x", wiki, own).status == 200)
    #expect(try verify("/x", nil, own).status == 401)
  }
}
