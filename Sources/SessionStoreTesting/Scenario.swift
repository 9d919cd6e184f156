import FoundationEssentials
internal import Secrets
import Sessions

/// People, clients and times that the sentences are about.
enum Scenario {
  static let web = "com.example.web"
  static let app = "com.example.app"
  /// A whole second in 2026; instants are compared exactly, and stores keep milliseconds.
  static let noon = Date(timeIntervalSince1970: 1_790_000_000)
  static let day = Duration.seconds(86_400)

  static func later(_ duration: Duration) -> Date {
    noon.addingTimeInterval(TimeInterval(duration.components.seconds))
  }

  static func subject(_ name: String = "ada") throws -> Subject {
    try requireValue(Subject("001234.\(name).0987"), "subject")
  }

  static func name(_ given: String, _ family: String? = nil) throws -> PersonName {
    try requireValue(PersonName(given: given, family: family), "name")
  }

  static func claims(_ email: String? = "ada@example.com") -> AccountClaims {
    var claims = AccountClaims()
    claims.email = email
    claims.emailVerified = email == nil ? nil : true
    claims.isPrivateEmail = false
    claims.other = ["auth_time": .integer(1_790_000_000), "nonce_supported": .truth(true)]
    return claims
  }

  static func group(_ name: String = "staff") throws -> GroupName { try requireValue(GroupName(name), "group") }

  static func ban(until: Date? = nil, since: Date = noon, by author: AccessAuthor = "cli") -> Ban {
    Ban(until: until, reason: "spam \u{2014} twice", since: since, by: author)
  }

  /// A manager, as `Ban.by`.
  static func manager() throws -> AccessAuthor { .manager(try subject("manager"), try keyring()) }

  static func invitation(
    _ id: String = "aaaaaaaa", uses: Int = 1, expires: Duration = .seconds(7 * 86_400), created: Date = noon
  ) throws -> Invitation {
    Invitation(
      id: id, group: try group(), uses: uses, expires: later(expires), note: "for the \u{E9}quipe", created: created,
      by: "cli")
  }

  /// The rule for removal once so much time has passed.
  static func removal(after duration: Duration, limit: Int = 500) -> RemovalRule {
    RemovalRule(now: later(duration), idleTimeout: .seconds(365 * 86_400), limit: limit)
  }

  static func keyring(_ letter: Character = "k") throws -> SessionKeyring {
    try SessionKeyring(secrets: [SessionSecret(Array(String(repeating: letter, count: 32).utf8))])
  }

  /// The keyring whose current key is that of `letter`, and which knows that of `older` as well.
  static func keyring(_ letter: Character, older: Character) throws -> SessionKeyring {
    try SessionKeyring(
      secrets: [letter, older].map { SessionSecret(Array(String(repeating: $0, count: 32).utf8)) })
  }

  static func token(
    _ text: String, of subject: Subject, clientID: String = web, by keyring: SessionKeyring? = nil
  ) throws -> EncryptedToken {
    try (keyring ?? self.keyring()).seal(RefreshToken(text), of: subject, clientID: clientID)
  }

  static func signIn(
    _ subject: Subject, clientID: String = web, at now: Date = noon, name: PersonName? = nil,
    claims: AccountClaims = claims(), token: String? = "refresh", replacing: PublicSessionID? = nil,
    lifetime: Duration = .seconds(30 * 86_400), by keyring: SessionKeyring? = nil, appleAuthorized: Date? = nil,
    discardsToken: Bool = false
  ) throws -> SignIn {
    let session = Session(
      .random(), of: subject, clientID: clientID, now: now, lifetime: lifetime,
      userAgent: UserAgentSummary("Mozilla/5.0 (X11; Linux)".utf8))
    return SignIn(
      session: session, name: name, claims: claims,
      token: try token.map { try self.token($0, of: subject, clientID: clientID, by: keyring) }, replacing: replacing,
      appleAuthorized: appleAuthorized, discardsToken: discardsToken)
  }
}

extension RevalidationLeaseOutcome {
  var granted: RevalidationLease? {
    if case .granted(let lease) = self { return lease }
    return nil
  }

  var notYet: Account? {
    if case .notYet(let account) = self { return account }
    return nil
  }

  var isNothingToAskWith: Bool {
    if case .nothingToAskWith = self { return true }
    return false
  }
}
