/// A locale that Apple has button images for (Apple, "Displaying Sign in with Apple buttons on the web"). The raw value
/// is the parameter `locale`.
public enum ButtonLocale: String, Sendable, CaseIterable {
  case arabic = "ar_SA"
  case catalan = "ca_ES"
  case czech = "cs_CZ"
  case danish = "da_DK"
  case german = "de_DE"
  case greek = "el_GR"
  case englishBritain = "en_GB"
  case english = "en_US"
  case spanish = "es_ES"
  case spanishMexico = "es_MX"
  case finnish = "fi_FI"
  case frenchCanada = "fr_CA"
  case french = "fr_FR"
  case croatian = "hr_HR"
  case hungarian = "hu_HU"
  case indonesian = "id_ID"
  case italian = "it_IT"
  /// By the old code of the language.
  case hebrew = "iw_IL"
  case japanese = "ja_JP"
  case korean = "ko_KR"
  case malay = "ms_MY"
  case dutch = "nl_NL"
  /// Bokmål.
  case norwegian = "no_NO"
  case polish = "pl_PL"
  case portugueseBrazil = "pt_BR"
  case portuguese = "pt_PT"
  case romanian = "ro_RO"
  case russian = "ru_RU"
  case slovak = "sk_SK"
  case swedish = "sv_SE"
  case thai = "th_TH"
  case turkish = "tr_TR"
  case ukrainian = "uk_UA"
  case vietnamese = "vi_VI"
  case chinese = "zh_CN"
  case chineseHongKong = "zh_HK"
  case chineseTaiwan = "zh_TW"

  /// The tag of the language (BCP 47), for `lang`.
  public var languageTag: String {
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

  /// Language tags in lower case and the locale that serves each, for the lookup of RFC 4647 section 3.4: a range that
  /// is more particular is shortened until it stands here.
  public static let byLanguageTag: [String: ButtonLocale] = {
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
