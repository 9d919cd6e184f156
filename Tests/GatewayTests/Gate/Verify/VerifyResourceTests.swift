import AccessPolicy
import DataPlane
import HTTPTypes
import Pages
import Sessions
import Testing
import WebFormats

@testable import Gateway

// What `verify` judges beside the path, where the asking proxy passes it on: the second resource of COPY and MOVE, what
// is in a folder, and the page that opens a WebSocket. All by the code of the gate (DestinationTests,
// FolderRequestTests, TunnelTests), and only to refuse.
@Suite("External authorization of Destination and Origin")
struct VerifyResourceTests {
  private static func settings() throws -> GatewaySettings {
    var restricted = RouteSettings(path: "/dav/restricted/")
    restricted.conditions.denied.subjects = ["001.anna"]
    var archive = RouteSettings(path: "/dav/archive/", access: .deny)
    archive.methods = ["MOVE"]
    var other = RouteSettings(path: "/other/")
    other.upstream = "other"
    var settings = try GatewaySettings.forTests(routes: [
      restricted, archive, other, RouteSettings(path: "/drop/", access: .public),
    ])
    settings.publicAddress.hosts = ["alias.example.com"]
    let wiki = HostSettings(origin: try PublicOrigin(parsing: "https://wiki.example.com"))
    settings.routing.sites = [SiteSettings(host: wiki, pages: PageSettings())]
    settings.identity.headers = [.init(name: "X-User", claim: "sub")]
    settings.verify.believe = [.originalURI, .method, .host]
    return settings
  }

  /// A question of a trusted proxy.
  private func asked(
    _ fields: [String], about path: String = "/dav/own/a", method: String? = "COPY", cookie: String?,
    isTrusted: Bool = true
  ) -> Asked {
    let facts = ["X-Original-URI: \(path)"] + (method.map { ["X-Forwarded-Method: \($0)"] } ?? [])
    let all = facts + fields + (cookie.map { ["Cookie: \($0)"] } ?? [])
    return Asked(target: "/.auth/verify", fields: all, isFromProxy: isTrusted, isOfBrowser: false)
  }

  // MARK: Destination

  @Test("A request is admitted only if its sender may write to both resources")
  func bothAreJudged() async throws {
    let rig = try await GateRig(try Self.settings())
    let (_, anna) = try rig.signIn("001.anna")
    let (_, ben) = try rig.signIn("002.ben")
    for destination in ["https://app.example.com/dav/restricted/x", "/dav/restricted/x", "/dav/%72estricted/x"] {
      let fields = ["Destination: \(destination)"]
      #expect(try await rig.decide(asked(fields, cookie: anna)).status == 403, "\(destination)")
      #expect(try await rig.decide(asked(fields, cookie: nil)).status == 401, "\(destination)")
      let answer = try await rig.answer(asked(fields, cookie: ben))
      #expect(answer.status == .ok && answer.headerFields[HTTPField.Name("X-User")!] == "002.ben", "\(destination)")
    }
    // The gateway's own endpoints, and another upstream's resource.
    for destination in ["/.auth/session", "/other/x"] {
      #expect(try await rig.decide(asked(["Destination: \(destination)"], cookie: ben)).status == 403)
    }
    // The request's own path is judged still, and without the field nothing else is.
    let fields = ["Destination: /dav/own/b"]
    #expect(try await rig.decide(asked(fields, about: "/dav/restricted/a", cookie: anna)).status == 403)
    #expect(try await rig.decide(asked(fields, cookie: anna)).status == 200)
    #expect(try await rig.decide(asked([], cookie: anna)).status == 200)
    // Signed out, public paths only.
    #expect(try await rig.decide(asked(fields, about: "/drop/a", cookie: nil)).status == 401)
    #expect(try await rig.decide(asked(["Destination: /drop/b?x"], about: "/drop/a", cookie: nil)).status == 200)
    try await rig.stop()
  }

