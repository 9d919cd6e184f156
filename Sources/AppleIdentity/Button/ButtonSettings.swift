/// The appearance of Apple's button on the sign-in page (`[pages.button]` of the configuration): every parameter that
/// Apple's image service has (Apple, "Displaying Sign in with Apple buttons on the web"). Lengths are in points.
///
/// A parameter that is nil has a default. The permitted parameters depend on the shape: see ``problems``.
package struct ButtonSettings: Sendable, Equatable {
  /// Whether the image is fetched from Apple and served from our own origin (true), or the button is drawn by the page
  /// (false), without requests to Apple's content network. Default: true.
  package var usesAppleImage = true
  /// The origin that images are fetched from. Default: Apple's content network; with a simulated Apple none, and
  /// the button is drawn.
  package var baseURL: String?
  /// The form of the button. Default: centred.
  package var shape: Shape = .centred
  /// Default: black on a light page, white on a dark one.
  package var color: Color = .auto
  /// Default: no line around it.
  package var border = false
  /// 0 to 50. Default: 12.
  package var borderRadius = 12
  /// Pixels for a point, 1 to 6. Default: 3, which is sharp on every screen.
  package var scale = 3
  /// Default: by the visitor's `Accept-Language`. Not with the shape `logo`.
  package var locale: ButtonLocale?
  /// The text. Default: sign in. Not with the shape `logo`.
  package var type: Kind?
  /// 130 to 375. Default: 320. Not with the shape `logo`.
  package var width: Int?
  /// 30 to 64. Default: 48. Not with the shape `logo`.
  package var height: Int?
  /// 0 to 182, at most half the width; where the words begin. Only with the shape `left`.
  package var labelPosition: Int?
  /// 0 to 182, at most half the width; where the logo begins. Only with the shape `left`.
  package var logoPosition: Int?
  /// Default: small. Only with the shape `left`.
  package var logoSize: LogoSize?
  /// Width and height, 30 to 64. Default: 48. Only with the shape `logo`.
  package var size: Int?

  /// Apple's defaults.
  package init() {}

  /// Apple's content network.
  package static let appleBaseURL = "https://appleid.cdn-apple.com"

  /// The forms that Apple offers.
  package enum Shape: String, Sendable, CaseIterable {
    /// Logo and words in the middle.
    case centred
    /// The logo, and then the words, from the left.
    case left
    /// The logo alone.
    case logo
  }

  /// The colours that Apple offers.
  package enum Color: String, Sendable, CaseIterable {
    /// Goes with the page: white where that is dark.
    case auto
    /// Black, for light pages.
    case black
    /// White, for dark pages.
    case white
  }

  /// The text of the button.
  package enum Kind: String, Sendable, CaseIterable {
    /// "Sign in with Apple".
    case signIn = "sign-in"
    /// "Continue with Apple".
    case proceed = "continue"
  }

  /// The size of the logo.
  package enum LogoSize: String, Sendable, CaseIterable {
    /// Apple's `small`.
    case small
    /// Apple's `medium`.
    case medium
    /// Apple's `large`.
    case large
  }

  /// Width and height in points, with the defaults.
  package var extent: (width: Int, height: Int) {
    shape == .logo ? (size ?? 48, size ?? 48) : (width ?? 320, height ?? 48)
  }
}

extension ButtonSettings {
  /// The origin of the images; nil if none are fetched. With a simulated Apple the page draws the button, unless the
  /// configuration says otherwise.
  package func imageOrigin(_ apple: AppleSettings) -> String? {
    guard usesAppleImage else { return nil }
    return baseURL ?? (apple.isApple ? Self.appleBaseURL : nil)
  }
}
