import Mustache
import RandomTesting
import Testing
import WebFormats

@testable import Pages

// Our templates compared with swift-mustache, which rendered them before.
//
// - The standard templates, with any selection of their values.
// - Random templates of the subset: standalone tags, tags within lines, CR LF, comments, nested and inverted sections,
//   layouts and blocks with indentation.

@Suite("Templates, compared with swift-mustache")
struct MustacheComparisonTests {
  @Test("The standard templates render as swift-mustache renders them, whatever values there are")
  func standard() throws {
    var library = MustacheLibrary()
    for name in PageTemplates.Name.allCases {
      try library.register(StandardTemplates.source(name), named: name.rawValue)
    }
    try library.register(StandardTemplates.content, named: PageTemplates.contentName)
    let templates = PageTemplates()
    var generator = SeededNumbers(seed: 1)
    for name in PageTemplates.Name.allCases where name != .layout {
      for round in 0..<100 {
        let chosen = TemplateRules(name).values.keys.sorted()
          .filter { _ in round == 0 || round > 1 && Bool.random(using: &generator) }
        let values = Dictionary(uniqueKeysWithValues: chosen.map { ($0, round % 2 == 0 ? "<\($0)>" : "\($0)\n&") })
        let ours = text(templates.render(name.rawValue, values.mapValues(markup)))
        #expect(ours == library.render(values, withTemplate: name.rawValue), "\(name.rawValue) \(chosen)")
      }
    }
    let values = ["content": "<p>\n  x</p>\n", "title": "t", "requestID": "r"]
    #expect(
      text(templates.render(PageTemplates.contentName, values.mapValues(markup)))
        == library.render(values, withTemplate: PageTemplates.contentName))
  }

  @Test("Random templates render as swift-mustache renders them", arguments: 0..<20)
  func random(seed: Int) throws {
    var templates = RandomTemplates(seed: UInt64(seed))
    for _ in 0..<400 {
      let (layout, page, values) = templates.next()
      var library = MustacheLibrary()
      try library.register(layout, named: "layout")
      try library.register(page, named: "page")
      let ours = Template(standard: page).joined(to: Template(standard: layout)).render(values.mapValues(markup))
      let expected = library.render(values, withTemplate: "page") ?? ""
      #expect(
        ours.elementsEqual(expected.utf8),
        "\(layout.debugDescription) \(page.debugDescription) \(values): \(text(ours).debugDescription)")
    }
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
  private func markup(_ html: String) -> Markup { Markup(stringLiteral: html) }
}
