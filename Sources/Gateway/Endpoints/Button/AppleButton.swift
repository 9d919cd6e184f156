internal import AppleIdentity
internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Logging
internal import Pages
internal import WebFormats

/// Apple's button in the visitor's language, with an image from our own origin if available.
struct AppleButton: Sendable {
  let settings: ButtonSettings
  /// The registration with Apple.
  let apple: AppleSettings
  /// Nil if the button is always drawn.
  let images: ButtonImages?
  /// The path prefix of the gateway's endpoints.
  let prefix: String
  /// The origin of the images, if any.
  let baseURL: String?

  /// The time that the sign-in page waits for an image that was never fetched; then the button is drawn.
  private static let imageTimeout = Duration.seconds(1)

  /// The button as the page shows it.
  func button(for languages: LanguagePreferences) async -> SignInButton {
    let locale = settings.locale ?? languages.lookup(ButtonLocale.byLanguageTag) ?? .english
    let (width, height) = settings.extent
    var button = SignInButton(
      title: locale.title(settings.type ?? .signIn), language: locale.languageTag, width: width, height: height,
      borderRadius: min(settings.borderRadius, height / 2), hasBorder: settings.border)
    switch settings.color {
    case .auto: button.color = .auto
    case .black: button.color = .black
    case .white: button.color = .white
    }
    switch settings.shape {
    case .centred: button.layout = .centred
    case .left: button.layout = .leading
    case .logo: button.layout = .logo
    }
    button.images = await paths(locale)
    return button
  }

  private func paths(_ locale: ButtonLocale) async -> SignInButton.Images? {
    guard let images else { return nil }
    // Both concurrently, so that the waits overlap.
    async let black = settings.color == .white ? nil : images.image(variant(locale, false), within: Self.imageTimeout)
    async let white = settings.color == .black ? nil : images.image(variant(locale, true), within: Self.imageTimeout)
    let (isBlackThere, isWhiteThere) = (await black != nil, await white != nil)
    switch settings.color {
    case .black: return isBlackThere ? .init(path: path(locale, false)) : nil
    case .white: return isWhiteThere ? .init(path: path(locale, true)) : nil
    case .auto:
      guard isBlackThere, isWhiteThere else { return nil }
      return .init(path: path(locale, false), darkPath: path(locale, true))
    }
  }

  /// `v` changes with the settings: browsers keep an image for a day.
  private func path(_ locale: ButtonLocale, _ isWhite: Bool) -> String {
    let revision = String(Self.hash(settings.imagePath(variant(locale, isWhite)).utf8), radix: 16)
    let color = isWhite ? "white" : "black"
    return "\(GatewayEndpoint.button.path(below: prefix))?locale=\(locale.rawValue)&color=\(color)&v=\(revision)"
  }

  /// The logo alone is the same in every language.
  func variant(_ locale: ButtonLocale, _ isWhite: Bool) -> ButtonVariant {
    ButtonVariant(locale: settings.shape == .logo ? .english : locale, isWhite: isWhite)
  }

  /// FNV-1a.
  private static func hash(_ bytes: some Sequence<UInt8>) -> UInt32 {
    bytes.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
  }
}
