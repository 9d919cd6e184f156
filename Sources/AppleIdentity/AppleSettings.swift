/// The registration of this service with Apple (`[apple]` of the configuration).
public struct AppleSettings: Sendable, Equatable {
  /// The Services ID (web). Case-sensitive, and never with the Team ID in it.
  public var clientID: String
  /// The 10-character Team ID: `iss` of the client secret.
  public var teamID: String
  /// The 10-character identifier of the key: `kid` of the client secret.
  public var keyID: String
  /// Absolute path of the `.p8` file (PKCS #8, P-256).
  public var privateKeyFile: String
  /// What to ask for. Default: name and e-mail.
  public var scopes: [Scope] = [.name, .email]
  /// How Apple hands over the answer. Default: `form_post`.
  public var responseMode: ResponseMode = .formPost
  /// What Apple hands over. Default: `code id_token`.
  public var responseType: ResponseType = .codeIDToken
  /// App IDs of native apps whose tokens `POST native` accepts. Default: none.
  public var nativeClientIDs: [String] = []
  /// The origin that requests go to, without a trailing slash. Another than Apple's is for tests only; the expected
  /// issuer and the client secret's audience stay Apple's whatever it is.
  public var baseURL: String = AppleSettings.appleBaseURL
  /// The absolute path of the PEM certificates of the authorities that are believed for it, where they are not the
  /// system's. Default: nil.
  public var authorityFile: String?

  /// Apple's own origin: the default `base_url`, the issuer of identity tokens, and the audience of client secrets.
  public static let appleBaseURL = "https://appleid.apple.com"

  public init(clientID: String, teamID: String, keyID: String, privateKeyFile: String) {
    self.clientID = clientID
    self.teamID = teamID
    self.keyID = keyID
    self.privateKeyFile = privateKeyFile
  }

  /// A scope that Apple knows.
  public enum Scope: String, Sendable, CaseIterable {
    case name, email
    case educationClasses = "edu.classes.read"
    case educationUsers = "edu.users.read"
  }

  /// `response_mode`.
  public enum ResponseMode: String, Sendable, CaseIterable {
    case formPost = "form_post"
    case query, fragment
  }

  /// `response_type`.
  public enum ResponseType: String, Sendable, CaseIterable {
    case code
    case codeIDToken = "code id_token"
  }
}
