/// What the pages say and look like (`[pages]` of the configuration).
public struct PageSettings: Sendable, Equatable {
  /// The name of the application, for titles and the sign-in page. Default: the host of `public_url`.
  public var applicationName: String?
  /// Whether a browser without a session sees the sign-in page first (true) or goes straight to Apple (false).
  /// Default: true.
  public var showSignInPage = true
  /// The languages that pages are offered in; the first is for everybody who reads none of the others. At least one.
  /// Default: all.
  public var languages = PageLanguage.allCases

  /// Templates and a stylesheet that stand in for ours. Default: none.
  public var templates = OwnTemplates()

  public init() {}
}
