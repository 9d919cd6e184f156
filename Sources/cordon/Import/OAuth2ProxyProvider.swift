import ConfigurationFile

/// The provider of identities that an oauth2-proxy asks.
enum OAuth2ProxyProvider: Equatable {
  case apple
  /// Everybody may get an account there.
  case publicUsers
  /// An operator decides who has an account there: a company's directory, for instance.
  case privateUsers

  init(_ settings: ForeignSettings) {
    func value(_ name: String) -> String? {
      guard case .text(let text)? = settings.settings.first(where: { $0.name == name })?.value else { return nil }
      return text.isEmpty ? nil : text
    }
    let issuer = value("oidc_issuer_url").map { $0.utf8.last == UInt8(ascii: "/") ? String($0.dropLast()) : $0 }
    let provider = value("provider")?.lowercased()
    let endpoints = settings.settings.filter { Self.endpoints.contains($0.name) && $0.value != .text("") }
    if issuer == Self.appleOrigin || provider == "apple", endpoints.allSatisfy({ Self.isApple($0.value) }) {
      self = .apple
    } else if issuer == nil, endpoints.isEmpty, provider.map(Self.open.contains) ?? true {
      self = .publicUsers
    } else {
      self = .privateUsers
    }
  }

  private static let open: Set<String> = [
    "google", "github", "gitlab", "bitbucket", "facebook", "linkedin", "digitalocean", "login.gov",
  ]

  /// The options that name endpoints. A public provider's are built into oauth2-proxy: one that is set leads to an
  /// instance of its own, GitHub Enterprise or a self-hosted GitLab, whose operator decides who has an account.
  private static let endpoints: Set<String> = [
    "login_url", "redeem_url", "validate_url", "profile_url", "oidc_jwks_url", "pubjwk_url",
  ]

  private static let appleOrigin = "https://appleid.apple.com"

  private static func isApple(_ value: ForeignSettings.Value) -> Bool {
    guard case .text(let url) = value else { return false }
    return url.utf8.starts(with: "\(appleOrigin)/".utf8)
  }
}
