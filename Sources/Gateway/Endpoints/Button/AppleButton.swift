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
  /// The HTTP proxy between this machine and Apple; nil for none.
  let proxy: ConnectProxy?
  /// Nil if the button is always drawn.
  let images: ButtonImages?
  /// The server of the images, as an upstream; nil if the button is always drawn.
  let imageTarget: UpstreamGroup?
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
    let (black, white) = (variant(locale, isWhite: false), variant(locale, isWhite: true))
    // Both concurrently, so that the waits overlap.
    async let blackImage = settings.color == .white ? nil : images.image(black, within: Self.imageTimeout)
    async let whiteImage = settings.color == .black ? nil : images.image(white, within: Self.imageTimeout)
    let (isBlackThere, isWhiteThere) = (await blackImage != nil, await whiteImage != nil)
    switch settings.color {
    case .black: return isBlackThere ? .init(path: path(locale, black)) : nil
    case .white: return isWhiteThere ? .init(path: path(locale, white)) : nil
    case .auto:
      guard isBlackThere, isWhiteThere else { return nil }
      return .init(path: path(locale, black), darkPath: path(locale, white))
    }
  }

  /// The path of an image in the page. `v` changes with the settings: browsers keep an image for a day.
  private func path(_ locale: ButtonLocale, _ variant: ButtonVariant) -> String {
    let revision = String(Self.hash(settings.imagePath(variant).utf8), radix: 16)
    let color = variant.isWhite ? "white" : "black"
    return "\(GatewayEndpoint.button.path(below: prefix))?locale=\(locale.rawValue)&color=\(color)&v=\(revision)"
  }

  /// The image for a language. The logo alone is the same in every language.
  func variant(_ locale: ButtonLocale, isWhite: Bool) -> ButtonVariant {
    ButtonVariant(locale: settings.shape == .logo ? .english : locale, isWhite: isWhite)
  }

  /// The hash FNV-1a of 32 bits: it has to be the same in every process.
  private static func hash(_ bytes: some Sequence<UInt8>) -> UInt32 {
    bytes.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
  }
}
