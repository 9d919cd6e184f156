import Foundation
import Testing

// The account page in Chromium: in English, German and Arabic, on desktop and phone, in light and dark, by keyboard,
// without scripts.

@SystemActor
@Suite("The account page in a browser")
struct BrowserAccountTests {
  @Test("In Chromium a user looks at the sessions, ends one by keyboard without scripts, and stops")
  func browser() throws {
    let site = try Site(adjust: { $0["pages", "application_name"] = "\"Orchard\"" })
    defer { site.stop() }
    let agents = [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Safari/604.1",
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:131.0) Gecko/20100101 Firefox/131.0", "Orchard/7 Darwin/24.0.0",
    ]
    for agent in agents {
      let visitor = Visitor()
      visitor.userAgent = agent
      try visitor.signIn(site)
    }
    let browser = try Browser()
    defer { browser.quit() }
    try browser.open(site.own("account"))
    try browser.click("a[href*='/.auth/authorize']")
    try browser.click("#user-anna")
    try browser.click("#continue")
    try browser.waitForText("Where you are signed in")
    for text in ["Safari on iPhone", "Firefox on Windows", "Orchard/7", "This browser"] {
      try browser.waitForText(text)
    }
    try browser.devTools("Network.enable")
    for language in ["en", "de", "ar"] {
      try browser.devTools("Network.setExtraHTTPHeaders", ["headers": ["Accept-Language": language]])
      for (name, path) in [("account", "account"), ("stop", "account/stop")] {
        try browser.open(site.own(path))
        let side = try browser.script("return getComputedStyle(document.body).direction") as? String
        #expect(side == (language == "ar" ? "rtl" : "ltr"), "\(language)")
        try browser.screenshots("15-\(name)-\(language)")
        try browser.devTools(
          "Emulation.setDeviceMetricsOverride",
          ["width": 375, "height": 812, "deviceScaleFactor": 2, "mobile": true])
        let overflows =
          try browser.script(
            "const page = document.documentElement; return page.scrollWidth > page.clientWidth") as? Bool
        #expect(overflows == false, "\(language) \(path)")
        try browser.show(on: .desktop)
      }
    }
    try browser.devTools("Network.setExtraHTTPHeaders", ["headers": ["Accept-Language": "en"]])
    try browser.devTools("Emulation.setScriptExecutionDisabled", ["value": true])
    try browser.open(site.own("account"))
    // Where the mark of this browser does not fit beside its name, it begins below the beginning of the name.
    try browser.devTools(
      "Emulation.setDeviceMetricsOverride",
      ["width": 220, "height": 812, "deviceScaleFactor": 2, "mobile": true])
    let begins =
      try browser.script(
        """
        const mark = document.querySelector(".badge");
        const [below, above] = [mark, mark.previousElementSibling].map(part => part.getBoundingClientRect());
        return below.top >= above.bottom && Math.abs(below.left - above.left) < 1;
        """) as? Bool
    #expect(begins == true)
    try browser.show(on: .desktop)
    // What a screen reader says of each button: what it does, and to which session.
    let tree = try browser.devTools("Accessibility.getFullAXTree")
    let nodes = (tree as? [String: Any])?["nodes"] as? [[String: Any]] ?? []
    let buttons = nodes.filter { ($0["role"] as? [String: Any])?["value"] as? String == "button" }
      .compactMap { ($0["name"] as? [String: Any])?["value"] as? String }
    #expect(buttons.contains { $0.hasPrefix("Sign out Safari on iPhone Signed in: 20") }, "\(buttons)")
    #expect(Set(buttons).count == 4, "\(buttons)")
    var pressed = false
    for _ in 0..<12 where !pressed {
      try browser.press("\u{E004}")
      if try browser.script("return document.activeElement.getAttribute('aria-labelledby') || ''") as? String
        == "end-1 browser-1 began-1"
      {
        let outline = try browser.script("return getComputedStyle(document.activeElement).outlineStyle") as? String
        #expect(outline != "none")
        try browser.press("\u{E007}")
        pressed = true
      }
    }
    #expect(pressed)
    try browser.waitForText("That browser is now signed out.")
    try browser.screenshots("15-account-ended")
    try browser.click("a[href='/.auth/account/stop']")
    try browser.click("form button")
    try browser.waitForText("You have stopped using Orchard")
    try browser.screenshots("15-farewell")
    #expect(try browser.cookies()["__Host-cordon"] == nil)
  }
}
