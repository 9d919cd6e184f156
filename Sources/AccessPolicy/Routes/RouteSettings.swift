/// One `[[route]]` of the configuration.
public struct RouteSettings: Sendable, Equatable {
  /// The canonical path prefix that it rules, beginning with `/`.
  public var path: String
  /// Who may pass.
  public var access: Access
  /// What a request without a session is answered. Default: chosen by the request.
  public var unauthenticated: Unauthenticated = .automatic
  /// The name of the application that serves it. Default: nil: the one that serves everything else.
  public var upstream: String?

  public init(path: String, access: Access) {
    self.path = path
    self.access = access
  }

  /// Who may pass.
  public enum Access: Sendable, Equatable {
    /// Everybody; the identity is still sent when there is a session.
    case `public`
    /// Everybody with a session.
    case signedIn
    /// Everybody with a session that one of the rules lets in.
    case rules(AccessRules)
    /// Nobody: 403.
    case deny
  }

  /// What a request without a session is answered.
  public enum Unauthenticated: Sendable, Equatable {
    /// A navigation is sent to sign in; anything else gets 401.
    case automatic
    /// Always 401.
    case unauthorized
  }
}

/// Who is let in, of those with a session. A user whom any one list names passes, unless `privateEmail` or one of the
/// `requirements` is against it.
public struct AccessRules: Sendable, Equatable {
  /// Apple's `sub`, exactly.
  public var subjects: [String] = []
  /// E-mail addresses, compared without regard to ASCII case.
  public var emails: [String] = []
  /// What follows the last `@` of the address, compared without regard to ASCII case.
  public var emailDomains: [String] = []
  /// `org_id` of a Managed Apple Account, exactly.
  public var organizations: [String] = []
  /// Whether there are lists at all; without them everybody passes whom `privateEmail` and `requirements` let.
  /// Default: true.
  public var hasLists = true
  /// What is asked of the address. Default: nothing.
  public var privateEmail = PrivateEmail.allow
  /// What claims of the identity token have to say, beside the lists. Default: nothing.
  public var requirements: [ClaimRequirement] = []

  public init() {}

  /// What is asked of the user's address beside the lists.
  public enum PrivateEmail: String, Sendable, CaseIterable {
    case allow
    /// Who hides the address behind Apple's relay does not pass.
    case deny
    /// Who does not, does not pass.
    case require
  }
}
