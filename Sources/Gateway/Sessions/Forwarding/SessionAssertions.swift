internal import AppleIdentity
internal import FoundationEssentials
internal import IdentityAssertion
internal import Logging
internal import Operations
internal import Sessions

/// Signs assertions about the sessions of this process.
struct SessionAssertions: Sendable {
  /// The field that carries an assertion to the application.
  static let headerName = "X-Identity-Assertion"

  private let mint: AssertionMint
  private let claims: [String]
  private let allowsUnverifiedEmail: Bool
  private let logger: Logger
  /// Limits the messages about assertions that cannot be signed: none of them can, and each session needs one a minute.
  private let failures: LogLimit

  /// Nil if requests carry no assertion.
  /// - Parameter uptime: the steady clock of the limit on messages.
  init?(
    _ settings: AssertionSettings, allowsUnverifiedEmail: Bool, signer: AssertionSigner?, logger: Logger,
    uptime: @escaping @Sendable () -> Duration = { LogLimit.uptime() }
  ) {
    guard let signer, settings.sendsHeader else { return nil }
    mint = AssertionMint(signer: signer, lifetime: settings.lifetime)
    claims = settings.claims
    self.allowsUnverifiedEmail = allowsUnverifiedEmail
    self.logger = logger
    failures = LogLimit(lines: 10, clock: uptime)
  }

  /// The assertion about a session; nil if it could not be signed, which is logged.
  /// - Parameter groups: the names of the user's groups, sorted.
  func assertion(of snapshot: SessionSnapshot, groups: [String]) async -> SignedAssertion? {
    do throws(AssertionSigningError) {
      return try await mint.assertion(of: statement(of: snapshot, groups), now: .now)
    } catch {
      log(error)
      return nil
    }
  }

  private func log(_ error: AssertionSigningError) {
    guard let suppressed = failures.admit(error.message) else { return }
    var metadata: Logger.Metadata = ["reason": "\(error.message)"]
    if suppressed > 0 { metadata["suppressed"] = "\(suppressed)" }
    logger.error("identity assertion signing failed, forwarding without assertion", metadata: metadata)
  }

  private func statement(of snapshot: SessionSnapshot, _ groups: [String]) -> AssertionStatement {
    var values: [String: AssertionValue] = [:]
    for name in claims { values[name] = value(of: name, snapshot, groups) }
    return AssertionStatement(
      session: snapshot.session.handle.text, subject: snapshot.account.subject.text, claims: values)
  }

  /// A claim as a JSON value; nil if it is absent or empty. `groups` is always present.
  private func value(of name: String, _ snapshot: SessionSnapshot, _ groups: [String]) -> AssertionValue? {
    let claims = snapshot.account.claims
    switch name {
    case "groups": return .list(groups.map { .text($0) })
    case "email_verified": return claims.emailVerified.map { .truth($0) }
    case "is_private_email": return claims.isPrivateEmail.map { .truth($0) }
    case "real_user_status": return claims.realUserStatus.map { .integer(Int64($0)) }
    default: break
    }
    switch claims.other[name] {
    case .integer(let number): return .integer(number)
    case .decimal(let number): return .decimal(number)
    case .truth(let truth): return .truth(truth)
    case .text, nil:
      return IdentityHeaders.claim(
        name, account: snapshot.account, session: snapshot.session, allowUnverifiedEmail: allowsUnverifiedEmail
      ).map { .text($0) }
    }
  }
}
