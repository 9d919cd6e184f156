internal import WebFormats

/// Makes every page that Cordon itself shows. Values in, bytes out: it reads nothing and remembers nothing.
package struct PageRenderer: Sendable {
  /// The name of the application, as pages say it.
  package let applicationName: String
  let host: String
  let prefix: String
  let templates: PageTemplates
  /// The operator's, or ours.
  private let ownStylesheet: Markup
  /// The texts of the pages, in their language.
  private(set) var texts: any PageTexts
  /// By the tag that clients ask with.
  private let languages: [String: PageLanguage]
  /// Whether these are the pages of a `[[host]]`, where `sign-in` leads to `public_url`.
  let isOfHost: Bool
  /// The origin that the links of failures lead to; empty for that of the page.
  private(set) var linkOrigin = ""

  /// - Parameters:
  ///   - settings: what the operator chose.
  ///   - host: the authority of `public_url`, or of the `[[host]]`: shown on every page, and the application's name if
  ///     none was given.
  ///   - prefix: the path of our own pages, without a trailing slash, as in `/.auth`.
  ///   - isOfHost: whether these are the pages of a `[[host]]`.
  package init(settings: PageSettings, host: String, prefix: String, isOfHost: Bool = false) {
    self.isOfHost = isOfHost
    // Directional controls would turn the sentences around it.
    applicationName = Markup.withoutDirections(settings.applicationName ?? host)
    self.host = host
    self.prefix = prefix
    templates = PageTemplates(own: settings.templates)
    ownStylesheet = settings.templates.stylesheet.map(Markup.init) ?? Markup(trusted: Stylesheet.text)
    texts = (settings.languages.first ?? .english).texts
    languages = Dictionary(settings.languages.map { ($0.primaryTag, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The same pages in the language that a client likes best of those that there are.
  package func inLanguage(of preferences: LanguagePreferences) -> PageRenderer {
    guard let language = preferences.lookup(languages) else { return self }
    var renderer = self
    renderer.texts = language.texts
    return renderer
  }

  /// The same pages for another host to show: the links of failures lead back to this origin.
  package func leading(to origin: String) -> PageRenderer {
    var renderer = self
    renderer.linkOrigin = origin
    return renderer
  }

  /// Fills a template in that stands in the layout.
  func page(_ name: PageTemplates.Name, _ frame: PageFrame, _ content: [String: Markup]) -> RenderedPage {
    page(named: name.rawValue, frame, content)
  }

  /// A page whose content is put together from ``Markup``, within the layout: for lists and forms that no template
  /// describes.
  func page(_ frame: PageFrame, content: Markup) -> RenderedPage {
    page(named: PageTemplates.contentName, frame, ["content": content])
  }

  private func page(named name: String, _ frame: PageFrame, _ content: [String: Markup]) -> RenderedPage {
    var generator = SystemRandomNumberGenerator()
    let policy = ContentSecurityPolicy(
      nonce: .init(using: &generator), allowsScript: frame.script != nil, allowsRequests: frame.allowsRequests,
      formAction: frame.formAction)
    let stylesheet = "\(Markup(trusted: Stylesheet.button))\(frame.style)\(ownStylesheet)" as Markup
    var values: [String: Markup] = [
      "language": Markup(escaping: texts.language), "direction": Markup(escaping: texts.direction.rawValue),
      "title": frame.title, "icon": Markup(trusted: Artwork.icon),
      "style": "<style nonce=\"\(policy.nonce.text)\">\n\(stylesheet)\n</style>",
      "mark": Markup(trusted: Artwork.mark), "application": Markup(escapingOwn: applicationName),
      "host": Markup(escaping: host), "requestIDLabel": text(.requestIDLabel),
    ]
    if let script = frame.script { values["script"] = "<script nonce=\"\(policy.nonce.text)\">\n\(script)\n</script>" }
    if let requestID = frame.requestID { values["requestID"] = Markup(escaping: requestID) }
    values.merge(content) { _, new in new }
    return RenderedPage(
      status: frame.status, contentType: "text/html; charset=utf-8", language: texts.language,
      body: templates.render(name, values), contentSecurityPolicy: policy.value)
  }

  func text(_ key: PageText) -> Markup {
    Markup(escapingOwn: texts.text(key))
  }

  func text(_ key: AccessText) -> Markup {
    Markup(escapingOwn: texts.text(key))
  }
}