  @Test("Destination is judged by the method of the request; where that is not known, by the strictest rule")
  func methods() async throws {
    let rig = try await GateRig(try Self.settings())
    let (_, ben) = try rig.signIn("002.ben")
    let fields = ["Destination: /dav/archive/x"]
    #expect(try await rig.decide(asked(fields, method: "COPY", cookie: ben)).status == 200)
    #expect(try await rig.decide(asked(fields, method: "MOVE", cookie: ben)).status == 403)
    #expect(try await rig.decide(asked(fields, method: nil, cookie: ben)).status == 403)
    try await rig.stop()
  }

  @Test(
    "A Destination of another site, or one that servers could read in two ways, is refused",
    arguments: [
      ["https://wiki.example.com/dav/own/b"], ["https://evil.example/dav/own/b"], ["//app.example.com/dav/own/b"],
      ["https://a@app.example.com/dav/own/b"], ["dav/own/b"], ["/dav/own/b#x"], ["/dav/own/../restricted/b"],
      ["/dav/own/b c"], [""], ["/dav/own/b", "/dav/own/b"],
    ])
  func refused(_ destinations: [String]) async throws {
    let rig = try await GateRig(try Self.settings())
    let (_, anna) = try rig.signIn("001.anna")
    let fields = destinations.map { "Destination: \($0)" }
    #expect(try await rig.decide(asked(fields, cookie: anna)).status == 403)
    try await rig.stop()
  }

  @Test("Destination belongs to the host of the original request")
  func hosts() async throws {
    let rig = try await GateRig(try Self.settings())
    let (_, anna) = try rig.signIn("001.anna")
    let alias = ["X-Forwarded-Host: alias.example.com", "Destination: https://app.example.com/dav/own/b"]
    #expect(try await rig.decide(asked(alias, cookie: anna)).status == 200)
    let wiki = ["X-Forwarded-Host: wiki.example.com", "Destination: https://app.example.com/dav/own/b"]
    #expect(try await rig.decide(asked(wiki, about: "/drop/a", cookie: anna)).status != 200)
    try await rig.stop()
  }

  // MARK: Folders

  @Test("A request that acts on a folder needs what is in it, whatever Depth says, if its method is known")
  func folders() async throws {
    let rig = try await GateRig(try Self.settings())
    let (_, anna) = try rig.signIn("001.anna")
    let (_, ben) = try rig.signIn("002.ben")
    for (method, fields) in [
      ("DELETE", []), ("COPY", ["Depth: 0"]), ("PROPFIND", ["Depth: 0"]),
    ] as [(String, [String])] {
      #expect(try await rig.decide(asked(fields, about: "/dav/", method: method, cookie: anna)).status == 403)
      #expect(try await rig.decide(asked(fields, about: "/dav/", method: method, cookie: ben)).status == 200)
      #expect(try await rig.decide(asked(fields, about: "/dav/own/", method: method, cookie: anna)).status == 200)
    }
    #expect(try await rig.decide(asked([], about: "/dav/", method: "MOVE", cookie: ben)).status == 403)
    #expect(try await rig.decide(asked([], about: "/dav/", method: "GET", cookie: anna)).status == 200)
    #expect(try await rig.decide(asked([], about: "/dav/", method: nil, cookie: anna)).status == 200)
    for method in ["POST", nil] {
      let fields = ["X-HTTP-Method-Override: DELETE"]
      #expect(try await rig.decide(asked(fields, about: "/dav/", method: method, cookie: anna)).status == 403)
    }
    try await rig.stop()
  }

  // MARK: Origin

