/// A locale that Apple has button images for (Apple, "Displaying Sign in with Apple buttons on the web"). The raw value
/// is the parameter `locale`.
package enum ButtonLocale: String, Sendable, CaseIterable {
  /// Arabic.
  case arabic = "ar_SA"
  /// Catalan.
  case catalan = "ca_ES"
  /// Czech.
  case czech = "cs_CZ"
  /// Danish.
  case danish = "da_DK"
  /// German.
  case german = "de_DE"
  /// Greek.
  case greek = "el_GR"
  /// English of Britain.
  case englishBritain = "en_GB"
  /// English.
  case english = "en_US"
  /// Spanish.
  case spanish = "es_ES"
  /// Spanish of Mexico.
  case spanishMexico = "es_MX"
  /// Finnish.
  case finnish = "fi_FI"
  /// French of Canada.
  case frenchCanada = "fr_CA"
  /// French.
  case french = "fr_FR"
  /// Croatian.
  case croatian = "hr_HR"
  /// Hungarian.
  case hungarian = "hu_HU"
  /// Indonesian.
  case indonesian = "id_ID"
  /// Italian.
  case italian = "it_IT"
  /// By the old code of the language.
  case hebrew = "iw_IL"
  /// Japanese.
  case japanese = "ja_JP"
  /// Korean.
  case korean = "ko_KR"
  /// Malay.
  case malay = "ms_MY"
  /// Dutch.
  case dutch = "nl_NL"
  /// Bokmål.
  case norwegian = "no_NO"
  /// Polish.
  case polish = "pl_PL"
  /// Portuguese of Brazil.
  case portugueseBrazil = "pt_BR"
  /// Portuguese.
  case portuguese = "pt_PT"
  /// Romanian.
  case romanian = "ro_RO"
  /// Russian.
  case russian = "ru_RU"
  /// Slovak.
  case slovak = "sk_SK"
  /// Swedish.
  case swedish = "sv_SE"
  /// Thai.
  case thai = "th_TH"
  /// Turkish.
  case turkish = "tr_TR"
  /// Ukrainian.
  case ukrainian = "uk_UA"
  /// Vietnamese.
  case vietnamese = "vi_VI"
  /// Chinese.
  case chinese = "zh_CN"
  /// Chinese of Hong Kong.
  case chineseHongKong = "zh_HK"
  /// Chinese of Taiwan.
  case chineseTaiwan = "zh_TW"

  /// The tag of the language (BCP 47), for `lang`.
  package var languageTag: String {
    switch self {
    case .hebrew: "he"
    case .norwegian: "nb"
    case .vietnamese: "vi"
    case .chinese: "zh-Hans"
    case .chineseHongKong: "zh-Hant-HK"
    case .chineseTaiwan: "zh-Hant-TW"
    default: String(decoding: rawValue.utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }, as: UTF8.self)
    }
  }

  /// Language tags in lower case and the locale that serves each, for the lookup of RFC 4647, 3.4: a range that
  /// is more specific is shortened until it is in this table.
  package static let byLanguageTag: [String: ButtonLocale] = {
    var table: [String: ButtonLocale] = [:]
    for locale in allCases {
      // `de_DE` serves `de`; where a language has two locales, the more common one is named below.
      let language = String(decoding: locale.rawValue.utf8.prefix(2), as: UTF8.self)
      table[language] = locale
    }
    for (tags, locale) in regional { for tag in tags { table[tag] = locale } }
    return table
  }()

  private static let regional: [([String], ButtonLocale)] = [
    (["en"], .english), (["en-gb", "en-au", "en-ie", "en-in", "en-nz", "en-za"], .englishBritain),
    (["es"], .spanish),
    (
      [
        "es-419", "es-mx", "es-us", "es-ar", "es-bo", "es-cl", "es-co", "es-cr", "es-cu", "es-do", "es-ec", "es-gt",
        "es-hn", "es-ni", "es-pa", "es-pe", "es-pr", "es-py", "es-sv", "es-uy", "es-ve",
      ], .spanishMexico
    ),
    (["fr"], .french), (["fr-ca"], .frenchCanada),
    (["he", "iw"], .hebrew), (["id", "in"], .indonesian), (["no", "nb", "nn"], .norwegian),
    (["pt"], .portugueseBrazil), (["pt-pt", "pt-ao", "pt-mz", "pt-cv"], .portuguese),
    (["zh", "zh-hans", "zh-cn", "zh-sg"], .chinese), (["zh-hant", "zh-tw"], .chineseTaiwan),
    (["zh-hk", "zh-mo", "zh-hant-hk", "zh-hant-mo", "yue"], .chineseHongKong),
  ]
}
