import Foundation
import Testing

// Gradio, as it stands in examples/gradio: results of its queue arrive as a stream of events.

@SystemActor
@Suite("Gradio")
struct GradioApplicationTests {
  @Test("Gradio calculates for the signed-in user in a real browser, and its streams end when the user signs out")
  func queue() throws {
    let example = try Example("gradio")
    defer { example.stop() }
    try example.start(
      Machine.pythonProgram("python"), ["harvest.py", "\(example.port(3_000))"], listeningOn: 3_000,
      environment: ["HOME": example.path], by: .seconds(120))
    try example.startGateway()
    let browser = try Browser()
    defer { browser.quit() }
    try browser.open(example.origin + "/")
    try browser.click("a[href*='/.auth/authorize']")
    try browser.click("#user-anna")
    try browser.click("#continue")
    try browser.waitForAddress("Gradio") { $0 == example.origin + "/" }
    try browser.waitForText("Hello, Anna Bergström", by: .seconds(90))
    func value(_ id: String) throws -> String {
      try browser.script("return document.querySelector('#\(id) textarea').value") as? String ?? ""
    }
    try browser.click("#calculate")
    try poll("the harvest", by: .seconds(30)) {
      try value("harvest") == "36 kilograms of potatoes for Anna Bergström" ? () : nil
    }

    // A stream that would go on.
    try browser.click("#watch")
    try poll("the rain", by: .seconds(30)) { try value("rain").hasPrefix("3 litres") ? () : nil }
    #expect(try value("rain").hasSuffix("of Anna Bergström"))
    let tabs = try browser.openTab()
    try browser.open(example.origin + "/.auth/sign-out")
    try browser.click("form[action*='sign-out'] button")
    try browser.waitForText("signed out")
    // What came until then stays, and no more comes.
    try browser.switchTo(tabs.old)
    func litres() throws -> Int { try Int(value("rain").prefix { $0.isNumber }) ?? 0 }
    var last = try litres()
    var since = ContinuousClock.now
    try poll("the stream to end", by: .seconds(30)) {
      let now = try litres()
      if now != last { (last, since) = (now, .now) }
      return ContinuousClock.now - since > .seconds(3) ? () : nil
    }
    let after = try browser.script(
      """
      return fetch('/gradio_api/queue/join', {method: 'POST', headers: {'Content-Type': 'application/json'},
        body: '{"data": [3], "fn_index": 0, "session_hash": "x"}'}).then(answer => answer.status);
      """)
    #expect(after as? Int == 401)

    // The next user of the browser.
    try browser.open(example.origin + "/.auth/authorize?return_to=%2F")
    try browser.click("#user-ben")
    try browser.click("#continue")
    try browser.waitForText("Hello, Ben", by: .seconds(30))
  }
}
