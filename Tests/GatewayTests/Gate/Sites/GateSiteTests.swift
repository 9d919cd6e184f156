import AccessPolicy
import DataPlane
import HTTPTypes
import Logging
import Pages
import Sessions
import Testing

@testable import Gateway

// Several hosts at one gate: each request is judged by its own authority, and a cookie counts on its own host only.
@Suite("Several hosts at one gate")
struct GateSiteTests {
  private static let wiki = CookieScope.host("wiki.example.com")

  private func rig(
    routes: [RouteSettings] = [], log: RecordedLines = RecordedLines(),
    adjust: (inout GatewaySettings) -> Void = { _ in }
  ) async throws -> GateRig {
    var settings = try GatewaySettings.forTests(routes: routes)
    settings.publicAddress.hosts = ["alias.example.com"]
    settings.routing.sites = try ["wiki", "tickets"].map { name in
      var pages = PageSettings()
      pages.applicationName = "The \(name)"
      return SiteSettings(
        host: HostSettings(origin: try PublicOrigin(parsing: "https://\(name).example.com")), pages: pages)
    }
    adjust(&settings)
    let logger = Logger(label: "test") { _ in RecordingLogHandler(log, ["peer", "client", "proxy", "host"]) }
    return try await GateRig(settings, logger: logger)
  }

  @Test("A cookie counts on the host that it was signed for, in the loop's memory as well")
  func cookies() async throws {
    let rig = try await rig()
    let identifier = SessionIdentifier.random()
    let (_, cookie) = try rig.signIn("001.anna", identifier: identifier)
    let ofWiki = rig.cookie(of: identifier, on: Self.wiki)
    for _ in 0..<2 {
      for (host, own) in [
        ("app.example.com", cookie), ("alias.example.com", cookie), ("wiki.example.com", ofWiki),
        ("tickets.example.com", nil), ("WIKI.example.com:443", ofWiki),
      ] {
        for sent in [cookie, ofWiki] {
          let decided = try await rig.decide(Asked(host: host, fields: ["Cookie: \(sent)"]))
          #expect((decided.identity != nil) == (sent == own), "\(host)")
        }
      }
    }
    try await rig.stop()
  }

  @Test("A bearer token counts on the host that issued it")
  func bearer() async throws {
    let rig = try await rig { $0.native.acceptsBearer = true }
    let identifier = SessionIdentifier.random()
    _ = try rig.signIn("001.anna", identifier: identifier)
    for scope in [CookieScope.publicURL, Self.wiki] {
      let token = "Authorization: Bearer \(rig.keyring.signedCookie(for: identifier, on: scope))"
      for (host, own) in [("app.example.com", CookieScope.publicURL), ("wiki.example.com", Self.wiki)] {
        let decided = try await rig.decide(Asked(host: host, fields: [token]))
        #expect((decided.identity != nil) == (scope == own), "\(host)")
      }
    }
    try await rig.stop()
  }

  @Test("A session's token is forwarded to no application: neither on another host nor in a wrong form")
  func foreignBearer() async throws {
    var open = RouteSettings(path: "/open/", access: .public)
    open.host = .all
    let rig = try await rig(routes: [open]) { $0.native.acceptsBearer = true }
    let identifier = SessionIdentifier.random()
    let (_, cookie) = try rig.signIn("001.anna", identifier: identifier)
    func isDropped(_ value: String, host: String = "app.example.com", _ fields: [String] = []) async throws -> Bool {
      let request = Asked(target: "/open/x", host: host, fields: ["Authorization: \(value)"] + fields)
      return try await rig.forwarded(request).dropsAuthorization
    }
    let token = rig.keyring.signedCookie(for: identifier, on: .publicURL)
    let ofWiki = rig.keyring.signedCookie(for: identifier, on: Self.wiki)
    for host in ["app.example.com", "wiki.example.com", "tickets.example.com"] {
      #expect(try await isDropped("Bearer \(token)", host: host), "\(host)")
      #expect(try await isDropped("Bearer \(ofWiki)", host: host), "\(host)")
    }
    #expect(try await isDropped("Bearer \(ofWiki)", ["Cookie: \(cookie)"]), "beside a session")
    for value in ["Bearer  ", "Bearer\t", "Token ", "Bearer:", "Bearer \"", ""] {
      #expect(try await isDropped(value + token), "\(value)")
    }
    // Tokens of the application, one of them as long as ours.
    for value in ["Bearer abc", "Bearer " + String(repeating: "A", count: token.utf8.count), "Basic eDp5"] {
      #expect(try await !isDropped(value), "\(value)")
    }
    try await rig.stop()
  }

