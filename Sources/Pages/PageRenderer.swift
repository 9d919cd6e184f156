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

  /// Fills a template in that stands in the layout, with a text as its title.
  func page(
    _ name: PageTemplates.Name, status: Int = 200, title: PageText, requestID: String? = nil,
    script: Markup? = nil, formAction: ContentSecurityPolicy.FormAction = .nowhere, style: Markup = "",
    _ content: [String: Markup]
  ) -> RenderedPage {
    page(
      name, status: status, title: text(title), requestID: requestID, script: script, formAction: formAction,
      style: style, content)
  }

  /// Fills a template in that stands in the layout.
  func page(
    _ name: PageTemplates.Name, status: Int = 200, title: Markup, requestID: String? = nil,
    script: Markup? = nil, formAction: ContentSecurityPolicy.FormAction = .nowhere, style: Markup = "",
    _ content: [String: Markup]
  ) -> RenderedPage {
    page(
      named: name.rawValue, status: status, title: title, requestID: requestID, script: script,
      formAction: formAction, style: style, content)
  }

  /// A page whose content is put together from ``Markup``, within the layout: for lists and forms that no template
  /// describes.
  /// - Parameter isWide: whether there are tables in it.
  func page(
    status: Int = 200, title: Markup, isWide: Bool = false,
    formAction: ContentSecurityPolicy.FormAction = .sameOrigin, content: Markup
  ) -> RenderedPage {
    let style = Markup(trusted: Stylesheet.controls) + (isWide ? Markup(trusted: Stylesheet.wide) : "")
    return page(
      named: PageTemplates.contentName, status: status, title: title, formAction: formAction, style: style,
      ["content": content])
  }

  /// Such a page whose script asks our own origin and submits a form to the address of the page, which may redirect
  /// anywhere.
  func page(status: Int, title: Markup, requestID: String?, script: Markup, content: Markup) -> RenderedPage {
    page(
      named: PageTemplates.contentName, status: status, title: title, requestID: requestID, script: script,
      allowsRequests: true, formAction: .unlimited, style: "", ["content": content])
  }

  private func page(
    named name: String, status: Int, title: Markup, requestID: String? = nil, script: Markup? = nil,
    allowsRequests: Bool = false, formAction: ContentSecurityPolicy.FormAction, style: Markup,
    _ content: [String: Markup]
  ) -> RenderedPage {
    var generator = SystemRandomNumberGenerator()
    let policy = ContentSecurityPolicy(
      nonce: .init(using: &generator), allowsScript: script != nil, allowsRequests: allowsRequests,
      formAction: formAction)
    let stylesheet = "\(Markup(trusted: Stylesheet.button))\(style)\(ownStylesheet)" as Markup
    var values: [String: Markup] = [
      "language": Markup(escaping: texts.language), "direction": Markup(escaping: texts.direction.rawValue),
      "title": title, "icon": Markup(trusted: Artwork.icon),
      "style": "<style nonce=\"\(policy.nonce.text)\">\n\(stylesheet)\n</style>",
      "mark": Markup(trusted: Artwork.mark), "application": Markup(escapingOwn: applicationName),
      "host": Markup(escaping: host), "requestIDLabel": text(.requestIDLabel),
    ]
    if let script { values["script"] = "<script nonce=\"\(policy.nonce.text)\">\n\(script)\n</script>" }
    if let requestID { values["requestID"] = Markup(escaping: requestID) }
    values.merge(content) { _, new in new }
    return RenderedPage(
      status: status, contentType: "text/html; charset=utf-8", language: texts.language,
      body: templates.render(name, values), contentSecurityPolicy: policy.value)
  }

  func text(_ key: PageText) -> Markup {
    Markup(escapingOwn: texts.text(key))
  }

  func text(_ key: AccessText) -> Markup {
    Markup(escapingOwn: texts.text(key))
  }
}
