import Foundation
import Testing

// The status page of the real process.
//
// - For people in a browser, light and dark, phone and desktop; it renews itself, and breaks none of its own policy.
// - For programs as JSON, by Accept or by the query.
// - Without a token, and with nothing of any user on it, while one is signed in.

@SystemActor
@Suite("The status page of the real process", .site)
struct StatusTests {
  private let site: Site

  init() throws { site = try Site.current }

  private var address: String { "http://127.0.0.1:\(site.gateway.configuration.adminPort)/status" }

  @Test("The status page shows itself in a browser, renews itself, and obeys its own policy")
  func browser() throws {
    try Visitor().signIn(site, as: "anna")
    for _ in 0..<30 { _ = try site.gateway.client.get("/.auth/session") }
    let browser = try Browser()
    defer { browser.quit() }
    try browser.open(address)
    try browser.waitForText("All is well")
    try browser.script("window.sameDocument = true")
    // The first plots come with the second sample; the page fetches itself every ten seconds.
    _ = try poll("a renewed page with plots", by: .seconds(60)) {
      try browser.script("return document.querySelectorAll('.plot .line').length") as? Int ?? 0 >= 6 ? true : nil
    }
    #expect(try browser.script("return window.sameDocument") as? Bool == true)
    // Its style was let through by its policy.
    #expect(
      try browser.script("return getComputedStyle(document.querySelector('.cards')).display") as? String == "grid")
    try browser.show(on: .phone)
    let overflows =
      try browser.script(
        "const page = document.documentElement; return page.scrollWidth > page.clientWidth") as? Bool
    #expect(overflows == false)
    try browser.screenshots("10-status")
    // On a narrow phone the longest texts neither overflow nor squeeze the names of the checks, which stay whole.
    try browser.devTools(
      "Emulation.setDeviceMetricsOverride",
      ["width": 320, "height": 640, "deviceScaleFactor": 2, "mobile": true])
    // In one script: the page fetches itself in between.
    let measured =
      try browser.script(
        """
        const write = (cells, text) => {
          for (const cell of document.querySelectorAll(cells)) cell.lastChild.textContent = text;
        };
        write("td + td.number", "for 23 h 59 min");
        write("td > .badge", "not checked recently");
        write("th + td.number > small", "123,456 failures, 12,345 ejections");
        const page = document.documentElement;
        const overflowing = [...document.querySelectorAll("main *")]
          .filter(part => part.getBoundingClientRect().right > page.clientWidth).map(part => part.outerHTML);
        const names = [...document.querySelectorAll("th")];
        const range = document.createRange();
        range.selectNodeContents(names.find(name => name.textContent === "configuration"));
        document.querySelector(".tables").scrollIntoView();
        return {overflowing, lines: range.getClientRects().length};
        """) as? [String: Any]
    #expect(measured?["overflowing"] as? [String] == [])
    #expect(measured?["lines"] as? Int == 1)
    try browser.screenshot("10-status-narrow")
  }

  @Test("Nothing of a user who is signed in is on it, as a page or as JSON")
  func nothingPersonal() throws {
    try Visitor().signIn(site, as: "anna")
    for path in ["/status", "/status?format=json"] {
      let answer = try site.gateway.admin.get(path)
      #expect(answer.status == 200)
      for secret in ["anna", "Anna", "bergstrom", "com.example", "127.0.0.1:\(site.apple.port)"] {
        #expect(!answer.text.contains(secret), "\(secret) in \(path)")
      }
      #expect(answer.text.firstMatch(of: /\w@\w/) == nil, "an address in \(path)")
    }
  }

  @Test("Programs get JSON by Accept or by the query, browsers a page")
  func json() throws {
    let byQuery = try site.gateway.admin.get("/status?format=json")
    let byAccept = try site.gateway.admin.get("/status", fields: [("Accept", "application/json")])
    for answer in [byQuery, byAccept] {
      #expect(answer.fields["Content-Type"] == "application/json")
      let object = try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
      #expect(object["status"] as? String == "ok")
      #expect((object["upstreams"] as? [[String: Any]])?.count == 1)
    }
    let page = try site.gateway.admin.get("/status", fields: [("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")])
    #expect(page.fields["Content-Type"] == "text/html; charset=utf-8")
    #expect(page.fields["Content-Security-Policy"]?.contains("default-src 'none'") == true)
  }

  @Test("Other methods than GET and HEAD get 405 on the paths of the admin listener, and 404 on unknown ones")
  func methods() throws {
    for path in ["/livez", "/metrics", "/status"] {
      let answer = try site.gateway.admin.send("POST", path)
      #expect(answer.status == 405 && answer.fields["Allow"] == "GET, HEAD", "\(path)")
    }
    for method in ["GET", "POST", "DELETE"] {
      #expect(try site.gateway.admin.send(method, "/nothing").status == 404, "\(method)")
    }
  }
}
