import AccessPolicy
import DataPlane
import HTTPTypes
import Logging
import Pages
import Sessions
import Testing
import WebFormats

@testable import Gateway

// The sources of the request that another proxy asks about.
//
// - X-Original-URI, X-Forwarded-Uri, X-Original-URL, the path below verify/; each only if it is believed.
// - Contradictions, repetitions and hosts that are not listed: 403.
// - A field by which an application takes another path or method: 403.
@Suite("The sources of external authorization")
struct VerifySourceTests {
  @Test(
    "Each source is believed if it is named, and not otherwise",
    arguments: [
      (VerifySettings.Source.originalURI, "X-Original-URI: /open/x?y", "/.auth/verify"),
      (.forwardedURI, "X-Forwarded-Uri: /open/x", "/.auth/verify"),
      (.originalURL, "X-Original-URL: https://app.example.com/open/x", "/.auth/verify"),
      (.originalURL, "x-original-url: HTTP://old.example.com:443/open/x", "/.auth/verify"),
      (.path, "X-Unknown: 1", "/.auth/verify/open/x?y"),
    ])
  func sources(source: VerifySettings.Source, field: String, target: String) async throws {
    let rig = try await GateRig(try GatewaySettings.forVerify([source]))
    #expect(try await rig.decide(asked([field], target)).status == 200)
    let closed = { (text: String) in text.replacing("/open/", with: "/closed/") }
    #expect(try await rig.decide(asked([closed(field)], closed(target))).status == 403)
    // Of a stranger it says nothing: without a session 401, whatever the path.
    #expect(try await rig.decide(asked([field], target, isTrusted: false)).status == 401)
    #expect(try await rig.decide(asked([closed(field)], closed(target), isTrusted: false)).status == 401)
    try await rig.apply(try GatewaySettings.forVerify(VerifySettings.Source.allCases.filter { $0 != source }))
    #expect(try await rig.decide(asked([field], target)).status == (source == .path ? 404 : 401))
    try await rig.stop()
  }

  @Test("A session gets 403 if the path is not known and a route is restricted, and nobody is told who it is")
  func unknown() async throws {
    let rig = try await GateRig(try GatewaySettings.forVerify())
    let (_, cookie) = try rig.signIn("001.anna")
    for request in [
      asked(["Cookie: \(cookie)"]),
      asked(["Cookie: \(cookie)", "X-Original-URI: /open/x"], isTrusted: false),
    ] {
      let answer = try await rig.answer(request)
      #expect(answer.status == .forbidden && answer.headerFields[HTTPField.Name("X-User")!] == nil)
    }
    try await rig.stop()
  }

