import Foundation
import TemporaryDirectoryTesting
import Testing

// Cookies and tokens that an older secret signed are replaced, so that the old secret can be removed.
//
// - By the application's own answer, unless a shared cache may keep that; by a refusal, by verify, by session.
// - Only once, and only for old ones; a new bearer token is in the response of session, without a cookie.
// - Also when the secrets change while the gateway runs.

@SystemActor
@Suite("Renewing what an older secret signed")
struct RenewalTests {
  private static let answer: RawUpstream.RequestHandler = { request, connection in
    // What stands after `c=` becomes the Cache-Control, and what stands after `f=` a field of its own.
    let query = request.target.components(separatedBy: "?").dropFirst().joined()
    let fields = query.split(separator: "&").map { item in
      let value = item.dropFirst(2).replacingOccurrences(of: "+", with: ", ").replacingOccurrences(of: ":", with: ": ")
      return item.hasPrefix("c=") ? "cache-Control: \(value)" : value
    }
    try connection.send(RawUpstream.response(fields: fields, body: "upstream saw \(request.target)"))
  }

  private func rotated() throws -> (Site, Visitor) {
    let site = try Site(
      upstream: Self.answer,
      adjust: {
        $0["native", "bearer"] = "true"
        $0["listen", "trusted_proxies"] = "[\"127.0.0.1/32\"]"
        $0.ending = "[[route]]\npath = \"/nobody/\"\nallow_subjects = [\"nobody\"]\n"
      })
    let anna = try site.signedIn()
    try site.gateway.directory.write("the second secret of the tests, long enough to be one", to: "new.key")
    var both = site.gateway.configuration
    both["session", "secret_files"] = "[\"new.key\", \"session.key\"]"
    try site.gateway.restart(with: both)
    return (site, anna)
  }

  private func renewals(_ response: HTTPResponse) -> [String] {
    response.setCookies.filter { $0.hasPrefix("__Host-cordon=") }
  }

  @Test("The application's response renews the cookie, once, unless a shared cache may keep it")
  func forwarded() throws {
    let (site, anna) = try rotated()
    defer { site.stop() }
    let old = try #require(anna.jar["__Host-cordon"])
    for control in ["public", "max-age=60", "s-maxage=5+public", "no-cache"] {
      let response = try site.gateway.client.get("/x?c=\(control)", fields: [("Cookie", "__Host-cordon=\(old)")])
      #expect(response.status == 200 && renewals(response).isEmpty, "\(control)")
      #expect(response.fields[all: "Cache-Control"].count == 1)
    }
    for control in ["private", "no-store", "max-age=0+PRIVATE"] {
      let response = try site.gateway.client.get("/x?c=\(control)", fields: [("Cookie", "__Host-cordon=\(old)")])
      #expect(renewals(response).count == 1, "\(control)")
    }
    // Caches that a field of its own addresses pass over Cache-Control (RFC 9213).
    for (query, renews) in [
      ("f=CDN-Cache-Control:max-age=600", false), ("c=private&f=CDN-Cache-Control:public+max-age=600", false),
      ("f=Surrogate-Control:max-age=600", false), ("c=private&f=Cloudflare-CDN-Cache-Control:no-store", true),
      ("c=no-store&f=X-Accel-Expires:60", false), ("c=private&f=X-Cache:hit", true),
    ] {
      let response = try site.gateway.client.get("/x?\(query)", fields: [("Cookie", "__Host-cordon=\(old)")])
      #expect(response.status == 200 && renewals(response).count == (renews ? 1 : 0), "\(query)")
    }
    let page = try anna.open("\(site.origin)/page")
    #expect(page.status == 200 && page.text == "upstream saw /page")
    #expect(page.response.fields["Cache-Control"] == "private")
    let line = try #require(renewals(page.response).first)
    for attribute in ["HttpOnly", "Secure", "Path=/", "SameSite=Lax", "Max-Age="] { #expect(line.contains(attribute)) }
    let renewed = try #require(anna.jar["__Host-cordon"])
    #expect(renewed != old)
    let again = try anna.open("\(site.origin)/page").response
    #expect(renewals(again).isEmpty && again.fields["Cache-Control"] == nil)

    // With the old secret gone, the new cookie is the one that counts.
    var bare = site.gateway.configuration
    bare["session", "secret_files"] = "[\"new.key\"]"
    // The refresh token is sealed again first, or the gateway would not start.
    let resealed = try ServerProcess.run(
      Machine.binary("cordon"), ["store", "reseal", "--config", site.gateway.file],
      directory: site.gateway.directory.path)
    #expect(resealed.exit == .code(0), "\(resealed.standardError)")
    try site.gateway.restart(with: bare)
    #expect(try anna.fetch(site.own("session")).status == 200)
    #expect(try site.gateway.client.get("/.auth/session", fields: [("Cookie", "__Host-cordon=\(old)")]).status == 401)
  }

  @Test("A refusal, verify and session bring it too; who comes with a token gets no cookie, and a new token at session")
  func own() throws {
    let (site, anna) = try rotated()
    defer { site.stop() }
    let old = try #require(anna.jar["__Host-cordon"])
    let cookie = [("Cookie", "__Host-cordon=\(old)")]
    for path in ["/nobody/x", "/.auth/verify", "/.auth/session"] {
      let response = try site.gateway.client.get(path, fields: cookie + [("X-Original-URI", "/x")])
      #expect(renewals(response).count == 1, "\(path)")
    }
    let bearer = [("Authorization", "Bearer \(old)")]
    let forwarded = try site.gateway.client.get("/x", fields: bearer)
    #expect(forwarded.status == 200 && renewals(forwarded).isEmpty)
    let session = try site.gateway.client.get("/.auth/session", fields: bearer)
    #expect(session.setCookies.isEmpty)
    let token = try #require(try session.json()["session_token"] as? String)
    let next = try site.gateway.client.get("/.auth/session", fields: [("Authorization", "Bearer \(token)")])
    #expect(next.status == 200)
    #expect(try next.json()["session_token"] == nil)
  }
}
