import Foundation
import Testing

// The pages of the real process, in the visitor's language, with Apple's button from our own origin.
//
// - Every page is in the language that Accept-Language prefers, in the browser too; Arabic from right to left.
// - The button's image is Apple's, fetched once, in the locale of the visitor, for light and dark.
// - While Apple's content network is away, the button is drawn, with Apple's words.

@SystemActor
@Suite("Pages in the visitor's language", .site { $0["pages.button", "base_url"] = $0["apple", "base_url"] })
struct LanguageTests {
  private let site: Site

  init() throws { site = try Site.current }

  private func page(_ path: String, _ language: String) throws -> HTTPResponse {
    try site.gateway.client.get(
      path, fields: [("Accept", "text/html"), ("Accept-Language", language), ("Sec-Fetch-Mode", "navigate")])
  }

  @Test(
    "Pages of the gate and of the control plane, and JSON, are in the language that is preferred",
    arguments: [("de-AT,en;q=0.5", "de"), ("ja", "ja"), ("ar-EG, fr;q=0.2", "ar"), ("nl", "en"), ("zh-TW", "zh-Hans")])
  func languages(field: String, language: String) throws {
    for path in ["/.auth/sign-in", "/.auth/sign-out", "/.auth/nowhere", "/.auth/callback"] {
      let answer = try page(path, field)
      #expect(answer.fields["Content-Language"] == language, "\(path)")
      #expect(answer.fields["Vary"] == "Accept, Accept-Language", "\(path)")
      #expect(answer.text.contains("<html lang=\"\(language)\""), "\(path)")
    }
    // What never was a request is answered in the language too.
    let connection = try TCPConnection(port: site.gateway.client.port)
    defer { connection.close() }
    try connection.send(
      Array("GET /\u{1} HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nAccept-Language: \(field)\r\n\r\n".utf8))
    let refused = try HTTPResponse.read(from: connection, method: "GET")
    #expect(refused.status == 400 && refused.fields["Content-Language"] == language)
    let json = try site.gateway.client.get("/.auth/session", fields: [("Accept-Language", field)])
    #expect(json.status == 401 && json.fields["Content-Language"] == language)
  }

  @Test("The button is Apple's image from our own origin, fetched once, and a PNG that nobody guesses at")
  func image() throws {
    let first = try page("/.auth/sign-in", "de")
    let path = try #require(first.text.firstMatch(of: /<img src="(\/\.auth\/button\?[^"]+)"/)?.1)
    #expect(first.text.contains("alt=\"Mit Apple anmelden\" lang=\"de-DE\""))
    #expect(first.text.contains("media=\"(prefers-color-scheme:dark)\""))
    #expect(first.fields["Content-Security-Policy"]?.contains("img-src 'self' data:;") == true)
    let image = try site.gateway.client.get(path.replacingOccurrences(of: "&amp;", with: "&"))
    #expect(image.status == 200)
    #expect(image.body.starts(with: [0x89, 0x50, 0x4E, 0x47]))
    #expect(image.fields["Content-Type"] == "image/png")
    #expect(image.fields["X-Content-Type-Options"] == "nosniff")
    #expect(image.fields["Cache-Control"] == "public, max-age=86400")
    _ = try page("/.auth/sign-in", "de")
    let asked = try site.apple.requests(at: "/appleid/button").map(\.query).filter { $0["locale"] == "de_DE" }
    #expect(asked.compactMap { $0["color"] }.sorted() == ["black", "white"])
    #expect(asked.allSatisfy { $0["width"] == "320" && $0["height"] == "48" && $0["scale"] == "3" })
  }

  @Test(
    "Nothing but the images that there are can be asked for",
    arguments: [
      "", "?locale=de_DE", "?color=black", "?locale=xx_XX&color=black", "?locale=de_DE&color=red",
      "?locale=de_DE&locale=de_DE&color=black", "?locale=de_DE%00&color=black", "?locale=DE_DE&color=black",
    ])
  func unknownImages(query: String) throws {
    #expect(try site.gateway.client.get("/.auth/button\(query)").status == 404)
  }

