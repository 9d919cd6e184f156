import Mustache

/// The templates, parsed once: ours, and the operator's own in their places. Every value arrives as ``Markup``, escaped
/// already: that is why each stands in three braces, and why a test refuses two.
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

  private let library: MustacheLibrary

  /// - Throws: the parser's complaint, if one of the templates is no template.
  init(own: OwnTemplates = OwnTemplates()) throws {
    var library = MustacheLibrary()
    for name in Name.allCases {
      try library.register(own.sources[name] ?? StandardTemplates.source(name), named: name.rawValue)
    }
    try library.register(StandardTemplates.content, named: Self.contentName)
    self.library = library
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
    Array((library.render(values.mapValues(\.html), withTemplate: name) ?? "").utf8)
  }
}