  @Test(
    "Two sources that differ, one that is repeated and a doubtful method are refused before the session is looked for",
    arguments: [
      ["X-Original-URI: /open/x", "X-Forwarded-Uri: /open/y"],
      ["X-Original-URI: /open/x", "X-Forwarded-Uri: /open/x?y"],
      ["X-Original-URI: /open/x", "X-Original-URI: /open/x"],
      ["X-Original-URI: /open/x", "X-Original-URL: https://app.example.com/closed/x"],
      ["X-Forwarded-Host: app.example.com", "X-Original-URL: https://old.example.com/open/x"],
      ["X-Original-URI: /open/x", "X-Forwarded-Method: GET", "X-Forwarded-Method: GET"],
      ["X-Original-URI: /open/x", "X-Forwarded-Host: app.example.com", "x-forwarded-host: app.example.com"],
      ["X-Original-URI: /open/x", "X-Auth-Redirect: 1", "X-Auth-Redirect: 1"],
      ["X-Original-URI: /open/x", "X-Forwarded-For: 192.0.2.1", "x-forwarded-for: 10.1.2.3"],
      ["X-Original-URI: /open/x", "X-Forwarded-Method:"],
      ["X-Original-URI: /open/x", "X-Forwarded-Method: delete"],
      ["X-Original-URI: /open/x", "X-Forwarded-Method: CONNECT"],
      ["X-Original-URI: /open/x", "X-Forwarded-Method: TRACE"],
    ])
  func contradictions(fields: [String]) async throws {
    let rig = try await GateRig(try GatewaySettings.forVerify(VerifySettings.Source.allCases))
    #expect(try await rig.decide(asked(fields)).status == 403)
    #expect(try await rig.decide(asked(["X-Original-URI: /open/x"], "/.auth/verify/open/y")).status == 403)
    #expect(
      try await rig.decide(
        asked(["X-Forwarded-Method: POST"], "/.auth/verify/open/x", method: "GET")
      ).status == 403)
    try await rig.stop()
  }

  @Test("A warning for one reason leaves out none for another, on all event loops and after a reload")
  func warnings() async throws {
    let settings = try GatewaySettings.forVerify(VerifySettings.Source.allCases)
    let lines = RecordedLines()
    let rig = try await GateRig(
      settings, logger: Logger(label: "test") { _ in RecordingLogHandler(lines, ["peer", "client", "proxy"]) })
    let tunnel = asked(["X-Original-URI: /open/x", "X-Forwarded-Method: CONNECT", "X-Forwarded-For: 192.0.2.1"])
    for loop in 0..<2 {
      #expect(try await rig.decide(tunnel, loop: loop).status == 403)
      #expect(try await rig.decide(asked([]), loop: loop).status == 401)
    }
    try await rig.apply(settings)
    #expect(try await rig.decide(tunnel).status == 403)
    // An address of X-Forwarded-For is the client's, and not that of the proxy, which has to change.
    #expect(
      lines.take().filter { $0.hasPrefix("denied verify request") } == [
        "denied verify request for CONNECT or TRACE - 192.0.2.1 \(GateRig.proxy)",
        "denied verify request without the original path: some routes are restricted 192.0.2.1 - -",
      ])
    try await rig.stop()
  }

  @Test("Sources of verify that agree count as one")
  func agreement() async throws {
    let rig = try await GateRig(try GatewaySettings.forVerify(VerifySettings.Source.allCases))
    let fields = [
      "X-Original-URI: /open/x?y", "X-Forwarded-Uri: /open/x?y", "X-Forwarded-Host: APP.example.com:443",
      "X-Original-URL: https://app.example.com/open/x?y", "X-Forwarded-Method: GET",
    ]
    #expect(try await rig.decide(asked(fields, "/.auth/verify/open/x?y")).status == 200)
    try await rig.stop()
  }

  @Test(
    "A host that is not listed is refused",
    arguments: [
      "X-Forwarded-Host: evil.test", "X-Forwarded-Host: app.example.com, evil.test", "X-Forwarded-Host:",
      "X-Forwarded-Host: app.example.com.", "X-Original-URL: https://evil.test/open/x", "X-Original-URL: /open/x",
      "X-Original-URL: https:///open/x", "X-Original-URL: ftp://app.example.com/open/x",
      "X-Original-URL: https://app.example.com@evil.test/open/x", "X-Original-URL: https:", "X-Original-URL:",
    ])
  func foreignHosts(field: String) async throws {
    let rig = try await GateRig(try GatewaySettings.forVerify(VerifySettings.Source.allCases))
    #expect(try await rig.decide(asked(["X-Original-URI: /open/x", field])).status == 403)
    try await rig.stop()
  }

  @Test(
    "A path that servers may read in another way gets nothing laxer",
    arguments: [
      "/open/../closed/x", "/open/%2e%2e/closed/x", "//closed/x", "/open/..;/closed/x", "x", "", "?/open/x",
      "/open\\..",
    ])
  func paths(path: String) async throws {
    let rig = try await GateRig(try GatewaySettings.forVerify([.originalURI, .path]))
    #expect([401, 403].contains(try await rig.decide(asked(["X-Original-URI: \(path)"])).status), "\(path)")
    if path.utf8.first == UInt8(ascii: "/"), !path.contains("\\") {
      #expect([401, 403].contains(try await rig.decide(asked([], "/.auth/verify\(path)")).status), "\(path)")
    }
    try await rig.stop()
  }

  @Test("The forwarded host chooses the routes and the scope of the cookie, and where people sign in")
  func hosts() async throws {
    var open = RouteSettings(path: "/hall/", access: .public)
    open.host = .named("wiki.example.com")
    var recent = RouteSettings(path: "/recent/")
    recent.host = open.host
    recent.maxAge = 60
    let wikiOrigin = try PublicOrigin(parsing: "https://wiki.example.com")
    let rig = try await GateRig(
      try GatewaySettings.forVerify([.originalURI, .originalURL, .host]) {
        $0.routing.routes += [open, recent]
        $0.routing.sites = [
          SiteSettings(
            host: HostSettings(origin: wikiOrigin), pages: PageSettings())
        ]
      })
    let identifier = SessionIdentifier.random()
    let (_, cookie) = try rig.signIn("001.anna", identifier: identifier)
    let own = rig.cookie(of: identifier, on: .host("wiki.example.com"))
    func status(_ path: String, _ fields: [String], host: String = "app.example.com") async throws -> Int? {
      try await rig.decide(asked(["X-Original-URI: \(path)"] + fields, host: host)).status
    }
    let wiki = "X-Forwarded-Host: wiki.example.com"
    #expect(try await status("/hall/x", []) == 401)
    #expect(try await status("/hall/x", [wiki]) == 200)
    #expect(try await status("/hall/x", [], host: "wiki.example.com") == 200)
    #expect(try await status("/hall/x", ["X-Forwarded-Host: app.example.com"], host: "wiki.example.com") == 401)
    #expect(try await status("/open/x", [wiki]) == 401)
    #expect(try await status("/open/x", [], host: "127.0.0.1:8081") == 200)
    #expect(try await status("/x", ["Cookie: \(cookie)"]) == 200)
    #expect(try await status("/x", ["Cookie: \(cookie)", wiki]) == 401)
    #expect(try await status("/x", ["Cookie: \(own)", wiki]) == 200)
    #expect(try await status("/x", ["Cookie: \(own)"]) == 401)
    #expect(
      try await rig.decide(asked(["X-Original-URL: https://wiki.example.com/hall/x"])).status == 200)
    let answer = try await rig.answer(asked(["X-Original-URI: /a?b", wiki]))
    #expect(
      answer.headerFields[HTTPField.Name("X-Auth-Sign-In")!]
        == "https://wiki.example.com/.auth/sign-in?return_to=/a%3Fb")
    // A session that is too old would only be handed over once more.
    rig.clock.advance(61)
    let old = try await rig.answer(asked(["X-Original-URI: /recent/x", "Cookie: \(own)", wiki]))
    #expect(old.status == .unauthorized)
    #expect(
      old.headerFields[HTTPField.Name("X-Auth-Sign-In")!]
        == "https://wiki.example.com/.auth/sign-in?return_to=/recent/x&new=1")
    try await rig.stop()
  }

  @Test("A header by which an application takes another path or method than the judged one is refused, however spelled")
  func overrides() async throws {
    let rig = try await GateRig(try GatewaySettings.forVerify([.originalURI, .method]))
    func status(_ fields: String...) async throws -> Int? { try await rig.decide(asked(fields)).status }
    let open = "X-Original-URI: /open/x?y=1"
    for field in [
      "X-Original-URL: /closed/x", "X-Rewrite-URL: /closed/x", "x_original_url: /closed/x", "X-Rewrite-URL: /open/xy",
      "X-Original-URL: https://app.example.com/closed/x", "X-Original-URL: ", "X-Rewrite-URL: /open/",
      "X-Override-URL: /closed/x", "X-HTTP-DestinationURL: https://app.example.com/closed/x",
    ] { #expect(try await status(open, field) == 403, "\(field)") }
    // A proxy that tells its own path by a header that is not believed.
    for field in ["X-Original-URL: /open/x", "X-Original-URL: https://app.example.com/open/x?y=1"] {
      #expect(try await status(open, field) == 200, "\(field)")
    }
    let wiki = ["X-Original-URI: /wiki/x", "X-Forwarded-Method: GET"]
    #expect(try await rig.decide(asked(wiki)).status == 200)
    for name in ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "x_http_method_override"] {
      #expect(try await rig.decide(asked(wiki + ["\(name): DELETE"])).status == 403, "\(name)")
      #expect(try await status(open, "\(name): DELETE") == 200, "\(name): no rule for methods")
    }
  }

  @Test("A header that names another path is refused also where a public path is the only rule")
  func overrideOfPublicPath() async throws {
    let routes = [RouteSettings(path: "/open/", access: .public)]
    var settings = try GatewaySettings.forTests(routes: routes)
    settings.verify.believe = [.originalURI]
    let rig = try await GateRig(settings)
    for (field, status) in [("X-Rewrite-URL: /mine", 403), ("X-Original-URL: /mine", 403), ("X-Other: /mine", 200)] {
      #expect(try await rig.decide(asked(["X-Original-URI: /open/x", field])).status == status, "\(field)")
    }
  }

  @Test("The path of verify ends there, or goes on with a slash")
  func ownPath() async throws {
    let rig = try await GateRig(try GatewaySettings.forVerify([.path]))
    #expect(try await rig.decide(asked([], "/.auth/verify/")).status == 401)
    #expect(try await rig.decide(asked([], "/.auth/verifyx")).status == 404)
    #expect(try await rig.decide(asked([], "/.auth/verify.")).status == 404)
    try await rig.stop()
  }

  @Test(
    "A restriction that oauth2-proxy reads from the query is not ignored: nobody is admitted",
    arguments: [
      "allowed_groups=admins", "allowed_groups", "a=b&allowed_emails=ada@example.com",
      "allowed_email_domains=example.com&redirect=1",
    ])
  func restrictionInQuery(query: String) async throws {
    var settings = try GatewaySettings.forTests()
    settings.verify.believe = [.originalURI, .path]
    let rig = try await GateRig(settings)
    let (_, cookie) = try rig.signIn("001.anna")
    let fields = ["Cookie: \(cookie)", "X-Original-URI: /x?\(query)"]
    for isTrusted in [true, false] {
      #expect(try await rig.decide(asked(fields, "/.auth/verify?\(query)", isTrusted: isTrusted)).status == 403)
      #expect(try await rig.decide(asked(fields, "/.auth/verify?redirect=1", isTrusted: isTrusted)).status == 200)
    }
    // That of the original request is the application's.
    #expect(try await rig.decide(asked(["Cookie: \(cookie)"], "/.auth/verify/x?\(query)")).status == 200)
    try await rig.stop()
  }

  @Test("Below verify/ nothing is answered where the path is told otherwise, in no spelling that a proxy may resolve")
  func pathBelow() async throws {
    let rig = try await GateRig(try GatewaySettings.forVerify([.originalURI, .method, .address]))
    let (_, cookie) = try rig.signIn("001.anna")
    let fields = ["Cookie: \(cookie)", "X-Original-URI: /x"]
    #expect(try await rig.decide(asked(fields)).status == 200)
    for path in ["/", "/x", "/../x", "/%2e%2e/x", "/..;/x", "/./x", "//x", "/../../.auth/session"] {
      for isTrusted in [true, false] {
        let answer = try await rig.answer(asked(fields, "/.auth/verify\(path)", isTrusted: isTrusted))
        #expect([400, 404].contains(answer.status.code), "\(path): \(answer.status)")
        #expect(answer.headerFields[HTTPField.Name("X-User")!] == nil, "\(path)")
      }
    }
    try await rig.stop()
  }
}
