import Testing

@testable import Pages

@Suite("Translations")
struct TranslationTests {
  static let keys: [PageText] = [
    .signInTitle(application: name), .signInExplanation(application: name), .signOutQuestion(application: name),
    .signedInAs, .signOutExplanation, .signOutButton, .stayButton, .signedOutTitle,
    .signedOutExplanation(application: name), .signInAgainButton, .signInButton, .repostTitle, .repostExplanation,
    .continueButton, .tryAgainButton, .startPageButton, .otherAccountButton, .requestIDLabel,
    .failureTitle(heading: "Heading", application: name),
  ]
  private static let name = "Orchard"

  @Test("Every text is there, is not English, and has no stray white space", arguments: PageLanguage.allCases)
  func texts(language: PageLanguage) {
    let texts = language.texts
    #expect(texts.language == language.rawValue)
    for key in Self.keys {
      let text = texts.text(key)
      #expect(isTidy(text), "\(language) \(key)")
      #expect(text.utf8.count > 1, "\(language) \(key)")
      if language != .english, key != .failureTitle(heading: "Heading", application: Self.name), key != .requestIDLabel
      {
        #expect(text != EnglishTexts().text(key), "\(language) \(key)")
      }
    }
  }

  @Test(
    "Every text about forms is there, translated and tidy", arguments: PageLanguage.allCases)
  func forms(language: PageLanguage) {
    for key in FormText.allCases {
      let text = language.texts.text(key)
      #expect(isTidy(text) && text.count > 2, "\(language) \(key)")
      #expect(language == .english || text != EnglishTexts().text(key), "\(language) \(key)")
    }
  }

  @Test("The application is called by its name wherever English does", arguments: PageLanguage.allCases)
  func names(language: PageLanguage) {
    let texts = language.texts
    for key in Self.keys where EnglishTexts().text(key).contains(Self.name) {
      #expect(texts.text(key).contains(Self.name), "\(language) \(key)")
    }
    for failure in PageFailure.allCases {
      let (english, said) = (
        EnglishTexts().text(failure, application: Self.name), texts.text(failure, application: Self.name)
      )
      #expect(english.heading.contains(Self.name) == said.heading.contains(Self.name), "\(language) \(failure)")
      if english.advice?.contains(Self.name) == true {
        #expect(said.advice?.contains(Self.name) == true, "\(language) \(failure)")
      }
    }
  }

  @Test("Every failure has words of its own, and advice where English gives any", arguments: PageLanguage.allCases)
  func failures(language: PageLanguage) {
    var headings: Set<String> = []
    for failure in PageFailure.allCases {
      let text = language.texts.text(failure, application: Self.name)
      #expect(isTidy(text.heading) && isTidy(text.explanation) && isTidy(text.advice ?? "x"), "\(language) \(failure)")
      #expect(text.heading.count <= 60, "a heading is a few words: \(language) \(failure)")
      #expect(headings.insert(text.heading).inserted, "\(language) \(failure)")
      let english = EnglishTexts().text(failure, application: Self.name)
      #expect((text.advice == nil) == (english.advice == nil), "\(language) \(failure)")
      #expect(language == .english || text.explanation != english.explanation, "\(language) \(failure)")
    }
  }

  @Test(
    "Texts are written in the script of their language",
    arguments: [
      (.japanese, 0x3040...0x30FF), (.korean, 0xAC00...0xD7AF), (.chinese, 0x4E00...0x9FFF), (.arabic, 0x0600...0x06FF),
    ] as [(PageLanguage, ClosedRange<UInt32>)])
  func scripts(language: PageLanguage, script: ClosedRange<UInt32>) {
    for failure in PageFailure.allCases {
      let text = language.texts.text(failure, application: Self.name)
      for part in [text.heading, text.explanation, text.advice ?? text.heading] {
        #expect(part.unicodeScalars.contains { script.contains($0.value) }, "\(language) \(failure): \(part)")
      }
    }
  }

  @Test("Every page of every language has the structure of the English one", arguments: PageLanguage.allCases)
  func structure(language: PageLanguage) {
    for (english, translated) in zip(pages(named: "Orchard"), pages(named: "Orchard", in: language)) {
      #expect(tags(english.page) == tags(translated.page), "\(language) \(english.name)")
    }
  }

  @Test("A Latin name does not turn an Arabic sentence around it, whatever directions stand in it")
  func isolation() throws {
    let page = renderer(named: "Or\u{2069}chard\u{202E}", in: .arabic).signIn()
    let html = String(decoding: page.body, as: UTF8.self)
    #expect(html.contains("تسجيل الدخول إلى \u{2068}Orchard\u{2069}</h1>"))
  }

  @Test(
    "Each language speaks to the visitor in one way, and has one word for the operator",
    arguments: [
      (.german, #"\b([Dd]u|[Dd]eine?\w?|[Kk]onto)\b"#), (.french, #"\b([Tt]u|[Tt]es|[Tt]on|(le|son) responsable)\b"#),
      (.spanish, #"\b([Uu]sted|[Ss]us? (sesi|cuenta|nombre|direcci|formulario)|Inicie|Vuelva|Ha |gestionan?\b)"#),
      (.italian, #"\b([Ll]ei|[Vv]ostr[aoei]|gestore)\b"#), (.portuguese, #"\b([Tt]uas?|responsável|conta Apple)\b"#),
      (.japanese, "運営者"), (.korean, "운영자|하세요|[은과을이]\\([는와를가]\\)"), (.chinese, "您|运营者|管理人员"),
      (.arabic, "المشغّلة"),
    ] as [(PageLanguage, String)])
  func address(language: PageLanguage, foreign: String) throws {
    let pattern = try Regex(foreign)
    for exhibit in pages(named: "Orchard", in: language) {
      let words = words(exhibit.page)
      #expect(try pattern.firstMatch(in: words) == nil, "\(language) \(exhibit.name): \(words)")
    }
  }

  @Test("French has no space that a line may break at before its marks or inside its quotation marks")
  func frenchSpaces() {
    for exhibit in pages(named: "Orchard", in: .french) {
      let words = words(exhibit.page)
      #expect(words.firstMatch(of: /([^ ] [;:?!»]|«[ ])/) == nil, "\(exhibit.name): \(words)")
    }
  }

  /// The text of a page, without its style, scripts and tags.
  private func words(_ page: RenderedPage) -> String {
    String(decoding: page.body, as: UTF8.self)
      .replacing(/(?s)<(style|script)[^>]*>.*?<\/(style|script)>/, with: "").replacing(/<[^>]*>/, with: "\n")
  }

  private func isTidy(_ text: String) -> Bool {
    guard let first = text.unicodeScalars.first, let last = text.unicodeScalars.last else { return false }
    return first != " " && last != " " && !text.contains("  ") && !text.unicodeScalars.contains("\u{FFFD}")
  }

  private func tags(_ page: RenderedPage) -> [Substring] {
    String(decoding: page.body, as: UTF8.self).matches(of: /<\/?[a-z0-9]+/).map(\.output)
  }
}
