import Testing

@testable import Pages

@Suite("Preferences of Accept-Language")
struct LanguagePreferencesTests {
  @Test(
    "Ranges come in the order of their weights, and in that of the field among equals",
    arguments: [
      ("de", ["de"]), ("de-AT, en;q=0.5", ["de-at", "en"]), ("en;q=0.5,de-AT", ["de-at", "en"]),
      ("fr;q=0.8, it;q=0.8 ,es;q=0.9", ["es", "fr", "it"]), ("*, JA", ["ja"]),
      (" zh-Hant-TW ; q=1.000 ", ["zh-hant-tw"]),
      ("de;q=0, en", ["en"]), ("de;q=0.000,en;q=0.001", ["en"]),
    ])
  func order(field: String, ranges: [String]) {
    #expect(LanguagePreferences(acceptLanguage: field.utf8).ranges == ranges)
  }

  @Test(
    "Malformed preferences are ignored",
    arguments: [
      "", ",", ";", "*", "de;q=2", "de;q=1.5", "de;q=-1", "de;q=", "de;q=0.0001", "de;q=a", "de_DE", "d e", "-de",
      "de-",
      "de--at", "123", "abcdefghi", "de-abcdefghi", "dé", "\u{212A}o", "de;q=99999999999999999999", "de;;q=x",
    ])
  func malformed(field: String) {
    #expect(LanguagePreferences(acceptLanguage: field.utf8).ranges == [])
  }

  @Test(
    "A range is shortened until something is found, before the next one is tried",
    arguments: [
      ("zh-Hant-TW", "zh-hant"), ("zh-Hant-HK-x-private", "zh-hant-hk"), ("zh-HK", "zh"), ("de-AT-1996,fr", "fr"),
      ("fr-x-de", "fr"), ("en-GB;q=0.9,fr-CA;q=0.8", "fr"), ("xx, zh-u-nu-hans;q=0.1", "zh"),
    ])
  func lookup(field: String, found: String) {
    let table = Dictionary(uniqueKeysWithValues: ["zh-hant", "zh-hant-hk", "zh", "fr"].map { ($0, $0) })
    #expect(LanguagePreferences(acceptLanguage: field.utf8).lookup(table) == found)
  }

  @Test("No language is found if none of the preferences matches")
  func nothing() {
    #expect(LanguagePreferences(acceptLanguage: "de, x-klingon".utf8).lookup(["en": 1]) == nil)
  }

  @Test("No bytes of Accept-Language trap, and however long it is, little of it is read")
  func anyBytes() {
    for byte in UInt8.min...UInt8.max {
      _ = LanguagePreferences(acceptLanguage: [byte])
      _ = LanguagePreferences(acceptLanguage: Array("de;q=".utf8) + [byte, byte] + Array(",-".utf8) + [byte])
    }
    let many = (0..<5_000).map { "aa-\($0)" }.joined(separator: ",")
    #expect(LanguagePreferences(acceptLanguage: many.utf8).ranges.count == 32)
    #expect(LanguagePreferences(acceptLanguage: repeatElement(UInt8(ascii: "-"), count: 100_000)).ranges == [])
  }

  @Test(
    "Every visitor gets the best of the languages that there are",
    arguments: [
      ("de-CH, fr;q=0.5", "de"), ("fr-CA", "fr"), ("es-419", "es"), ("it", "it"), ("pt-PT", "pt-BR"), ("ja-JP", "ja"),
      ("ko-KR", "ko"), ("zh-CN", "zh-Hans"), ("zh-TW, en;q=0.1", "zh-Hans"), ("ar-EG", "ar"), ("nl, sv", "en"),
      ("", "en"), ("nl, ar;q=0.1", "ar"),
    ])
  func chosen(field: String, language: String) throws {
    var settings = PageSettings()
    settings.applicationName = "Orchard"
    let all = PageRenderer(settings: settings, host: "books.example.com", prefix: "/.auth")
    let renderer = all.inLanguage(of: LanguagePreferences(acceptLanguage: field.utf8))
    let pages = [
      renderer.signIn(), renderer.signOutQuestion(), renderer.signedOut(), renderer.callbackRepost(fields: []),
      renderer.failure(.forbidden), renderer.failureJSON(.forbidden),
    ]
    for page in pages { #expect(page.fields.contains(.init("content-language", language))) }
    let direction = language == "ar" ? "rtl" : "ltr"
    #expect(String(decoding: pages[0].body, as: UTF8.self).contains("<html lang=\"\(language)\" dir=\"\(direction)\">"))
  }

  @Test("The first of the offered languages is for everybody who reads none of them")
  func offered() throws {
    var settings = PageSettings()
    settings.languages = [.japanese, .german]
    let renderer = PageRenderer(settings: settings, host: "books.example.com", prefix: "/.auth")
    for (field, language) in [("en", "ja"), ("de", "de"), ("", "ja")] {
      let page = renderer.inLanguage(of: LanguagePreferences(acceptLanguage: field.utf8)).signIn()
      #expect(page.language == language)
    }
  }
}