  @Test("The cookies of a session's hosts are remembered side by side, and die with the session together")
  func together() async throws {
    let rig = try await rig()
    let identifier = SessionIdentifier.random()
    let (snapshot, cookie) = try rig.signIn("001.anna", identifier: identifier)
    let requests = [
      Asked(fields: ["Cookie: \(cookie)"]),
      Asked(host: "wiki.example.com", fields: ["Cookie: \(rig.cookie(of: identifier, on: Self.wiki))"]),
    ]
    for request in requests { #expect(try await rig.decide(request).identity != nil) }
    for request in requests { #expect(try await rig.decideOnce(request).identity != nil, "no other look-up") }
    try await rig.sessions.end(.one(snapshot.session.handle), because: .signedOut)
    for request in requests { #expect(try await rig.decide(request).identity == nil) }
    try await rig.stop()
  }

  @Test("An open exchange of one host ends with the session that ended on another, and with its host")
  func openExchanges() async throws {
    let rig = try await rig()
    let identifier = SessionIdentifier.random()
    let (snapshot, _) = try rig.signIn("001.anna", identifier: identifier)
    let request = Asked(
      host: "wiki.example.com", fields: ["Cookie: \(rig.cookie(of: identifier, on: Self.wiki))"])
    let exchange = try await rig.open(request)
    #expect(try await rig.review(exchange))
    var without = rig.settings
    without.routing.sites = []
    try await rig.apply(without)
    #expect(try await !rig.review(exchange))
    try await rig.apply(rig.settings)
    let another = try await rig.open(request)
    try await rig.sessions.end(.one(snapshot.session.handle), because: .signedOut)
    #expect(try await !rig.review(another))
    try await rig.stop()
  }

  @Test("A cookie that an older secret signed is issued again for the same host")
  func renewal() async throws {
    let rig = try await rig()
    let identifier = SessionIdentifier.random()
    _ = try rig.signIn("001.anna", identifier: identifier)
    let cookie = rig.cookie(of: identifier, on: Self.wiki)
    try await rig.apply(rig.settings, secrets: "ba")
    let response = try await rig.response(
      Asked(target: "/.auth/session", host: "wiki.example.com", fields: ["Cookie: \(cookie)"]))
    let set = try #require(response.head.headerFields[.setCookie])
    let value = try #require(set.split(separator: ";").first?.split(separator: "=").last)
    let verified = try SessionKeyring.forTests("b").verifyCookie(Array(value.utf8), on: Self.wiki)
    #expect(verified?.identifier == identifier)
    #expect(try SessionKeyring.forTests("b").verifyCookie(Array(value.utf8), on: .publicURL) == nil)
    try await rig.stop()
  }

  @Test("Without a session a navigation begins at the host's own sign-in, also where the page is skipped")
  func strangers() async throws {
    for showsPage in [true, false] {
      let rig = try await rig { $0.pages.showSignInPage = showsPage }
      let decided = try await rig.decide(Asked(target: "/a?b=c", host: "wiki.example.com"))
      guard case .answer(302, "/.auth/sign-in?return_to=/a%3Fb%3Dc") = decided else {
        Issue.record("\(decided)")
        return
      }
      try await rig.stop()
    }
  }

  @Test("Without the sign-in page, a link of another site with a long address leads to that page, which keeps it")
  func longAddresses() async throws {
    let rig = try await rig { $0.pages.showSignInPage = false }
    let longest = ReturnTarget.maximumCrossSiteLength
    for (site, isPage) in [
      ("cross-site", true), ("same-site", true), ("same-origin", false), ("none", false), (nil, false),
    ] as [(String?, Bool)] {
      for (length, isLong) in [(longest, false), (longest + 1, true), (1_500, true)] {
        let target = "/" + String(repeating: "a", count: length - 1)
        let fields = ["Accept: text/html", "Sec-Fetch-Mode: navigate"] + (site.map { ["Sec-Fetch-Site: \($0)"] } ?? [])
        let name = isPage && isLong ? "sign-in" : "authorize"
        guard case .answer(302, let location?) = try await rig.decide(Asked(target: target, fields: fields)) else {
          Issue.record("\(site ?? "-") \(length)")
          continue
        }
        #expect(location == "/.auth/\(name)?return_to=\(target)", "\(site ?? "-")")
      }
    }
    // From a page of the alias the browser comes to public_url from another site.
    let long = Asked(
      target: "/" + String(repeating: "a", count: longest), host: "alias.example.com",
      fields: ["Accept: text/html", "Sec-Fetch-Site: same-origin"])
    guard case .answer(302, let location?) = try await rig.decide(long) else {
      Issue.record("at the alias")
      return
    }
    #expect(location.hasPrefix("https://app.example.com/.auth/sign-in?"))
    try await rig.stop()
  }

  @Test("A host has sign-in, arrive, session, sign-out and button; accounts are at public_url, the rest is nowhere")
  func endpoints() async throws {
    let rig = try await rig()
    func decide(_ name: String, method: String = "GET") async throws -> Decided {
      try await rig.decide(Asked(target: "/.auth/\(name)", method: method, host: "wiki.example.com"))
    }
    for name in ["sign-in", "arrive?code=x", "sign-out", "button", "session?peek=1"] {
      guard case .handle = try await decide(name) else {
        Issue.record("\(name)")
        continue
      }
    }
    #expect(try await decide("session").status == 401)
    for name in ["account?a=b", "people", "invite/abc"] {
      for method in ["GET", "POST"] {
        guard case .answer(let status, let location?) = try await decide(name, method: method) else {
          Issue.record("\(name)")
          continue
        }
        let path = method == "GET" ? name : String(name.prefix { $0 != "?" })
        #expect(status == (method == "GET" ? 302 : 303) && location == "https://app.example.com/.auth/\(path)")
      }
    }
    for name in ["authorize", "callback", "native", "native/exchange", "notifications", "keys", "nothing"] {
      #expect(try await decide(name).status == 404, "\(name)")
    }
    #expect(try await rig.decide(Asked(target: "/.auth/arrive")).status == 404, "public_url hands over, only")
    try await rig.stop()
  }

  @Test("An alias does not redirect to public_url if a trusted proxy says that the browser is there already")
  func rewrittenHost() async throws {
    let log = RecordedLines()
    let rig = try await rig(log: log)
    func decide(_ target: String, _ fields: [String], isTrusted: Bool = true) async throws -> Decided {
      try await rig.decide(
        Asked(
          target: target, host: "alias.example.com", fields: fields + ["Accept: text/html"], isFromProxy: isTrusted))
    }
    let paths = ["/x", "/.auth/sign-in", "/.auth/authorize?return_to=/x", "/.auth/sign-out", "/.auth/account"]
    for path in paths {
      for field in [
        "X-Forwarded-Host: app.example.com", "x-forwarded-host: APP.example.com:443",
        "X-Forwarded-Host: edge.example.com, app.example.com", "X-Original-Host: app.example.com",
      ] {
        #expect(try await decide(path, [field]).status == 421, "\(path) \(field)")
        // A client without a trusted proxy may be at the alias, whatever it says.
        #expect(try await decide(path, [field], isTrusted: false).status == 302, "\(path) \(field)")
      }
      for field in ["X-Forwarded-Host: alias.example.com", "X-Forwarded-Host: wiki.example.com", "X-Other: 1"] {
        #expect(try await decide(path, [field]).status == 302, "\(path) \(field)")
      }
    }
    let message = "a trusted proxy rewrites Host, answering 421 instead of an endless redirect"
    #expect(log.take().filter { $0.hasPrefix(message) } == ["\(message) 192.0.2.1 - - alias.example.com"])
    try await rig.stop()
    // A proxy that names its client is named with it: it is the one to repair.
    let other = try await self.rig(log: log)
    let fields = ["X-Forwarded-Host: app.example.com", "X-Forwarded-For: 192.0.2.1", "Accept: text/html"]
    let request = Asked(target: "/x", host: "alias.example.com", fields: fields, isFromProxy: true)
    #expect(try await other.decide(request).status == 421)
    let warnings = log.take().filter { $0.hasPrefix(message) }
    #expect(warnings == ["\(message) - 192.0.2.1 \(GateRig.proxy) alias.example.com"])
    try await other.stop()
  }

  @Test("X-Forwarded-Host changes neither the host that a request is judged for, nor the answers of verify")
  func forwardedHost() async throws {
    let rig = try await rig(routes: [
      RouteSettings(path: "/open/", access: .public), RouteSettings(path: "/open/own/", access: .signedIn),
    ])
    let (_, cookie) = try rig.signIn("001.anna")
    let forwarded = "X-Forwarded-Host: app.example.com"
    func decide(_ target: String, _ host: String, _ fields: [String]) async throws -> Decided {
      try await rig.decide(Asked(target: target, host: host, fields: fields + ["Accept: text/html"], isFromProxy: true))
    }
    #expect(try await decide("/x", "alias.example.com", [forwarded, "Cookie: \(cookie)"]).identity != nil)
    #expect(try await decide("/open/x", "alias.example.com", [forwarded]).identity != nil)
    #expect(try await decide("/x", "backend.example.com", [forwarded]).status == 421)
    #expect(try await decide("/x", "wiki.example.com", [forwarded, "Cookie: \(cookie)"]).status == 302)
    let asked = try await decide(
      "/.auth/verify?redirect=1", "alias.example.com", [forwarded, "X-Original-URI: /x"])
    guard case .answer(302, "https://app.example.com/.auth/sign-in?return_to=/x") = asked else {
      Issue.record("\(asked)")
      return
    }
    // A path of which another reading is not public.
    let ambiguous = try await decide(
      "/.auth/verify?redirect=1", "alias.example.com", [forwarded, "X-Original-URI: /open//own/"])
    #expect(ambiguous.status == 302)
    try await rig.stop()
  }

  @Test("A navigation to a host with a dot at its end is redirected to the host without it, and to no other")
  func trailingDot() async throws {
    let rig = try await rig()
    for (host, origin) in [
      ("app.example.com.", "https://app.example.com"), ("APP.example.com.:443", "https://app.example.com"),
      ("wiki.example.com.", "https://wiki.example.com"), ("alias.example.com.", nil), ("evil.example.com.", nil),
      ("app.example.com..", nil), ("app.example.com.:8443", nil), ("app.example.com.evil.example", nil),
    ] as [(String, String?)] {
      for target in ["/x?y=1", "/.auth/sign-in?return_to=/x", "//evil.example/x"] {
        guard case .answer(let status, let location) = try await rig.decide(Asked(target: target, host: host)) else {
          Issue.record("\(host)")
          continue
        }
        #expect(status == (origin == nil ? 421 : 308) && location == origin.map { $0 + target }, "\(host) \(target)")
      }
      #expect(try await rig.decide(Asked(method: "POST", host: host)).status == 421, "\(host)")
      #expect(try await rig.decide(Asked(host: host, fields: ["Accept: */*"])).status == 421, "\(host)")
      let proxied = Asked(
        host: host, fields: ["Accept: text/html", "X-Forwarded-Host: app.example.com"], isFromProxy: true)
      #expect(try await rig.decide(proxied).status == 421, "the proxy may have added the dot")
    }
    let kept = try await rig.answer(Asked(host: "app.example.com."))
    #expect(kept.headerFields[.cacheControl] == "no-store")
    try await rig.stop()
  }

  @Test("A WebSocket is for pages of its own host: a sibling's Origin is refused")
  func webSockets() async throws {
    let rig = try await rig(routes: [RouteSettings(path: "/", access: .public)])
    let upgrade = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: x"]
    for (host, own) in [
      ("wiki.example.com", ["https://wiki.example.com"]),
      ("app.example.com", ["https://app.example.com", "https://alias.example.com"]),
    ] {
      for origin in ["app", "alias", "wiki", "tickets"].map({ "https://\($0).example.com" }) {
        let decided = try await rig.decide(Asked(host: host, fields: upgrade + ["Origin: \(origin)"]))
        if case .forward(_, _, true) = decided {
          #expect(own.contains(origin), "\(host) \(origin)")
        } else {
          #expect(!own.contains(origin) || decided.status == 401, "\(host) \(origin) \(decided)")
        }
      }
    }
    try await rig.stop()
  }

  @Test("The pages of a host have its name, also where its application failed")
  func pages() async throws {
    let rig = try await rig(routes: [RouteSettings(path: "/no/", access: .deny)])
    for (host, name) in [("wiki.example.com", "The wiki"), ("tickets.example.com", "The tickets")] {
      let asked = Asked(target: "/.auth/nothing", host: host, fields: ["Accept: text/html"])
      let page = String(decoding: try await rig.response(asked).body, as: UTF8.self)
      #expect(page.contains(name) && page.contains("<bdi>\(host)</bdi>"))
    }
    try await rig.stop()
  }
}