  @Test("In the browser each language reads well, from its own side, and fits on a phone")
  func browser() throws {
    let browser = try Browser()
    defer { browser.quit() }
    try browser.devTools("Network.enable")
    for language in ["de", "fr", "es", "it", "pt-BR", "ja", "ko", "zh-CN", "ar"] {
      try browser.devTools("Network.setExtraHTTPHeaders", ["headers": ["Accept-Language": language]])
      for path in ["sign-in", "nowhere"] {
        try browser.show(on: .phone)
        try browser.open(site.own(path))
        let side = try browser.script("return getComputedStyle(document.body).direction") as? String
        #expect(side == (language == "ar" ? "rtl" : "ltr"), "\(language)")
        let overflows =
          try browser.script(
            "const page = document.documentElement; return page.scrollWidth > page.clientWidth") as? Bool
        #expect(overflows == false, "\(language) \(path)")
        try browser.screenshots("11-\(path)-\(language)")
      }
      // The image was let through by the policy, and is as large as it should be.
      try browser.open(site.own("sign-in"))
      let image = try #require(
        try browser.script(
          "const i = document.querySelector('.apple-image img'); return [i.complete && i.naturalWidth, i.width]")
          as? [Int])
      #expect(image == [960, 320], "\(language)")
    }
  }
}

@SystemActor
@Suite(
  "Pages while Apple's content network is away",
  .site { $0["pages.button", "base_url"] = "\"http://127.0.0.1:1\"" })
struct DrawnButtonTests {
  @Test("The button is drawn, with Apple's words in the visitor's language, and leads to Apple")
  func drawn() throws {
    let site = try Site.current
    for (field, title) in [("sv", "Logga in med Apple"), ("he", "התחברות עם Apple"), ("ja", "Appleでサインイン")] {
      let page = try site.gateway.client.get(
        "/.auth/sign-in", fields: [("Accept", "text/html"), ("Accept-Language", field)])
      #expect(page.text.contains(">\(title)</span></a>"))
      #expect(page.text.contains("<svg") && !page.text.contains("<img"))
    }
    let browser = try Browser()
    defer { browser.quit() }
    try browser.devTools("Network.enable")
    for language in ["en", "ar", "ja"] {
      try browser.devTools("Network.setExtraHTTPHeaders", ["headers": ["Accept-Language": language]])
      try browser.open(site.own("sign-in"))
      try browser.screenshots("12-drawn-\(language)")
    }
    // Longer words are smaller, and stay on their line.
    for language in ["ar", "ca", "cs", "de", "el", "fr-CA", "he", "hu", "ko", "ms", "pt-PT", "ru", "th", "uk", "vi"] {
      try browser.devTools("Network.setExtraHTTPHeaders", ["headers": ["Accept-Language": language]])
      try browser.open(site.own("sign-in"))
      let fits = """
        const a = document.querySelector('.apple'), s = a.querySelector('span');
        return a.offsetHeight == 48 && a.scrollWidth <= a.clientWidth && s.offsetHeight < 40
        """
      #expect(try browser.script(fits) as? Bool == true, "\(language)")
    }
    try browser.click("a[href*='/.auth/authorize']")
    try browser.waitForAddress("Apple's page") { $0.hasPrefix(site.apple.baseURL) }
    #expect(try site.gateway.client.get("/.auth/button?locale=sv_SE&color=black").status == 503)
  }

  @Test("In each shape the drawn button has its size, stays on the phone's screen, and is named for screen readers")
  func shapes() throws {
    let browser = try Browser()
    defer { browser.quit() }
    for (shape, lines) in [
      ("centred", "width = 300\nheight = 44"), ("left", "width = 280\nheight = 40\nborder = true\ncolor = \"white\""),
      ("logo", "size = 56\nborder_radius = 28"),
    ] {
      let site = try Site(adjust: {
        $0.ending = "[pages.button]\nbase_url = \"http://127.0.0.1:1\"\nshape = \"\(shape)\"\n\(lines)\n"
      })
      defer { site.stop() }
      try browser.show(on: .phone)
      try browser.open(site.own("sign-in"))
      let size =
        try browser.script("const a = document.querySelector('.apple'); return [a.offsetWidth, a.offsetHeight]")
        as? [Int]
      #expect(size == ["centred": [300, 44], "left": [280, 40], "logo": [56, 56]][shape], "\(shape)")
      let name = try browser.script(
        "const a = document.querySelector('.apple'); return a.getAttribute('aria-label') || a.innerText")
      #expect((name as? String)?.contains("Sign in with Apple") == true, "\(shape)")
      try browser.screenshots("14-button-\(shape)")
    }
  }
}
