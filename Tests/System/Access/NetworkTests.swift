import Foundation
import TemporaryDirectoryTesting
import Testing

// `networks`: a condition on the client's address, judged before signing in.
//
// - Outside of them: 403, also for a stranger, who is not sent to sign in. Inside, signing in is still asked for.
// - The address of a trusted proxy's X-Forwarded-For counts; a peer that is not trusted and sends one never meets a
//   network, and one warning says so.
// - `verify` judges the address that a trusted proxy names, if it is believed.
// - A reload with other networks ends an open WebSocket.

@SystemActor
@Suite("Networks", .serialized)
struct NetworkTests {
  private static func site(_ networks: String, trusted: Bool = true) throws -> Site {
    try Site(upstream: EchoingApplication.answer) {
      if trusted { $0["listen", "trusted_proxies"] = "[\"127.0.0.0/8\"]" }
      $0["verify", "believe"] = "[\"X-Original-URI\", \"X-Forwarded-For\"]"
      $0["log", "format"] = "\"json\""
      $0.ending = "[[route]]\npath = \"/\"\nnetworks = [\"\(networks)\"]\n"
    }
  }

  private func status(_ visitor: Visitor, _ site: Site, from address: String) throws -> Int {
    try visitor.fetch(site.origin + "/x", fields: [("X-Forwarded-For", address)]).status
  }

  @Test("Only an address in the networks passes, and it still has to sign in")
  func addresses() throws {
    let site = try Self.site("10.0.0.0/8")
    defer { site.stop() }
    let anna = try site.signedIn()
    #expect(try status(anna, site, from: "10.1.2.3") == 200)
    #expect(try status(anna, site, from: "192.0.2.1") == 403)
    #expect(try status(anna, site, from: "nonsense") == 403)
    // The nearest proxy does not know the peer: what precedes the comma, the client may have written.
    for unknown in ["10.1.2.3,", "10.1.2.3, ", "10.1.2.3,,", "10.1.2.3, , 127.0.0.1"] {
      #expect(try status(anna, site, from: unknown) == 403, "\(unknown)")
    }
    #expect(try anna.fetch(site.origin + "/x").status == 403)
    let navigation = [("Accept", "text/html"), ("Sec-Fetch-Mode", "navigate")]
    let outside = try site.gateway.client.get("/x", fields: navigation + [("X-Forwarded-For", "192.0.2.1")])
    #expect(outside.status == 403 && outside.text.contains("Not available from your network"))
    let inside = try site.gateway.client.get("/x", fields: navigation + [("X-Forwarded-For", "10.1.2.3")])
    #expect(inside.status == 302)
    for (address, status) in [("10.1.2.3", 200), ("192.0.2.1", 403)] {
      let verified = try anna.fetch(
        site.own("verify"), fields: [("X-Original-URI", "/x"), ("X-Forwarded-For", address)])
      #expect(verified.status == status, "\(address)")
    }
    #expect(try anna.fetch(site.own("verify"), fields: [("X-Original-URI", "/x")]).status == 403)
  }

  @Test("A peer that is not trusted and speaks for others meets no network, which one warning says")
  func untrusted() throws {
    let site = try Self.site("127.0.0.0/8", trusted: false)
    defer { site.stop() }
    let anna = try site.signedIn()
    #expect(try anna.fetch(site.origin + "/x").status == 200)
    for (name, value) in [("X-Forwarded-For", "127.0.0.1"), ("Forwarded", "for=127.0.0.1"), ("X-Real-IP", "127.0.0.1")]
    {
      #expect(try anna.fetch(site.origin + "/x", fields: [(name, value)]).status == 403, "\(name)")
    }
    let warning = "denied request with a forwarded address from an untrusted peer"
    try site.gateway.waitForLog(warning)
    let log = String(decoding: site.gateway.log, as: UTF8.self)
    #expect(log.components(separatedBy: warning).count == 2 && log.contains("listen.trusted_proxies"))
  }

  @Test("A reload with other networks ends an open WebSocket")
  func reload() throws {
    let site = try Self.site("10.0.0.0/8")
    defer { site.stop() }
    let anna = try site.signedIn()
    let inside = try site.gateway.webSocket(of: anna, site, fields: ["X-Forwarded-For: 10.1.2.3"])
    let staying = try site.gateway.webSocket(of: anna, site, fields: ["X-Forwarded-For: 10.2.0.1"])
    var configuration = site.gateway.configuration
    configuration.ending = "[[route]]\npath = \"/\"\nnetworks = [\"10.2.0.0/16\"]\n"
    _ = try configuration.install(in: site.gateway.directory)
    site.gateway.process.signal(SIGHUP)
    _ = try inside.readToEnd()
    try staying.send("still here")
    #expect(try staying.read(count: 10) == Array("still here".utf8))
  }
}
