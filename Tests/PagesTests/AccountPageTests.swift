import Testing

@testable import Pages

@Suite("The account page")
struct AccountPageTests {
  static let texts: [AccountText] = [
    .heading(application: "Orchard"), .nameLabel, .emailLabel, .notShared, .relayNote(application: "Orchard"),
    .relayOffNote(application: "Orchard"), .unverifiedNote, .groupsLabel, .ownSessionsHeading, .thisBrowser,
    .browser("Safari", device: "iPhone"), .unknownBrowser, .beganLabel, .lastSeenLabel, .endOthersButton,
    .moreSessions(7), .endedOne, .endedOthers,
    .stopQuestion(application: "Orchard"), .stopButton(application: "Orchard"),
    .stopExplanation(application: "Orchard"), .stopHereExplanation(application: "Orchard"),
    .stopAdvice(application: "Orchard"), .keepUsingButton, .farewellTitle(application: "Orchard"),
    .farewellExplanation(application: "Orchard"), .farewellHereExplanation(application: "Orchard"), .notRevokedTitle,
    .notRevokedExplanation(application: "Orchard"), .notRevokedAdvice(application: "Orchard"),
  ]

  private func html(
    _ account: AccountDescription, in language: PageLanguage = .english, after change: AccountChange? = nil
  ) throws -> String {
    String(decoding: renderer(named: "Orchard", in: language).account(account, after: change).body, as: UTF8.self)
  }

  @Test("Every text is translated, names what English names, and is tidy", arguments: PageLanguage.allCases)
  func translations(language: PageLanguage) {
    for key in Self.texts {
      let (english, text) = (EnglishTexts().text(key), language.texts.text(key))
      #expect(language == .english || text != english || key == .nameLabel, "\(language) \(key)")
      #expect(!text.hasPrefix(" ") && !text.hasSuffix(" ") && !text.contains("  "), "\(language) \(key)")
      for name in ["Orchard", "Safari", "iPhone", "7"] where english.contains(name) {
        // Where English says the name twice, a translation may say "its operator".
        #expect(text.contains(name), "\(language) \(key)")
      }
    }
  }

  @Test("The account page shows name, address, groups and sessions, and each button says which session it ends")
  func contents() throws {
    let page = try html(.exhibit(named: "Ada"))
    #expect(page.contains("<dt>Name</dt><dd><bdi>Ada</bdi></dd>"))
    #expect(page.contains("<ul class=\"tags\" role=\"list\"><li><bdi>Ada</bdi></li></ul>"))
    #expect(page.contains("<span id=\"browser-0\">Safari on iPhone</span> <span class=\"badge\">This browser</span>"))
    #expect(page.contains("<time datetime=\"1970-01-01T00:00Z\" dir=\"ltr\">1970-01-01 00:00 UTC</time>"))
    #expect(page.contains("<input type=\"hidden\" name=\"session\" value=\"Ada\">"))
    #expect(page.contains("id=\"end-1\" aria-labelledby=\"end-1 browser-1 began-1\">Sign out</button>"))
    // This session is ended by signing out.
    #expect(!page.contains("id=\"end-0\"") && page.contains("href=\"/.auth/sign-out\""))
    #expect(page.contains("More sessions that are not listed here: 3"))
    #expect(!page.contains("role=\"status\""))
    #expect(try html(.exhibit(named: "Ada"), after: .endedOthers).contains("You are now signed out everywhere else."))
  }

  @Test("An only session has no others to end, and what was not shared is said so")
  func alone() throws {
    var account = AccountDescription.exhibit(named: "Ada")
    account = AccountDescription(name: nil, email: nil, sessions: Array(account.sessions.prefix(1)))
    let page = renderer(named: "Orchard").account(account)
    let html = String(decoding: page.body, as: UTF8.self)
    #expect(!html.contains("<form") && page.contentSecurityPolicy.contains("form-action 'none'"))
    #expect(html.contains("<dd><bdi>Not shared</bdi></dd>") && !html.contains("Groups"))
  }

