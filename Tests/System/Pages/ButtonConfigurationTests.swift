import Foundation
import TemporaryDirectoryTesting
import Testing

// Apple's button as the configuration has it, through the real process.
//
// - Each shape's every parameter reaches Apple's image service, which refuses what is not in its table with 404.
// - Each of Apple's locales is the one of a visitor whose browser prefers it.
// - What Apple would refuse is a mistake of the configuration: at its line, with the reason and what to write.

@SystemActor
@Suite("Apple's button by configuration")
struct ButtonConfigurationTests {
  nonisolated struct Shape: Sendable, CustomTestStringConvertible {
    let name: String
    let path: String
    /// As they stand in the file.
    let settings: [String: String]
    /// As Apple is asked.
    let query: [String: String]
    var testDescription: String { name }
  }

  nonisolated static let shapes = [
    Shape(
      name: "centred", path: "/appleid/button",
      settings: [
        "width": "375", "height": "64", "type": "\"continue\"", "locale": "\"en_GB\"", "color": "\"white\"",
        "border": "true", "border_radius": "50", "scale": "2",
      ],
      query: [
        "width": "375", "height": "64", "type": "continue", "locale": "en_GB", "color": "white", "border": "true",
        "border_radius": "50", "scale": "2",
      ]),
    Shape(
      name: "left", path: "/appleid/button/left",
      settings: [
        "width": "140", "height": "30", "type": "\"sign-in\"", "locale": "\"fr_CA\"", "color": "\"black\"",
        "border": "false", "border_radius": "0", "scale": "1", "label_position": "70", "logo_position": "9",
        "logo_size": "\"large\"",
      ],
      query: [
        "width": "140", "height": "30", "type": "sign-in", "locale": "fr_CA", "color": "black", "border": "false",
        "border_radius": "0", "scale": "1", "label-position": "70", "logo-position": "9", "logo-size": "large",
      ]),
    Shape(
      name: "logo", path: "/appleid/button/logo",
      settings: ["size": "40", "color": "\"black\"", "border": "true", "border_radius": "20", "scale": "1"],
      query: ["size": "40", "color": "black", "border": "true", "border_radius": "20", "scale": "1"]),
  ]

  private func site(_ shape: String, _ settings: [String: String]) throws -> Site {
    try Site(adjust: {
      $0["pages.button", "base_url"] = $0["apple", "base_url"]
      $0["pages.button", "shape"] = "\"\(shape)\""
      for (key, value) in settings { $0["pages.button", key] = value }
    })
  }

  private func page(_ site: Site, _ language: String) throws -> String {
    try site.gateway.client.get("/.auth/sign-in", fields: [("Accept", "text/html"), ("Accept-Language", language)]).text
  }

