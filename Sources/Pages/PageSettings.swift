/// Settings of the pages (`[pages]` of the configuration).
package struct PageSettings: Sendable, Equatable {
  /// The name of the application, for titles and the sign-in page. Default: the host of `public_url`.
  package var applicationName: String?
  /// Whether a browser without a session sees the sign-in page first (true) or goes straight to Apple (false).
  /// Default: true.
  package var showSignInPage = true
  /// The languages that pages are offered in; the first is for everybody who reads none of the others. At least one.
  /// Default: all.
  package var languages = PageLanguage.allCases

  /// Custom templates and a custom stylesheet. Default: none.
  package var templates = OwnTemplates()

  /// The defaults.
  package init() {}
}
