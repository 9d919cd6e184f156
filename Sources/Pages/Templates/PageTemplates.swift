internal import WebFormats

/// The templates of all pages, each within its layout: custom ones, and the standard ones of the other pages.
struct PageTemplates: Sendable {
  /// A template, by the name that its file has without `.mustache`.
  enum Name: String, CaseIterable {
    case layout
    case signIn = "sign-in"
    case signOut = "sign-out"
    case signedOut = "signed-out"
    case failure, repost, fragment
    case account
    /// A question of the account page, and what became of it.
    case question, notice
  }

  /// Nil for the standard templates alone, which all renderers share.
  private let pages: [String: Template]?

  /// The standard templates, parsed for the first page: a gateway that starts has none to show.
  private static let standard = pages(with: OwnTemplates())

  init(own: OwnTemplates = OwnTemplates()) {
    pages = own.templates.isEmpty ? nil : Self.pages(with: own)
  }

  private static func pages(with own: OwnTemplates) -> [String: Template] {
    func template(_ name: Name) -> Template {
      own.templates[name] ?? Template(standard: StandardTemplates.source(name))
    }
    let layout = template(.layout)
    var pages = [contentName: Template(standard: StandardTemplates.content).joined(to: layout)]
    for name in Name.allCases where name != .layout { pages[name.rawValue] = template(name).joined(to: layout) }
    return pages
  }

  /// The name of the template for content that is put together elsewhere. No custom file can replace it.
  static let contentName = "content"

  /// Fills a template in. A value that is missing is an empty text, and its section is left out.
  func render(_ name: String, _ values: [String: Markup]) -> [UInt8] {
    (pages ?? Self.standard)[name]?.render(values) ?? []
  }
}

extension Template {
  /// Our own template. A test ensures that each can be parsed.
  init(standard source: String) {
    var scanner = TemplateScanner(Array(source.utf8))
    var pieces: [TemplateScanner.Piece] = []
    do throws(TemplateScanner.SyntaxError) {
      while let piece = try scanner.next() { pieces.append(piece) }
    } catch {
      preconditionFailure("a standard template is malformed: \(error)")
    }
    self = TemplateParser.parse(pieces)
  }
}
