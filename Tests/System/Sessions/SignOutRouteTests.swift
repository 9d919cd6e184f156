import Foundation
import Testing

// The application's own address for signing out.
//
// - A POST of our own origin there signs out here; one of another origin does not.
// - A navigation asks first; the answer is posted to our own sign-out.
// - Nothing of it reaches the application. It works on a [[host]], and for people who are signed out.

@SystemActor
@Suite("The application's own Log out")
struct SignOutRouteTests {
  private func site() throws -> Site {
    try Site(upstream: EchoingApplication.answer) {
      $0["pages", "show_sign_in_page"] = "false"
      $0["upstream", "end_cookies"] = #"["sid"]"#
      try? $0.addHosts(["wiki"])
      $0.ending += "[[route]]\npath = \"/logout\"\naccess = \"sign-out\"\nhost = \"*\"\n"
    }
  }

  private let navigation = [("Accept", "text/html"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]

  @Test("A POST of our own origin signs out, deletes the application's cookies, and never reaches the application")
  func post() throws {
    let site = try site()
    defer { site.stop() }
    let anna = try site.signedIn()
    site.upstream.forget()
    let cookie = try #require(try anna.cookieHeader(for: site.origin + "/"))
    for fields in [[("Origin", "http://evil.example")], [("Sec-Fetch-Site", "same-site")], []] {
      let refused = try site.gateway.client.post("/logout", form: [], fields: [("Cookie", cookie)] + fields)
      #expect(refused.status == 403, "\(fields)")
    }
    #expect(try anna.fetch(site.own("session")).status == 200)
    let answer = try anna.fetch(
      site.origin + "/logout", method: "POST", fields: [("Origin", site.origin)] + navigation)
    #expect(answer.status == 200 && answer.fields["Clear-Site-Data"] == "\"cache\"" && answer.text.contains("<h1>"))
    #expect(answer.setCookies.contains { $0.hasPrefix("sid=;") } && anna.jar["__Host-cordon"] == nil)
    #expect(try site.gateway.client.get("/.auth/session", fields: [("Cookie", cookie)]).status == 401)
    let again = try anna.fetch(site.origin + "/logout", method: "POST", fields: [("Origin", site.origin)])
    #expect(again.status == 204, "signed out already")
    #expect(site.upstream.requests.isEmpty)
  }

  @Test("A navigation asks first, on the host's own sign-out, and a script's GET is told to POST")
  func get() throws {
    let site = try site()
    defer { site.stop() }
    let anna = try site.signedIn()
    _ = try anna.open(site.origin(of: "wiki") + "/page")
    for origin in [site.origin, site.origin(of: "wiki")] {
      site.upstream.forget()
      let page = try anna.open(origin + "/logout?return_to=/elsewhere")
      #expect(page.status == 200 && page.address.origin == origin)
      let form = try #require(page.forms.first { $0.method == "POST" })
      #expect(form.action.hasSuffix("/.auth/sign-out") && !page.text.contains("elsewhere"))
      let script = try anna.fetch(origin + "/logout", fields: [("Sec-Fetch-Mode", "cors")])
      #expect(script.status == 405 && script.fields["Allow"] == "POST")
      #expect(site.upstream.requests.isEmpty)
    }
    let form = try #require(try anna.open(site.origin(of: "wiki") + "/logout").forms.first { $0.method == "POST" })
    #expect(try anna.submit(form).status == 200)
    #expect(try anna.fetch(site.own("session")).status == 401, "signed out on every host")
    let stranger = try Visitor().open(site.origin + "/logout")
    #expect(stranger.status == 200 && stranger.forms.isEmpty, "nobody is asked who is signed out")
  }
}
