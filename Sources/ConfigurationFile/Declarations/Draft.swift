import AccessPolicy

/// A configuration while it is read.
struct Draft: ReadingTarget {
  var configuration = Configuration()
  /// Half of `listen.tls`, until both are seen.
  var certificateFile: String?
  var privateKeyFile: String?
}

/// A route while it is read.
struct RouteDraft: ReadingTarget {
  var path = ""
  var access: Access?
  var unauthenticated = Unauthenticated.automatic
  var subjects: [String]?
  var emails: [String]?
  var emailDomains: [String]?
  var organizations: [String]?

  enum Access: String, Sendable, CaseIterable {
    case signedIn = "signed-in"
    case `public`, deny
  }

  enum Unauthenticated: String, Sendable, CaseIterable {
    case automatic = "auto"
    case unauthorized = "401"
  }

  /// Whether one of the lists is there.
  var hasRules: Bool { subjects != nil || emails != nil || emailDomains != nil || organizations != nil }

  var rules: AccessRules {
    var rules = AccessRules()
    rules.subjects = subjects ?? []
    rules.emails = emails ?? []
    rules.emailDomains = emailDomains ?? []
    rules.organizations = organizations ?? []
    return rules
  }
}
