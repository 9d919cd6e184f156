import Testing

@testable import AppleIdentity

@Suite("The button's parameters")
struct ButtonSettingsTests {
  /// A change that makes defaults wrong, and the key that is to be blamed.
  struct Mistake: Sendable {
    let key: String
    let change: @Sendable (inout ButtonSettings) -> Void

    init(_ key: String, change: @escaping @Sendable (inout ButtonSettings) -> Void) {
      self.key = key
      self.change = change
    }
  }

  private static func settings(_ change: (inout ButtonSettings) -> Void) -> ButtonSettings {
    var settings = ButtonSettings()
    change(&settings)
    return settings
  }

  @Test("The defaults of every shape are valid", arguments: ButtonSettings.Shape.allCases)
  func defaults(shape: ButtonSettings.Shape) {
    #expect(Self.settings { $0.shape = shape }.problems.isEmpty)
  }

  @Test("The ends of Apple's ranges are valid")
  func ends() {
    let small = Self.settings {
      ($0.width, $0.height, $0.borderRadius, $0.scale) = (130, 30, 0, 1)
    }
    let large = Self.settings {
      $0.shape = .left
      ($0.width, $0.height, $0.borderRadius, $0.scale) = (375, 64, 50, 6)
      ($0.labelPosition, $0.logoPosition) = (182, 0)
    }
    #expect(small.problems.isEmpty && large.problems.isEmpty)
  }

  @Test(
    "A setting that Apple would answer with 404 is a problem at its key",
    arguments: [
      Mistake("width") { $0.width = 129 }, Mistake("width") { $0.width = 376 }, Mistake("height") { $0.height = 29 },
      Mistake("height") { $0.height = 65 }, Mistake("border_radius") { $0.borderRadius = 51 },
      Mistake("border_radius") { $0.borderRadius = -1 },
      Mistake("scale") { $0.scale = 0 }, Mistake("scale") { $0.scale = 7 },
      Mistake("size") { $0.size = 48 }, Mistake("label_position") { $0.labelPosition = 0 },
      Mistake("logo_position") { $0.logoPosition = 0 },
      Mistake("logo_size") { $0.logoSize = .large },
      Mistake("size") { ($0.shape, $0.size) = (.logo, 65) }, Mistake("width") { ($0.shape, $0.width) = (.logo, 140) },
      Mistake("height") { ($0.shape, $0.height) = (.logo, 40) },
      Mistake("type") { ($0.shape, $0.type) = (.logo, .proceed) },
      Mistake("locale") { ($0.shape, $0.locale) = (.logo, .german) },
      Mistake("label_position") { ($0.shape, $0.width, $0.labelPosition) = (.left, 140, 71) },
      Mistake("logo_position") { ($0.shape, $0.width, $0.logoPosition) = (.left, 375, 183) },
      Mistake("base_url") { $0.baseURL = "http://example.com" },
      Mistake("base_url") { $0.baseURL = "https://example.com/?" },
      Mistake("base_url") { ($0.baseURL, $0.usesAppleImage) = ("https://example.com", false) },
    ])
  func problems(mistake: Mistake) throws {
    let problems = Self.settings(mistake.change).problems
    #expect(problems.map(\.key) == ["pages.button.\(mistake.key)"])
    #expect(problems.allSatisfy { !$0.problem.isEmpty && !$0.remedy.isEmpty })
  }

  @Test("An image is asked for with the parameters of its shape")
  func paths() {
    let german = ButtonVariant(locale: .german, isWhite: false)
    #expect(
      ButtonSettings().imagePath(german)
        == "/appleid/button?color=black&border=false&border_radius=12&scale=3&width=320&height=48&type=sign-in"
        + "&locale=de_DE")
    let left = Self.settings {
      $0.shape = .left
      ($0.type, $0.border, $0.labelPosition, $0.logoPosition, $0.logoSize) = (.proceed, true, 7, 0, .medium)
    }
    #expect(
      left.imagePath(ButtonVariant(locale: .hebrew, isWhite: true))
        == "/appleid/button/left?color=white&border=true&border_radius=12&scale=3&width=320&height=48&type=continue"
        + "&locale=iw_IL&label-position=7&logo-position=0&logo-size=medium")
    #expect(
      Self.settings { ($0.shape, $0.size) = (.logo, 40) }.imagePath(german)
        == "/appleid/button/logo?color=black&border=false&border_radius=12&scale=3&size=40")
  }

  @Test(
    "Language tags lead to Apple's locales",
    arguments: [
      ("zh-hant", "zh_TW"), ("zh-hk", "zh_HK"), ("zh-hant-hk", "zh_HK"), ("zh", "zh_CN"), ("he", "iw_IL"),
      ("iw", "iw_IL"),
      ("nb", "no_NO"), ("nn", "no_NO"), ("no", "no_NO"), ("en", "en_US"), ("en-gb", "en_GB"), ("es-419", "es_MX"),
      ("es", "es_ES"), ("fr-ca", "fr_CA"), ("fr", "fr_FR"), ("pt", "pt_BR"), ("pt-pt", "pt_PT"), ("id", "id_ID"),
      ("uk", "uk_UA"),
    ])
  func locales(tag: String, locale: String) {
    #expect(ButtonLocale.byLanguageTag[tag]?.rawValue == locale)
  }

  @Test("Every locale can be reached, and has words and a language tag of its own", arguments: ButtonLocale.allCases)
  func everyLocale(locale: ButtonLocale) {
    #expect(ButtonLocale.byLanguageTag.values.contains(locale))
    #expect(ButtonLocale.byLanguageTag.keys.allSatisfy { $0 == $0.lowercased() })
    for kind in ButtonSettings.Kind.allCases { #expect(locale.title(kind).contains("Apple")) }
    #expect(locale.title(.signIn) != locale.title(.proceed))
    #expect(!locale.languageTag.contains("_"))
  }
}
