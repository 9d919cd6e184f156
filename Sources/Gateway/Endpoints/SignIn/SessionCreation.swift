internal import AppleIdentity
internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Logging
internal import Operations
internal import Pages
internal import Secrets
internal import Sessions

/// Creates sessions in the store from Apple's token response, for browsers and for native apps.
struct SessionCreation: Sendable {
  /// The parts of the store that decide about the access of a user.
  typealias AccessParts = BanStore & GroupStore & InvitationStore

  let store: any SignInStore & ReplayGuardStore & AccountStore & AccessParts & AccountTransfer.Store
  let storeHealth: StoreHealth
  let sessions: SessionManager
  /// The groups and lists that decide whether a refresh token is kept.
  let policy: UserPolicy
  /// The prefix of the gateway's own paths.
  let prefix: String
  let keyring: SessionKeyring
  let settings: SessionSettings
  let metrics: MetricsRegistry
  let audit: AuditTrail
  let failures: SignInFailureLog
  let logger: Logger

  /// Refuses a banned user, before anything is stored. For 60 days after the application came from another team, the
  /// token names the user's transfer identifier too: a ban under the previous subject holds as well.
  func refuseBanned(_ token: VerifiedIdentityToken) async throws(SignInError) {
    guard let subject = Subject(token.subject) else { throw SignInError(.answerInvalid, "subject") }
    if let identifier = token.claims.transferSubject.flatMap({ Subject($0) }) {
      try await follow(
        identifier,
        to: AccountTransfer.Identity(
          subject: subject, email: token.claims.email, isPrivateEmail: token.claims.isPrivateEmail))
    }
    if let found = try await ban(of: subject), found.isInForce(at: .now) { throw SignInError.banned.of(subject) }
  }

  private func ban(of subject: Subject) async throws(SignInError) -> Ban? {
    do throws(StoreError) {
      return try await store.ban(of: subject)
    } catch {
      storeHealth.failed("ban", error)
      throw SignInError(.storeUnavailable, "store")
    }
  }

  /// Moves what is stored under the user's previous subject to the present one, as `cordon accounts migrate --complete`
  /// would.
  private func follow(_ identifier: Subject, to user: AccountTransfer.Identity) async throws(SignInError) {
    let outcome: MoveOutcome
    do {
      let transfer = AccountTransfer(store: store, sessions: sessions, keyring: keyring)
      outcome = try await transfer.follow(identifier, to: user, keepsDamaged: true)
    } catch let error as StoreError {
      storeHealth.failed("ban", error)
      throw SignInError(.storeUnavailable, "store")
    } catch {
      let metadata = failures.admit(
        "seal",
        [
          "error": "a refresh token cannot be decrypted",
          "remedy": "run `cordon accounts migrate --complete`, which names the account and the problem",
        ])
      if let metadata { logger.error("moving an account to the new team failed", metadata: metadata) }
      throw SignInError(.internalError, "seal")
    }
    switch outcome {
    case .moved: logger.info("moved a user to the subject of the new team")
    case .unknownSubject: break
    case .tokensChanged: throw SignInError(.storeUnavailable, "store")
    }
  }

  /// Saves a submitted name before the code is exchanged: Apple sends it only once, and the exchange may fail.
  func saveName(_ name: PersonName, of token: VerifiedIdentityToken) async throws(SignInError) {
    guard let subject = Subject(token.subject) else { throw SignInError(.answerInvalid, "subject") }
    do throws(StoreError) {
      try await store.savePendingName(name, submittedBy: subject, at: .now)
    } catch {
      storeHealth.failed("keep_name", error)
      throw SignInError(.storeUnavailable, "store")
    }
  }

  /// Consumes a replay guard.
  /// - Parameter reason: the reason of the failure if it was consumed before.
  func consume(_ replayGuard: ReplayGuard, until: Date, otherwise reason: String) async throws(SignInError) {
    let isFirst: Bool
    do throws(StoreError) {
      isFirst = try await store.consume(replayGuard, until: until)
    } catch {
      storeHealth.failed("use_up", error)
      throw SignInError(.storeUnavailable, "store")
    }
    guard isFirst else { throw SignInError(.attemptUsed, reason) }
  }