  @Test("The kind of an address is explained in everyday words")
  func addresses() throws {
    var account = AccountDescription.exhibit(named: "Ada")
    #expect(try html(account).contains("Apple made this address for you."))
    account.emailKind = .unverified
    #expect(try html(account).contains("Apple has not verified this address."))
    account.emailKind = .verified
    #expect(try !html(account).contains("Apple"))
  }

  @Test(
    "Browsers are named as people know them, unknown ones as they name themselves",
    arguments: [
      (
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 "
          + "Mobile/15E148 Safari/604.1", "Safari on iPhone"
      ),
      (
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 "
          + "Safari/605.1.15", "Safari on Mac"
      ),
      (
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 "
          + "Safari/537.36 Edg/130.0.0.0", "Edge on Windows"
      ),
      (
        "Mozilla/5.0 (Linux; Android 14; SM-S911B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/26.0 "
          + "Chrome/122.0.0.0 Mobile Safari/537.36", "Samsung Internet on Android"
      ),
      (
        "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 "
          + "Safari/537.36", "Chrome on ChromeOS"
      ),
      (
        "Mozilla/5.0 (iPad; CPU OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/131.0 "
          + "Mobile/15E148 Safari/605.1.15", "Firefox on iPad"
      ),
      ("Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0", "Firefox on Linux"),
      ("Mozilla/5.0 Firefox/131.0", "Firefox"), ("curl/8.5.0", "<bdi>curl/8.5.0</bdi>"),
      ("Orchard/7 CFNetwork/1568 Darwin/24.0.0", "<bdi>Orchard/7 CFNetwork/1568 Darwin/24.0.0</bdi>"),
      ("Chrome/<b>", "<bdi>Chrome/&lt;b&gt;</bdi>"), ("", "<bdi></bdi>"), (nil, "Unknown browser"),
    ] as [(String?, String)])
  func browsers(userAgent: String?, shown: String) throws {
    let session = AccountDescription.Session(
      id: "x", userAgent: userAgent, began: PageTime(seconds: 0), lastSeen: PageTime(seconds: 0),
      isThis: false)
    let page = try html(AccountDescription(name: nil, email: nil, sessions: [session]))
    #expect(page.contains("<span id=\"browser-0\">\(shown)</span>"))
  }

  @Test("A page for Arabic isolates Latin names and keeps times from left to right")
  func rightToLeft() throws {
    let page = try html(.exhibit(named: "Ada"), in: .arabic)
    #expect(page.contains("\u{2068}Safari\u{2069} على \u{2068}iPhone\u{2069}"))
    #expect(page.contains("dir=\"ltr\">1970-01-01 00:00 UTC</time>"))
  }

  @Test("The question posts its confirmation, and Apple's refusal offers the same form again")
  func questions() throws {
    let renderer = renderer(named: "Orchard")
    for page in [true, false].map({ renderer.stopQuestion(endsConnection: $0) }) + [renderer.notRevoked()] {
      let html = String(decoding: page.body, as: UTF8.self)
      #expect(html.contains("<form method=\"post\" action=\"/.auth/account/stop\">"))
      #expect(html.contains("name=\"stop\" value=\"yes\"") && html.contains("href=\"/.auth/account\""))
      #expect(page.contentSecurityPolicy.contains("form-action 'self'"))
    }
    #expect(renderer.stopQuestion(endsConnection: true).status == 200 && renderer.notRevoked().status == 502)
  }
}

extension AccountDescription {
  /// An account with a session of its own and another, all of whose texts are a name.
  static func exhibit(named name: String) -> AccountDescription {
    let safari = "Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1"
    let epoch = PageTime(seconds: 0)
    return AccountDescription(
      name: name, email: name, emailKind: .relay, groups: [name],
      sessions: [
        Session(id: "this", userAgent: safari, began: epoch, lastSeen: epoch, isThis: true),
        Session(id: name, userAgent: name, began: epoch, lastSeen: epoch, isThis: false),
      ], moreSessions: 3)
  }
}
