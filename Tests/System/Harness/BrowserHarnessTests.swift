import Foundation
import Testing

// The browser of the harness, against a plain server.
//
// - It opens, reads, clicks, types, keeps cookies by site, opens tabs.
// - A screenshot is a picture.

@SystemActor
@Suite("The browser of the system tests")
struct BrowserHarnessTests {
  @Test("The browser opens, types, clicks, follows, and shows itself")
  func browser() throws {
    let server = try RawUpstream { request, connection in
      let page = """
        <!doctype html><meta name="viewport" content="width=device-width"><title>Page</title><p>You are at \(request.target.prefix(6)).</p>
        <form action="/next"><input id="name" name="name"><button id="go">Go</button></form>
        <style>@media (prefers-color-scheme: dark) { body { background: black } }</style>
        """
      try connection.send(
        RawUpstream.response(
          fields: ["Content-Type: text/html", "Set-Cookie: seen=yes; Path=/; HttpOnly"], body: page))
    }
    defer { server.stop() }
    let browser = try Browser()
    defer { browser.quit() }
    try browser.open("http://localhost:\(server.port)/first")
    try browser.waitForText("You are at /first")
    try browser.type("Ann", into: "#name")
    try browser.click("#go")
    #expect(try browser.waitForAddress("the next page") { $0.contains("/next") }.hasSuffix("/next?name=Ann"))
    #expect(try browser.cookies()["seen"]?["httpOnly"] as? Bool == true)
    let tabs = try browser.openTab()
    try browser.open("http://127.0.0.1:\(server.port)/other")
    #expect(try browser.title() == "Page")
    try browser.switchTo(tabs.old)
    try browser.prefer(dark: true)
    #expect(try browser.script("return getComputedStyle(document.body).backgroundColor") as? String == "rgb(0, 0, 0)")
    try browser.show(on: .phone)
    #expect(try browser.script("return innerWidth") as? Int == 390)
    try browser.screenshot("harness")
    let picture = try Data(contentsOf: Machine.screenshots.appending(path: "harness.png"))
    #expect(picture.starts(with: [0x89, 0x50, 0x4E, 0x47]))
    let last = server.requests.last { $0.target.hasPrefix("/next") }
    #expect(last?.fields["Cookie"] == "seen=yes")
  }
}