  /// Writes account, refresh token and session in one transaction, with the end of the first session that this one
  /// replaces; then ends the others. The session belongs to the client that the identity token was issued for.
  /// - Parameters:
  ///   - replacing: they stay if no session is created.
  ///   - destination: the path on `public_url` that the browser goes on to; nil for any other destination.
  func create(
    of tokens: TokenGrant, name: PersonName?, replacing: [PublicSessionID], to destination: String? = nil,
    _ request: ControlRequest
  ) async throws(SignInError) -> IdentifiedSession {
    guard let subject = Subject(tokens.identityToken.subject) else { throw SignInError(.answerInvalid, "subject") }
    // With `response_type = "code"` there was no identity token to check before.
    try await refuseBanned(tokens.identityToken)
    let clientID = tokens.identityToken.audience
    let identifier = SessionIdentifier.random()
    let session = Session(
      identifier, of: subject, clientID: clientID, now: .now, lifetime: settings.lifetime,
      userAgent: request.head.headerFields[.userAgent].flatMap { UserAgentSummary($0.utf8) })
    let claims = AccountClaims(tokens.identityToken.claims)
    let keepsToken = try await isAdmittedAnywhere(session, claims, at: destination)
    let sealed = keepsToken ? try seal(tokens.refreshToken, of: session, request) : nil
    let completed = try await complete(
      SignIn(
        session: session, name: name, claims: claims, token: sealed, replacing: replacing.first,
        appleAuthorized: tokens.identityToken.issuedAt, discardsToken: !keepsToken && tokens.refreshToken != nil),
      request)
    try await refuseBannedMeanwhile(completed)
    metrics.signIns.count("success")
    audit.record(
      .signIn(isNewAccount: completed.isNewAccount), subject: subject, session: session.handle,
      peer: request.client.address, requestID: request.requestID, clientID: clientID)
    // A browser rarely has more than one session.
    await endReplaced(Array(replacing.dropFirst()), request)
    await auditSharedEmail(of: completed.snapshot, request)
    return IdentifiedSession(identifier: identifier, snapshot: completed.snapshot)
  }

  /// Encrypts the refresh token of a new session; nil if Apple has sent none.
  private func seal(
    _ token: RefreshToken?, of session: Session, _ request: ControlRequest
  ) throws(SignInError) -> EncryptedToken? {
    guard let token else { return nil }
    do throws(SealError) {
      return try keyring.seal(token, of: session.subject, clientID: session.clientID)
    } catch {
      logger.error("encrypting a refresh token failed", metadata: ["request": "\(request.requestID)"])
      throw SignInError(.internalError, "seal")
    }
  }

  /// Ends further sessions that a new one replaces. The new one is valid even if that fails: its cookie takes the place
  /// of theirs, and a sign-in that failed would not end them either.
  func endReplaced(_ handles: [PublicSessionID], _ request: ControlRequest) async {
    var rest = handles[...]
    do throws(StoreError) {
      while let handle = rest.first {
        let ended = try await sessions.end(.one(handle), because: .replaced)
        audit.recordEnd(of: ended, because: .replaced, requestID: request.requestID)
        rest = rest.dropFirst()
      }
    } catch {
      // Counted by the session manager.
      logger.warning(
        "signed in, but other sessions of the browser could not be ended",
        metadata: [
          "sessions": "\(rest.map(\.text).joined(separator: ", "))", "error": "\(error)",
          "remedy": "end them with `cordon sessions end ID`", "request": "\(request.requestID)",
        ])
    }
  }

  /// Writes a sign-in to the store, and removes from every loop what it has ended or changed.
  private func complete(_ signIn: SignIn, _ request: ControlRequest) async throws(SignInError) -> CompletedSignIn {
    let completed: CompletedSignIn
    do throws(StoreError) {
      completed = try await store.complete(signIn)
    } catch {
      storeHealth.failed("complete", error)
      throw SignInError(.storeUnavailable, "store")
    }
    storeHealth.hadRoom()
    await sessions.endInProcess(completed.ended)
    // Other sessions of the same user get the new claims too.
    await sessions.markStale(signIn.session.subject)
    metrics.countEnd(of: completed.ended, because: .replaced)
    audit.recordEnd(of: completed.ended, because: .replaced, requestID: request.requestID)
    return completed
  }

  /// Whether any route that is not public could admit the user of a new session: otherwise a refresh token is useless.
  /// A user on the way to an open invitation counts as a member of its group, so that one sign-in is enough.
  private func isAdmittedAnywhere(
    _ session: Session, _ claims: AccountClaims, at destination: String?
  ) async throws(SignInError) -> Bool {
    var account = Account(
      subject: session.subject, name: nil, claims: claims, latestAuthorization: session.began,
      lastVerified: session.began, lastAsked: nil)
    do throws(StoreError) {
      if let known = try await store.account(session.subject) {
        account = known
        account.claims = known.claims.afterSignIn(claims)
      }
      // The user may have been added to a group before the first sign-in.
      account.access.groups = try await store.groups(of: session.subject)
      if let destination, let code = InvitationCode(ofPath: destination, below: prefix),
        let invitation = try await store.invitation(hash: code.hash), invitation.isOpen(at: session.began)
      {
        account.access.groups.append(invitation.group)
      }
    } catch {
      storeHealth.failed("account", error)
      throw SignInError(.storeUnavailable, "store")
    }
    return policy.couldAdmit(
      policy.principal(of: account), of: SessionSnapshot(session: session, account: account))
  }

