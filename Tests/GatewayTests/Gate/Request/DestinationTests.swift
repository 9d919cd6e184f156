import AccessPolicy
import DataPlane
import HTTPTypes
import Pages
import Sessions
import Testing
import WebFormats

@testable import Gateway

// `Destination` of COPY and MOVE: the second resource of a request is judged as the first.
@Suite("Destination at the gate")
struct DestinationTests {
  private static func settings() throws -> GatewaySettings {
    var restricted = RouteSettings(path: "/dav/restricted/")
    restricted.conditions.denied.subjects = ["001.anna"]
    var readOnly = RouteSettings(path: "/dav/archive/", access: .deny)
    readOnly.methods = ["PUT", "COPY", "MOVE"]
    var other = RouteSettings(path: "/other/")
    other.upstream = "other"
    var settings = try GatewaySettings.forTests(routes: [
      restricted, readOnly, other, RouteSettings(path: "/drop/", access: .public),
    ])
    settings.publicAddress.hosts = ["alias.example.com"]
    let wiki = HostSettings(origin: try PublicOrigin(parsing: "https://wiki.example.com"))
    settings.routing.sites = [SiteSettings(host: wiki, pages: PageSettings())]
    return settings
  }

  private func ask(_ destinations: [String], from target: String = "/dav/own/a.txt", cookie: String?) -> Asked {
    let fields = destinations.map { "Destination: \($0)" } + (cookie.map { ["Cookie: \($0)"] } ?? [])
    return Asked(target: target, method: "COPY", fields: fields, isOfBrowser: false)
  }

  @Test("A request is forwarded only if its sender may write to both resources")
  func bothAreJudged() async throws {
    let rig = try await GateRig(try Self.settings())
    let (_, anna) = try rig.signIn("001.anna")
    let (_, ben) = try rig.signIn("002.ben")
    for destination in ["https://app.example.com/dav/restricted/x", "/dav/restricted/x", "/dav/%72estricted/x"] {
      #expect(try await rig.decide(ask([destination], cookie: anna)).status == 403, "\(destination)")
      #expect(try await rig.decide(ask([destination], cookie: ben)).identity != nil, "\(destination)")
      #expect(try await rig.decide(ask([destination], cookie: nil)).status == 401, "\(destination)")
    }
    // A folder that may only be read, our own endpoints, and another application.
    for destination in ["/dav/archive/x", "/.auth/session", "/other/x"] {
      #expect(try await rig.decide(ask([destination], cookie: ben)).status == 403, "\(destination)")
    }
    // The request's own path is judged still.
    #expect(try await rig.decide(ask(["/dav/own/b"], from: "/dav/restricted/a", cookie: anna)).status == 403)
    // Signed out, public paths only.
    #expect(try await rig.decide(ask(["/dav/own/b"], from: "/drop/a", cookie: nil)).status == 401)
    #expect(try await rig.decide(ask(["/drop/b?x"], from: "/drop/a", cookie: nil)).identity != nil)
    try await rig.stop()
  }

  @Test("A method override is not forwarded where a route with methods holds for either path")
  func methodOverride() async throws {
    let rig = try await GateRig(try Self.settings())
    let (_, ben) = try rig.signIn("002.ben")
    func isDropped(from target: String, to destination: String) async throws -> Bool {
      let fields = ["Destination: \(destination)", "Cookie: \(ben)", "X-HTTP-Method-Override: COPY"]
      let request = Asked(target: target, method: "POST", fields: fields, isOfBrowser: false)
      return try await rig.forwarded(request).dropsMethodOverride
    }
    #expect(try await isDropped(from: "/dav/own/a", to: "/dav/archive/b"))
    #expect(try await isDropped(from: "/dav/archive/a", to: "/dav/own/b"))
    #expect(try await !isDropped(from: "/dav/own/a", to: "/dav/own/b"))
    try await rig.stop()
  }

  @Test(
    "A Destination of this site passes, in each of its spellings",
    arguments: [
      "https://app.example.com/dav/own/b", "http://app.example.com/dav/own/b", "HTTPS://APP.example.com:443/dav/own/b",
      "https://alias.example.com/dav/own/b", "/dav/own/b", "/dav/own/b%20c?x=/dav/restricted/",
    ])
  func passes(_ destination: String) async throws {
    let rig = try await GateRig(try Self.settings())
    let (_, anna) = try rig.signIn("001.anna")
    #expect(try await rig.decide(ask([destination], cookie: anna)).identity != nil)
    try await rig.stop()
  }

  @Test(
    "A Destination of another site, or one that servers could read in two ways, is refused",
    arguments: [
      ["https://wiki.example.com/dav/own/b"], ["https://evil.example/dav/own/b"], ["//app.example.com/dav/own/b"],
      ["http:/dav/own/b"], ["http:///dav/own/b"], ["https://a@app.example.com/dav/own/b"],
      ["https://app.example.com\\dav"], ["https://app.example.com"], ["dav/own/b"], ["../dav/own/b"],
      ["</dav/own/b>"], ["/dav/own/b#/../restricted/x"], ["/dav/own/../restricted/b"], ["/dav/own/b c"],
      ["ftp://app.example.com/dav/own/b"], [""], ["/dav/own/b", "/dav/own/b"], ["/dav/own/b", "/dav/restricted/b"],
      ["/dav/own/\u{F6}"],
    ])
  func refused(_ destinations: [String]) async throws {
    let rig = try await GateRig(try Self.settings())
    let (_, anna) = try rig.signIn("001.anna")
    #expect(try await rig.decide(ask(destinations, cookie: anna)).status == 400)
    try await rig.stop()
  }
}
