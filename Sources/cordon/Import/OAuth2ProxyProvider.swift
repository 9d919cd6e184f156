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
    if issuer == "https://appleid.apple.com" || provider == "apple" {
      self = .apple
    } else if issuer == nil, provider == nil || provider.map(Self.open.contains) ?? false {
      self = .publicUsers
    } else {
      self = .privateUsers
    }
  }

  private static let open: Set<String> = [
    "google", "github", "gitlab", "bitbucket", "facebook", "linkedin", "digitalocean", "login.gov",
  ]
}