  /// The image of the page, once it is there.
  private func image(_ site: Site, _ language: String = "en") throws -> String {
    try poll("the page with Apple's image") {
      try page(site, language).firstMatch(of: /<img src="(\/\.auth\/button\?[^"]+)"/)
        .map { $0.1.replacingOccurrences(of: "&amp;", with: "&") }
    }
  }

  @Test("Every parameter of a shape is asked of Apple as it is configured, and its image is served", arguments: shapes)
  func parameters(shape: Shape) throws {
    let site = try site(shape.name, shape.settings)
    defer { site.stop() }
    let path = try image(site)
    #expect(try site.gateway.client.get(path).status == 200)
    let asked = try site.apple.requests(at: shape.path)
    #expect(!asked.isEmpty && asked.allSatisfy { $0.status == 200 && $0.query == shape.query }, "\(asked)")
  }

  @Test("Each of Apple's locales is the button's for a visitor who prefers it, whatever the page is written in")
  func locales() throws {
    let site = try site("centred", ["scale": "1", "color": "\"black\""])
    defer { site.stop() }
    let locales = [
      "ar": "ar_SA", "ca": "ca_ES", "cs": "cs_CZ", "da": "da_DK", "de": "de_DE", "el": "el_GR", "en-GB": "en_GB",
      "en-US": "en_US", "es-ES": "es_ES", "es-MX": "es_MX", "fi": "fi_FI", "fr-CA": "fr_CA", "fr": "fr_FR",
      "hr": "hr_HR", "hu": "hu_HU", "id": "id_ID", "it": "it_IT", "he": "iw_IL", "ja": "ja_JP", "ko": "ko_KR",
      "ms": "ms_MY", "nl": "nl_NL", "nb": "no_NO", "pl": "pl_PL", "pt-BR": "pt_BR", "pt-PT": "pt_PT", "ro": "ro_RO",
      "ru": "ru_RU", "sk": "sk_SK", "sv": "sv_SE", "th": "th_TH", "tr": "tr_TR", "uk": "uk_UA", "vi": "vi_VI",
      "zh-CN": "zh_CN", "zh-HK": "zh_HK", "zh-TW": "zh_TW",
    ]
    #expect(Set(locales.values).count == 37, "as many as Apple's page lists")
    for (language, locale) in locales {
      let field = "\(language),xx;q=0.9"
      #expect(try image(site, field).contains("locale=\(locale)&"), "\(language)")
    }
    let asked = try site.apple.requests(at: "/appleid/button")
    #expect(Set(asked.compactMap { $0.query["locale"] }) == Set(locales.values))
    #expect(asked.count == locales.count && asked.allSatisfy { $0.status == 200 })
  }

  @Test(
    "A setting that Apple would refuse is a mistake at its line, with the reason and the remedy",
    arguments: [
      ("centred", "width", "129", "write a number from 130 to 375"),
      ("centred", "width", "376", "write a number from 130 to 375"),
      ("centred", "height", "29", "write a number from 30 to 64"),
      ("centred", "height", "65", "write a number from 30 to 64"),
      ("centred", "border_radius", "51", "write a number from 0 to 50"),
      ("centred", "scale", "0", "write a number from 1 to 6"), ("centred", "scale", "7", "write a number from 1 to 6"),
      ("centred", "border", "\"yes\"", "write true or false"), ("centred", "color", "\"red\"", "write one of"),
      ("centred", "type", "\"sign-up\"", "write one of"), ("centred", "locale", "\"de_AT\"", "de_DE"),
      ("centred", "label_position", "1", "shape to \"left\""), ("centred", "logo_position", "1", "shape to \"left\""),
      ("centred", "logo_size", "\"small\"", "shape to \"left\""), ("centred", "size", "40", "shape to \"logo\""),
      ("left", "label_position", "161", "write a number from 0 to 160"),
      ("left", "logo_position", "183", "write a number from 0 to 182"),
      ("left", "logo_size", "\"huge\"", "write one of"),
      ("logo", "size", "65", "write a number from 30 to 64"), ("logo", "width", "140", "pages.button.size"),
      ("logo", "height", "40", "\"centred\" or \"left\""), ("logo", "type", "\"continue\"", "\"centred\" or \"left\""),
      ("logo", "locale", "\"de_DE\"", "\"centred\" or \"left\""), ("round", "scale", "1", "write one of"),
    ])
  func mistakes(shape: String, key: String, value: String, remedy: String) throws {
    let directory = try TemporaryDirectory()
    var configuration = try GatewayConfiguration()
    configuration.ending = "[pages.button]\nshape = \"\(shape)\"\n\(key) = \(value)\n"
    let file = try configuration.install(in: directory)
    let result = try ServerProcess.run(
      Machine.binary("cordon"), ["check", "--config", file], directory: directory.path)
    let said = result.standardOutput + result.standardError
    #expect(result.exit == .code(78), "\(said)")
    let lines = said.split(separator: "\n").filter { $0.contains("pages.button.") && $0.contains(remedy) }
    #expect(lines.count == 1, "\(said)")
    let text = try String(contentsOfFile: file, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
    let wrong = shape == "round" ? "shape = " : "\(key) = "
    let place = try #require(text.lastIndex { $0.hasPrefix(wrong) }) + 1
    #expect(lines.first?.contains(":\(place):") == true, "\(said)")
  }
}
