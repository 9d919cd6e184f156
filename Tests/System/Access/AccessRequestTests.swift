import Foundation
import Testing

// Asking for access.
//
// - A refused user asks by a button, has one code however often, and is admitted by it.
// - Programs learn where to ask. Only our own pages ask; GET and HEAD write nothing.
// - Nobody can ask who is denied, banned or not signed in; nobody at all unless it is configured.

@SystemActor
@Suite("Asking for access")
struct AccessRequestTests {
  private func requestForm(_ page: Visitor.Page) throws -> HTMLForm {
    try #require(page.forms.first { $0.action.hasSuffix("/request-access") }, "\(page.status) \(page.text)")
  }

  @Test("A refused user asks by a button, sees the same code each time, and a manager admits by it")
  func asking() throws {
    let site = try AccessSite.make()
    defer { site.stop() }
    let ben = Visitor()
    let refused = try ben.signIn(site, as: "ben", returnTo: "/reports/?week=3")
    #expect(refused.status == 403 && refused.address.target == "/reports/?week=3")
    #expect(site.code(in: refused.text) == nil)
    let asked = try ben.submit(try requestForm(refused))
    #expect(asked.status == 200 && asked.text.contains("tell this code to the operator of"))
    let code = try #require(site.code(in: asked.text))
    // The same code, on the page that is refused and by asking again.
    let again = try ben.open("\(site.origin)/reports/")
    #expect(again.status == 403 && site.code(in: again.text) == code)
    #expect(!again.forms.contains { $0.action.hasSuffix("/request-access") })
    let waiting = try ben.open(site.own("request-access"))
    #expect(waiting.status == 200 && site.code(in: waiting.text) == code)
    try site.gateway.waitForLog("\"event\":\"access_requested\"")
    #expect(site.audit("access_requested").count == 1)
    let anna = try site.signedIn()
    let people = try anna.open(site.own("people"))
    #expect(people.status == 200 && people.text.contains(code) && people.text.contains("ben@example.org"))
    let admitted = try anna.submit(try people.form("admit", "code", code).filling(["group": "guests"]))
    #expect(admitted.status == 200 && admitted.address.path == "/.auth/people", "\(admitted.text)")
    #expect(!admitted.text.contains(code))
    let next = try ben.open("\(site.origin)/reports/", following: false)
    #expect(next.status != 403, "once admitted, the user is served, or sent to Apple once more")
    #expect(try ben.signIn(site, as: "ben", returnTo: "/reports/").status == 200)
  }

  @Test("Programs are told the address to post to, and get the code as JSON")
  func programs() throws {
    let site = try AccessSite.make()
    defer { site.stop() }
    let ben = Visitor()
    try ben.signIn(site, as: "ben")
    let json = [("Accept", "application/json")]
    let refused = try ben.fetch("\(site.origin)/api/", fields: json)
    #expect(refused.status == 403)
    let address = try #require(try refused.json()["request_access"] as? String)
    let own = json + [("Origin", site.origin)]
    let answer = try ben.fetch(site.origin + address, method: "POST", fields: own)
    #expect(answer.status == 200)
    let code = try #require(try answer.json()["code"] as? String)
    #expect(site.code(in: code) == code)
    #expect(try ben.fetch("\(site.origin)/api/", fields: json).json()["code"] as? String == code)
  }

  @Test("A request of another site, a GET and a HEAD ask for nothing")
  func nothingWritten() throws {
    let site = try AccessSite.make()
    defer { site.stop() }
    let ben = Visitor()
    try ben.signIn(site, as: "ben")
    let address = site.own("request-access")
    let cookie = try #require(try ben.cookieHeader(for: address))
    let client = site.gateway.client
    for fields in [
      [("Origin", "http://evil.example")], [("Sec-Fetch-Site", "cross-site")], [("Origin", "null")], [],
      [("Origin", site.origin), ("Sec-Fetch-Site", "cross-site")],
    ] as [[(String, String)]] {
      let response = try client.post("/.auth/request-access", form: [], fields: fields + [("Cookie", cookie)])
      #expect(response.status == 403, "\(fields)")
    }
    for method in ["GET", "HEAD"] {
      let response = try client.send(method, "/.auth/request-access", fields: [("Cookie", cookie)])
      #expect(response.status == 200)
    }
    #expect(site.code(in: try ben.open(address).text) == nil)
    #expect(site.audit("access_requested").isEmpty)
  }

  @Test("A denied user cannot ask, and neither can a stranger or one who is admitted")
  func whoCannotAsk() throws {
    let site = try AccessSite.make()
    defer { site.stop() }
    let own = [("Origin", site.origin)]
    let eve = Visitor()
    let refused = try eve.signIn(site, as: "eve")
    #expect(refused.status == 403 && !refused.text.contains("request-access"))
    #expect(try eve.fetch(site.own("request-access"), method: "POST", fields: own).status == 403)
    #expect(try Visitor().fetch(site.own("request-access"), method: "POST", fields: own).status == 401)
    let anna = try site.signedIn()
    let answer = try anna.fetch(site.own("request-access?return_to=/"), method: "POST", fields: own)
    #expect(answer.status == 200 && site.code(in: answer.text) == nil)
    #expect(site.audit("access_requested").isEmpty)
  }

  @Test("Nobody can ask unless the configuration says so")
  func off() throws {
    let site = try AccessSite.make(also: { $0["access", "requests"] = "false" })
    defer { site.stop() }
    let ben = Visitor()
    let refused = try ben.signIn(site, as: "ben")
    #expect(refused.status == 403 && !refused.text.contains("request-access"))
    let own = [("Origin", site.origin)]
    #expect(try ben.fetch(site.own("request-access"), method: "POST", fields: own).status == 404)
    #expect(try ben.fetch(site.own("request-access")).status == 404)
  }
}
