import Testing
import WebFormats

@testable import Pages

@Suite("Every page")
struct EveryPageTests {
  @Test(
    "Every page says its language and direction, and has one main part, one heading and a title",
    arguments: pages(named: "Orchard"))
  func structure(exhibit: Exhibit) {
    let (name, page) = (exhibit.name, exhibit.page)
    let html = String(decoding: page.body, as: UTF8.self)
    #expect(html.hasPrefix("<!doctype html>\n<html lang=\"en\" dir=\"ltr\">"))
    for tag in ["<main>", "</main>", "<h1>", "<title>", "</html>", "<footer>"] {
      #expect(count(tag, in: html) == 1, "\(tag) in \(name)")
    }
    #expect(html.contains("name=\"viewport\""))
    #expect(html.contains("books.example.com"))
    #expect(!html.contains("{{"), "an unfilled template in \(name)")
    #expect(!html.contains("<h1></h1>") && !html.contains("<title></title>") && !html.contains("<p></p>"))
  }

  @Test(
    "The policy of every page allows nothing but what it marks with its own nonce", arguments: pages(named: "Orchard"))
  func policy(exhibit: Exhibit) throws {
    let (name, page) = (exhibit.name, exhibit.page)
    let html = String(decoding: page.body, as: UTF8.self)
    let policy = page.contentSecurityPolicy
    let nonce = try #require(policy.firstMatch(of: /style-src 'nonce-([0-9a-f]{32})'/)?.1)
    #expect(count("<style nonce=\"\(nonce)\">", in: html) == 1)
    for directive in ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"] {
      #expect(policy.contains(directive))
    }
    #expect(policy.contains("img-src 'self' data:;"))
    #expect(!policy.contains("unsafe") && !policy.contains("*"))
    #expect(policy.contains("script-src") == html.contains("<script"))
    #expect(policy.contains("form-action 'none'") == !html.contains("<form"))
    #expect(
      !html.contains(" style=") && html.firstMatch(of: /\son[a-z]+=/) == nil, "inline style or handler in \(name)")
    #expect(html.firstMatch(of: /(?:src|href|action)="(?:https?:)?\/\//) == nil, "an outside address in \(name)")
  }

  @Test(
    "No page is stored, framed, guessed at or loaded into another one, and each keeps Origin on its forms",
    arguments: pages(named: "Orchard"))
  func fields(exhibit: Exhibit) {
    let page = exhibit.page
    let fields = Dictionary(uniqueKeysWithValues: page.fields.map { ($0.name, $0.value) })
    #expect(fields["content-type"] == "text/html; charset=utf-8")
    #expect(fields["content-security-policy"] == page.contentSecurityPolicy)
    #expect(fields["cache-control"] == "no-store")
    let isSecret = exhibit.name.hasPrefix("invitation") && exhibit.name != PageFailure.invitationInvalid.rawValue
    #expect(fields["referrer-policy"] == (isSecret ? "strict-origin" : "same-origin"))
    #expect(fields["x-content-type-options"] == "nosniff")
    #expect(fields["x-frame-options"] == "DENY")
    #expect(fields["cross-origin-resource-policy"] == "same-origin")
    #expect(fields["vary"] == "Accept, Accept-Language")
    #expect(fields["content-language"] == "en")
  }

  @Test(
    "No name of an application changes the structure of a page",
    arguments: [
      "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onmouseover='x", "&lt;b&gt;",
      "</title><script>",
      // As Characters, these are neither quotation marks nor brackets.
      "\"\u{301}onfocus=x", "<\u{338}script>\u{338}", "'\u{FE0F}x", "&\u{200D}#60;", "{{{nonce}}}", "{{>layout}}",
      "a\u{0}b\r\nc",
      "\u{202E}evil", "\u{2068}evil", "]]>-->",
    ])
  func hostileNames(hostile: String) {
    for (benign, attacked) in zip(pages(named: "Orchard"), pages(named: hostile)) {
      for byte in "<>\"".utf8 {
        #expect(
          benign.page.body.count { $0 == byte } == attacked.page.body.count { $0 == byte },
          "\(Character(Unicode.Scalar(byte))) in \(benign.name)")
      }
      #expect(tags(benign.page) == tags(attacked.page), "\(benign.name)")
      #expect(!attacked.page.body.contains(0) && !attacked.page.body.contains(0x0D))
      #expect(!String(decoding: attacked.page.body, as: UTF8.self).unicodeScalars.contains("\u{202E}"))
    }
  }

  @Test("The tests of every page look at all pages")
  func all() {
    #expect(pages(named: "Orchard").count == PageFailure.allCases.count + 14 + 17)
  }

  @Test("Two pages never share a nonce")
  func nonces() throws {
    let renderer = renderer(named: "Orchard")
    #expect(renderer.signIn().contentSecurityPolicy != renderer.signIn().contentSecurityPolicy)
  }

  @Test("Every value stands in three braces in our templates, as another implementation would need it")
  func threeBraces() {
    for name in PageTemplates.Name.allCases {
      let rest = StandardTemplates.source(name).replacing(/\{\{\{[a-zA-Z]+\}\}\}/, with: "")
      #expect(rest.firstMatch(of: /\{\{[^#\/^<>$]/) == nil, "\(name.rawValue)")
    }
  }

  @Test("Without a name, the application is called by its host")
  func defaultName() throws {
    let renderer = PageRenderer(settings: PageSettings(), host: "app.example.com:8443", prefix: "/.auth")
    #expect(
      String(decoding: renderer.signIn().body, as: UTF8.self).contains("<h1>Sign in to app.example.com:8443</h1>"))
  }

  /// The names of all tags, in their order.
  private func tags(_ page: RenderedPage) -> [Substring] {
    String(decoding: page.body, as: UTF8.self).matches(of: /<\/?[a-z0-9]+/).map(\.output)
  }
}

