import Mustache

/// The templates, each parsed once: ours, and the operator's own in their places. Every value arrives as ``Markup``,
/// escaped already: that is why each stands in three braces, and why a test refuses two.
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
  private let library: MustacheLibrary?

  /// The standard templates, parsed for the first page: a gateway that starts has none to show.
  private static let standard: MustacheLibrary = {
    do { return try parse(OwnTemplates()) } catch { preconditionFailure("a standard template is malformed: \(error)") }
  }()

  /// - Throws: the parser's complaint, if one of the operator's templates is no template.
  init(own: OwnTemplates = OwnTemplates()) throws {
    library = own.sources.isEmpty ? nil : try Self.parse(own)
  }

  private static func parse(_ own: OwnTemplates) throws -> MustacheLibrary {
    var library = MustacheLibrary()
    for name in Name.allCases {
      try library.register(own.sources[name] ?? StandardTemplates.source(name), named: name.rawValue)
    }
    try library.register(StandardTemplates.content, named: contentName)
    return library
  }

  /// The name of the template for content that is put together elsewhere. No file can stand in for it.
  static let contentName = "content"

  /// One template alone, to see whether it is one.
  /// - Throws: the parser's complaint.
  init(parsing source: String) throws {
    library = MustacheLibrary(templates: [PageTemplates.Name.layout.rawValue: try MustacheTemplate(string: source)])
  }

  /// Fills a template in. A value that is not there is an empty text, and its section is left out.
  func render(_ name: String, _ values: [String: Markup]) -> [UInt8] {
    Array(((library ?? Self.standard).render(values.mapValues(\.html), withTemplate: name) ?? "").utf8)
  }
}
