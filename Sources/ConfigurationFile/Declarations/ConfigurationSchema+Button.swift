import AppleIdentity

/// The table about Apple's button on the sign-in page.
extension ConfigurationSchema {
  static let pagesButton = Section<ConfigurationBuilder>(
    name: "pages.button",
    introduction: """
      Apple's button on the sign-in page: every parameter of Apple's image service. The gateway fetches the image once \
      a day and serves it, so that browsers do not contact Apple; if it is not available, the page draws the button. \
      Lengths are in points.
      """,
    entries: [
      .withDefault(
        "pages.button.apple_image", .boolean, into: \.configuration.button.usesAppleImage,
        "Whether Apple's image is fetched and shown (true), or the button is always drawn (false).",
        seeAlso: ["pages.button.base_url"]),
      .withDefault(
        "pages.button.shape", .choice, into: \.configuration.button.shape,
        """
        "centred": logo and text centred. "left": logo and text left-aligned. "logo": only the logo, a square.
        """),
      .withDefault(
        "pages.button.color", .choice, into: \.configuration.button.color,
        "\"black\", \"white\", or \"auto\": black on light pages and white on dark ones."),
      .withDefault(
        "pages.button.border", .boolean, into: \.configuration.button.border, "Whether the button has a border."),
      .withDefault(
        "pages.button.border_radius", .integer(0...50), into: \.configuration.button.borderRadius,
        "The radius of the corners.", unit: "points"),
      .withDefault(
        "pages.button.scale", .integer(1...6), into: \.configuration.button.scale,
        "Pixels per point; 3 is sharp on every screen."),
      .optional(
        "pages.button.locale", ValueType<ButtonLocale>.choice.named("locale"), into: \.configuration.button.locale,
        example: "\"en_GB\"",
        """
        The language of the text, one of Apple's: \(ButtonLocale.allCases.map(\.rawValue).joined(separator: " ")). Not \
        with the shape "logo".
        """,
        omission: "The browser's preferred language (Accept-Language), or en_US.",
        seeAlso: ["pages.languages"]),
      .optional(
        "pages.button.type", .choice, into: \.configuration.button.type, example: "\"continue\"",
        "The text: \"Sign in with Apple\" or \"Continue with Apple\". Not with the shape \"logo\".",
        omission: "\"sign-in\"."),
      .optional(
        "pages.button.width", .integer(130...375), into: \.configuration.button.width, example: "320",
        "The width. Not with the shape \"logo\".", unit: "points", omission: "320.", seeAlso: ["pages.button.size"]),
      .optional(
        "pages.button.height", .integer(30...64), into: \.configuration.button.height, example: "48",
        "The height. Not with the shape \"logo\".", unit: "points", omission: "48.", seeAlso: ["pages.button.size"]),
      .optional(
        "pages.button.label_position", .integer(0...182), into: \.configuration.button.labelPosition, example: "40",
        "The position of the text, at most half the width. Only with the shape \"left\".", unit: "points",
        omission: "0, Apple's default position."),
      .optional(
        "pages.button.logo_position", .integer(0...182), into: \.configuration.button.logoPosition, example: "12",
        "The position of the logo, at most half the width. Only with the shape \"left\".", unit: "points",
        omission: "0, Apple's default position."),
      .optional(
        "pages.button.logo_size", .choice, into: \.configuration.button.logoSize, example: "\"medium\"",
        "The size of the logo. Only with the shape \"left\".", omission: "\"small\"."),
      .optional(
        "pages.button.size", .integer(30...64), into: \.configuration.button.size, example: "48",
        "Width and height, from 30 to 64. Only with the shape \"logo\".", unit: "points", omission: "48.",
        seeAlso: ["pages.button.width"]),
      .optional(
        "pages.button.base_url",
        .appleOrigin("https://appleid.cdn-apple.com"),
        into: \.configuration.button.baseURL, example: "\"https://appleid.cdn-apple.com\"",
        "The origin of the images. Other addresses are for tests only, http: on loopback only.",
        omission: "Apple's content network; if apple.base_url is not Apple's, the button is drawn.",
        seeAlso: ["apple.base_url"]),
    ])
}