func renderer(named name: String, in language: PageLanguage = .english) -> PageRenderer {
  var settings = PageSettings()
  settings.applicationName = name
  settings.languages = [language]
  return PageRenderer(settings: settings, host: "books.example.com", prefix: "/.auth")
}

/// A page and what to call it when a test fails.
struct Exhibit: Sendable, CustomTestStringConvertible {
  let name: String
  let page: RenderedPage

  var testDescription: String { name }
}

/// Every page there is, of an application of this name, for a user and with a request of this name.
func pages(named name: String, in language: PageLanguage = .english) -> [Exhibit] {
  let renderer = renderer(named: name, in: language)
  let path = "/" + name
  return [
    Exhibit(name: "sign-in", page: renderer.signIn(returnTo: path)),
    Exhibit(name: "sign-out", page: renderer.signOutQuestion(user: name, returnTo: path)),
    Exhibit(name: "signed-out", page: renderer.signedOut(returnTo: path)),
    Exhibit(name: "repost", page: renderer.callbackRepost(fields: [("state", name), (name, "x")])),
    Exhibit(name: "fragment", page: renderer.callbackFragment(field: (name, name))),
    Exhibit(name: "account", page: renderer.account(.exhibit(named: name), after: .endedOne)),
    Exhibit(name: "stop", page: renderer.stopQuestion(endsConnection: true)),
    Exhibit(name: "stop-here", page: renderer.stopQuestion(endsConnection: false)),
    Exhibit(name: "not-revoked", page: renderer.notRevoked()),
    Exhibit(name: "farewell", page: renderer.farewell(after: .withConnection)),
    Exhibit(name: "farewell-here", page: renderer.farewell(after: .here)),
    Exhibit(
      name: "kept-form",
      page: renderer.keptForm(
        FormEntries(
          encoding: .multipart,
          entries: [.init(name: name, content: .text(name)), .init(name: "file", content: .noFile)]),
        account: "a", requestID: name, returnTo: path)),
    Exhibit(
      name: "kept-form-max-age",
      page: renderer.keptForm(
        FormEntries(encoding: .multipart, entries: [.init(name: name, content: .text(name))]), account: "a",
        maxAge: 60, requestID: name, returnTo: path)),
    Exhibit(name: "form-not-kept", page: renderer.formNotKept(requestID: name, returnTo: path)),
    Exhibit(name: "back-to-form", page: renderer.backToForm()),
  ]
    + accessPages(renderer, name)
    + PageFailure.allCases.map {
      Exhibit(name: $0.rawValue, page: renderer.failure($0, requestID: name, returnTo: path))
    }
}

func count(_ text: String, in whole: String) -> Int {
  whole.ranges(of: text).count
}
