/// The registration of this service with Apple (`[apple]` of the configuration).
package struct AppleSettings: Sendable, Equatable {
  /// The Services ID (web). Case-sensitive, and never with the Team ID in it.
  package var clientID: String
  /// The 10-character Team ID: `iss` of the client secret.
  package var teamID: String
  /// The 10-character identifier of the key: `kid` of the client secret.
  package var keyID: String
  /// Absolute path of the `.p8` file (PKCS #8, P-256).
  package var privateKeyFile: String
  /// The requested scopes. Default: name and e-mail.
  package var scopes: [Scope] = [.name, .email]
  /// The way in which Apple returns its response. Default: `form_post`.
  package var responseMode: ResponseMode = .formPost
  /// The content of Apple's response. Default: `code id_token`.
  package var responseType: ResponseType = .codeIDToken
  /// App IDs of native apps whose tokens `POST native` accepts. Default: none.
  package var nativeClientIDs: [String] = []
  /// The origin that requests go to, without a trailing slash. Origins other than Apple's are for tests only; the
  /// expected issuer and the client secret's audience are always Apple's.
  package var baseURL: String = AppleSettings.appleBaseURL
  /// The absolute path of PEM certificates of the authorities that are trusted for it, instead of the system's.
  /// Default: nil.
  package var authorityFile: String?

  /// Apple's own origin: the default `base_url`, the issuer of identity tokens, and the audience of client secrets.
  package static let appleBaseURL = "https://appleid.apple.com"

  /// Settings from the developer account, with defaults for everything else.
  package init(clientID: String, teamID: String, keyID: String, privateKeyFile: String) {
    self.clientID = clientID
    self.teamID = teamID
    self.keyID = keyID
    self.privateKeyFile = privateKeyFile
  }

  /// Whether requests go to Apple itself, however `baseURL` spells it.
  package var isApple: Bool { AppleOrigin(baseURL)?.isApple ?? false }

  /// Whether requests go to the same origin, which is verified by the same authorities.
  package func isReached(as other: AppleSettings) -> Bool {
    baseURL.utf8.elementsEqual(other.baseURL.utf8) && authorityFile == other.authorityFile
  }

  /// A scope that Apple knows.
  package enum Scope: String, Sendable, CaseIterable {
    /// The person's name, sent once; the person's address, or a relay's.
    case name, email
    /// The classes of a Managed Apple Account.
    case educationClasses = "edu.classes.read"
    /// The roles of a Managed Apple Account.
    case educationUsers = "edu.users.read"
  }

  /// `response_mode`.
  package enum ResponseMode: String, Sendable, CaseIterable {
    /// A form that the browser posts: the only one with scopes.
    case formPost = "form_post"
    /// In the address: seen by the server, or by scripts only.
    case query, fragment
  }

  /// `response_type`.
  package enum ResponseType: String, Sendable, CaseIterable {
    /// A code alone.
    case code
    /// A code together with an identity token.
    case codeIDToken = "code id_token"
  }
}