  /// Ends a session whose user was banned while it was being created. A new account may not show a ban by an earlier
  /// subject: the store has made it under a hash of this one, for it knew no account.
  private func refuseBannedMeanwhile(_ completed: CompletedSignIn) async throws(SignInError) {
    let snapshot = completed.snapshot
    var found = snapshot.account.access.ban
    if found == nil, completed.isNewAccount { found = try await ban(of: snapshot.account.subject) }
    guard found?.isInForce(at: .now) == true else { return }
    do throws(StoreError) {
      try await sessions.end(.one(snapshot.session.handle), because: .byOperator)
    } catch {
      throw SignInError(.storeUnavailable, "store")
    }
    throw SignInError.banned.of(snapshot.account.subject)
  }

  /// Records in the audit which other accounts have the same verified address: Apple verifies an address when it is
  /// added to an Apple Account, and its owner may have changed since.
  private func auditSharedEmail(of snapshot: SessionSnapshot, _ request: ControlRequest) async {
    let subject = snapshot.account.subject
    guard snapshot.account.claims.emailVerified == true, let email = snapshot.account.claims.email else { return }
    let holders: [Listed<Account>]
    do throws(StoreError) {
      holders = try await store.accounts(withEmail: email)
    } catch {
      storeHealth.failed("accounts", error)
      return
    }
    if let damage = holders.damagedRecords().first { storeHealth.failed("accounts", damage.error) }
    let others = holders.records().filter { $0.subject != subject && $0.claims.emailVerified == true }
    for other in others.prefix(Self.mostHolders) {
      audit.recordSharedEmail(
        of: subject, with: other.subject, requestID: request.requestID, clientID: snapshot.session.clientID)
    }
  }

  /// The largest number of such accounts in the audit of one sign-in.
  private static let mostHolders = 16

  /// The session that a one-time code passes on. It may have ended in the minute since the code was made.
  /// - Parameter reason: the reason of the failure if it has ended.
  func session(
    _ identifier: SessionIdentifier, otherwise reason: String
  ) async throws(SignInError) -> SessionSnapshot {
    let found: SessionSnapshot?
    do throws(StoreError) {
      found = try await sessions.find(identifier)
    } catch {
      throw SignInError(.storeUnavailable, "store")
    }
    guard let found else { throw SignInError(.signInRequired, reason) }
    return found
  }

  /// The whole `Set-Cookie` of a session that has just begun, on `public_url`.
  func sessionCookie(_ identifier: SessionIdentifier) -> String {
    keyring.setCookie(for: identifier, on: .publicURL, maxAge: settings.lifetime.components.seconds)
  }

  /// Counts and audits a failed sign-in, with its user if that is known. The audit log is limited: anybody can cause
  /// failures without end.
  func noteFailure(_ error: SignInError, _ request: ControlRequest) {
    metrics.signIns.count(error.reason)
    let peer = request.client.address
    guard let omitted = failures.admitAudit(of: error.reason, peer: peer) else { return }
    audit.record(
      .signInFailed(reason: error.reason, omitted: omitted), subject: error.user, peer: peer,
      requestID: request.requestID)
  }
}

/// A session with the secret that its credentials carry.
struct IdentifiedSession: Sendable {
  /// The identifier that its cookie and its bearer token carry.
  let identifier: SessionIdentifier
  let snapshot: SessionSnapshot
}

/// The failure of a sign-in.
struct SignInError: Error {
  /// The page for the user.
  let page: PageFailure
  /// A short constant, for metrics and the audit.
  let reason: String
  /// Whether the name that Apple sent is in the store.
  let isNameKept: Bool
  /// The verified user, for the audit; nil for all failures but that of a banned user.
  let user: Subject?

  init(_ page: PageFailure, _ reason: String, isNameKept: Bool = false, user: Subject? = nil) {
    self.page = page
    self.reason = reason
    self.isNameKept = isNameKept
    self.user = user
  }

  /// The failure of a verified user.
  func of(_ user: Subject) -> SignInError { SignInError(page, reason, isNameKept: isNameKept, user: user) }

  /// An operator has banned the user.
  static let banned = SignInError(.banned, "banned")
}