  @Test(
    "A page of another site opens no WebSocket, whichever parts of the handshake the proxy passes on",
    arguments: [
      ["Sec-WebSocket-Version: 13"], ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="], ["Upgrade: websocket"],
      ["Upgrade: WebSocket"], ["Sec-Fetch-Mode: websocket"],
      ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"],
    ])
  func crossSite(_ handshake: [String]) async throws {
    let rig = try await GateRig(try Self.settings())
    let (_, anna) = try rig.signIn("001.anna")
    for path in ["/dav/own/a", "/drop/a"] {
      for origin in ["https://evil.example", "null", "http://app.example.com", "https://wiki.example.com", ""] {
        let fields = handshake + ["Origin: \(origin)"]
        let question = asked(fields, about: path, method: "GET", cookie: anna)
        #expect(try await rig.decide(question).status == 403, "\(origin)")
      }
      let twice = handshake + ["Origin: https://app.example.com", "Origin: https://app.example.com"]
      #expect(try await rig.decide(asked(twice, about: path, method: "GET", cookie: anna)).status == 403)
      for origin in ["https://app.example.com", "https://alias.example.com"] {
        let fields = handshake + ["Origin: \(origin)"]
        let question = asked(fields, about: path, method: "GET", cookie: anna)
        #expect(try await rig.decide(question).status == 200, "\(origin)")
      }
      // Without Origin it is not a browser, or the proxy leaves it out.
      #expect(try await rig.decide(asked(handshake, about: path, method: "GET", cookie: anna)).status == 200)
    }
    let stranger = handshake + ["Origin: https://evil.example"]
    #expect(try await rig.decide(asked(stranger, method: "GET", cookie: nil)).status == 401)
    try await rig.stop()
  }

  @Test(
    "No upgrade but a WebSocket is admitted, to a public path neither: nobody would ask about the requests inside",
    arguments: [
      ["Upgrade: h2c"], ["Upgrade: h2c, websocket"], ["Upgrade: websocket, h2c"], ["Upgrade: HTTP/2.0"],
      ["Upgrade: websocket", "Upgrade: h2c"], ["Upgrade: websocket", "Upgrade: websocket"], ["Upgrade: foo"],
      ["Upgrade:"], ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"],
    ])
  func otherUpgrade(_ fields: [String]) async throws {
    let rig = try await GateRig(try Self.settings())
    let (_, anna) = try rig.signIn("001.anna")
    for path in ["/dav/own/a", "/drop/a"] {
      for isTrusted in [true, false] {
        let question = asked(fields, about: path, method: "GET", cookie: anna, isTrusted: isTrusted)
        #expect(try await rig.decide(question).status == 403, "\(path) \(isTrusted)")
      }
    }
    #expect(try await rig.decide(asked(fields, about: "/drop/a", method: "GET", cookie: nil)).status == 403)
    #expect(try await rig.decide(asked(fields, method: "GET", cookie: nil)).status == 401)
    try await rig.stop()
  }

  @Test("The pages of a host open the WebSockets of that host only")
  func hostOrigin() async throws {
    let rig = try await GateRig(try Self.settings())
    let fields = ["X-Forwarded-Host: wiki.example.com", "Sec-WebSocket-Version: 13"]
    func status(_ origin: String) async throws -> Int? {
      try await rig.decide(asked(fields + ["Origin: \(origin)"], about: "/open", method: "GET", cookie: nil)).status
    }
    var settings = try Self.settings()
    var open = RouteSettings(path: "/open", access: .public)
    open.host = .all
    settings.routing.routes.append(open)
    try await rig.apply(settings)
    #expect(try await status("https://wiki.example.com") == 200)
    #expect(try await status("https://app.example.com") == 403)
    try await rig.stop()
  }

  @Test("Origin of any other request says nothing: it is sent with every POST")
  func noWebSocket() async throws {
    let rig = try await GateRig(try Self.settings())
    let (_, anna) = try rig.signIn("001.anna")
    for fields in [["Origin: https://evil.example"], ["Origin: https://evil.example", "Sec-Fetch-Mode: cors"]] {
      #expect(try await rig.decide(asked(fields, method: "POST", cookie: anna)).status == 200)
    }
    try await rig.stop()
  }
}
