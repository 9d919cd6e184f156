import Pages

/// The tables about the gateway's pages, and the headers of all responses.
extension ConfigurationSchema {
  static let pages = Section<ConfigurationBuilder>(
    name: "pages", introduction: "The gateway's own pages.",
    entries: [
      .optional(
        "pages.application_name", applicationName,
        into: \.configuration.pages.applicationName, example: "\"Example Orders\"",
        "The application's name on the sign-in page and in titles.",
        omission: "The host of public_url."),
      .withDefault(
        "pages.show_sign_in_page", .boolean, into: \.configuration.pages.showSignInPage,
        """
        Whether a browser without a session gets the sign-in page first (true) or is redirected to Apple (false). \
        Without the page the fragment of the wanted address is lost; it is shown all the same for a link of another \
        site whose address has more than 512 bytes, which would be lost otherwise.
        """),
      .withDefault(
        "pages.languages", ValueType<PageLanguage>.choice.named("language").list(),
        into: \.configuration.pages.languages,
        """
        The languages of the pages: en, de, fr, es, it, pt-BR, ja, ko, zh-Hans, ar. The browser's preference selects \
        one (Accept-Language); the first of the list is the default.
        """, seeAlso: ["pages.button.locale"]),
      .optional(
        "pages.templates", .folder, into: \.templates, example: "\"pages\"",
        """
        A folder with custom Mustache templates and a stylesheet, which replace the built-in ones of the same name: \
        layout.mustache, sign-in.mustache, sign-out.mustache, signed-out.mustache, failure.mustache, repost.mustache, \
        fragment.mustache, account.mustache, question.mustache, notice.mustache, style.css. See Documentation/PAGES.md.
        """, omission: "The built-in templates."),
    ])

  static let headers = Section<ConfigurationBuilder>(
    name: "headers",
    introduction: """
      Response headers that are added to every response, the gateway's own pages and redirects included. One that the \
      application sets itself stays as it is. Headers for caches, such as Cache-Control, are added to responses of the \
      application only: the gateway's own say themselves whether they may be kept.
      """,
    entries: [
      .withDefault(
        "headers", .responseHeaders, into: \.configuration.responseHeaders,
        """
        The headers with their values, as in Strict-Transport-Security = "max-age=31536000". Not those that frame a \
        message or that the gateway writes itself, among them the names of [identity.headers].
        """)
    ])
}
