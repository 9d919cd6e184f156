/// A language that the pages speak. The raw value is its tag (BCP 47), as `lang` and `Content-Language` say it.
package enum PageLanguage: String, Sendable, CaseIterable {
  /// The first of the default languages.
  case english = "en"
  /// In formal address.
  case german = "de"
  /// In formal address, with its spaces before punctuation.
  case french = "fr"
  /// In informal address, understood on both sides of the Atlantic.
  case spanish = "es"
  /// In informal address.
  case italian = "it"
  /// As it is written in Brazil.
  case portuguese = "pt-BR"
  /// In polite form.
  case japanese = "ja"
  /// In formal polite form.
  case korean = "ko"
  /// In simplified characters.
  case chinese = "zh-Hans"
  /// Written from right to left.
  case arabic = "ar"

  /// The tag that a client's range is looked up by, in lower case: the language alone, so that `pt-PT` reads Portuguese
  /// and `zh-TW` Chinese rather than English.
  var primaryTag: String {
    switch self {
    case .portuguese: "pt"
    case .chinese: "zh"
    default: rawValue
    }
  }

  var texts: any PageTexts {
    switch self {
    case .english: EnglishTexts()
    case .german: GermanTexts()
    case .french: FrenchTexts()
    case .spanish: SpanishTexts()
    case .italian: ItalianTexts()
    case .portuguese: PortugueseTexts()
    case .japanese: JapaneseTexts()
    case .korean: KoreanTexts()
    case .chinese: ChineseTexts()
    case .arabic: ArabicTexts()
    }
  }
}
