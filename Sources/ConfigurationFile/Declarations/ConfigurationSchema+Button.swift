import AppleIdentity

/// The table about Apple's button on the sign-in page.
extension ConfigurationSchema {
  static let pagesButton = Section<ConfigurationBuilder>(
    name: "pages.button",
    introduction: """
      Apple's button on the sign-in page: every parameter of Apple's image service. The image is fetched once a day and \
      served by the gateway, so that no browser asks Apple for it; until it is there, or if it cannot be had, the page \
      draws the button. Lengths are in points.
      """,
    entries: [
      .withDefault(
        "pages.button.apple_image", .boolean, into: \.configuration.button.usesAppleImage,
        "Whether Apple's image is fetched and shown (true), or the button is always drawn (false).",
        seeAlso: ["pages.button.base_url"]),
      .withDefault(
        "pages.button.shape", .choice, into: \.configuration.button.shape,
        """
        "centred": logo and words in the middle. "left": the logo, and then the words, from the left. "logo": the logo \
        alone, a square.
        """),
      .withDefault(
        "pages.button.color", .choice, into: \.configuration.button.color,
        "\"black\", \"white\", or \"auto\": black on light pages and white on dark ones."),
      .withDefault(
        "pages.button.border", .boolean, into: \.configuration.button.border, "Whether there is a line around it."),
      .withDefault(
        "pages.button.border_radius", .integer(0...50), into: \.configuration.button.borderRadius,
        "How round its corners are.", unit: "points"),
      .withDefault(
        "pages.button.scale", .integer(1...6), into: \.configuration.button.scale,
        "How many pixels of the image stand for a point; 3 is sharp on every screen."),
      .absent(
        "pages.button.locale", ValueType<ButtonLocale>.choice.named("locale"), into: \.configuration.button.locale,
        example: "\"en_GB\"",
        """
        The language of the words, one of Apple's: \(ButtonLocale.allCases.map(\.rawValue).joined(separator: " ")). Not \
        with the shape "logo".
        """,
        omission: "Each visitor gets the one that the browser prefers (Accept-Language), and en_US without any.",
        seeAlso: ["pages.languages"]),
      .absent(
        "pages.button.type", .choice, into: \.configuration.button.type, example: "\"continue\"",
        "What the words say: \"Sign in with Apple\" or \"Continue with Apple\". Not with the shape \"logo\".",
        omission: "\"sign-in\"."),
      .absent(
        "pages.button.width", .integer(130...375), into: \.configuration.button.width, example: "320",
        "Its width. Not with the shape \"logo\".", unit: "points", omission: "320.", seeAlso: ["pages.button.size"]),
      .absent(
        "pages.button.height", .integer(30...64), into: \.configuration.button.height, example: "48",
        "Its height. Not with the shape \"logo\".", unit: "points", omission: "48.", seeAlso: ["pages.button.size"]),
      .absent(
        "pages.button.label_position", .integer(0...182), into: \.configuration.button.labelPosition, example: "40",
        "Where the words begin, at most half the width. Only with the shape \"left\".", unit: "points",
        omission: "0, Apple's own place."),
      .absent(
        "pages.button.logo_position", .integer(0...182), into: \.configuration.button.logoPosition, example: "12",
        "Where the logo begins, at most half the width. Only with the shape \"left\".", unit: "points",
        omission: "0, Apple's own place."),
      .absent(
        "pages.button.logo_size", .choice, into: \.configuration.button.logoSize, example: "\"medium\"",
        "How large the logo is. Only with the shape \"left\".", omission: "\"small\"."),
      .absent(
        "pages.button.size", .integer(30...64), into: \.configuration.button.size, example: "48",
        "Width and height. Only with the shape \"logo\".", unit: "points", omission: "48.",
        seeAlso: ["pages.button.width"]),
      .absent(
        "pages.button.base_url",
        .words("origin", expected: "an origin, as in \"https://appleid.cdn-apple.com\""),
        into: \.configuration.button.baseURL, example: "\"https://appleid.cdn-apple.com\"",
        "Where images are fetched from. Another address is for tests only, plain http: on loopback only.",
        omission: "Apple's content network; where apple.base_url is not Apple's, nowhere: the button is drawn.",
        seeAlso: ["apple.base_url"]),
    ])
}
