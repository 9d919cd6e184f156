internal import AppleIdentity
internal import DataPlane
internal import FoundationEssentials
internal import Pages
internal import Sessions

/// Verifies the success response to a sign-in of this browser, and creates its session.
///
/// The order is security-critical: the sign-in state is consumed, the browser's token verified, the name saved, the
/// code exchanged, both tokens compared; only then is a session created.
struct SignInVerification: Sendable {
  /// The one that Apple's response was sent to.
  let redirectURI: String
  let requestSessions: RequestSessions
  let codeExchange: CodeExchange
  let creation: SessionCreation

  /// A verified sign-in.
  struct Completion: Sendable {
    let session: IdentifiedSession
    /// Whether the pending display name of this browser was its user's, and is no longer needed.
    let endsPendingName: Bool
  }

  /// - Parameter signIn: the sign-in that the response is for, verified by its `state`. It is consumed in any case.
  func complete(
    _ grant: AuthorizationResponse.Success, of signIn: SignInState, _ request: ControlRequest
  ) async throws(SignInError) -> Completion {
    try await creation.consume(
      .attempt(Array(signIn.state.utf8)), until: signIn.expires, otherwise: "attempt_used")
    let submitted = PersonName(grant.user)
    let tokens = try await exchange(grant, submitted, of: signIn, request)
    let kept = PendingDisplayName.open(in: request, creation.keyring, now: .now)
    let isTheirs = kept?.owner.matches(tokens.identityToken) ?? true
    let name =
      if let submitted { submitted } else { try await unlessNamed(tokens, isTheirs ? kept?.name : nil) }
    let destination: String? = if case .page(let path) = signIn.destination { path } else { nil }
    let made = try await creation.create(
      of: tokens, name: name, replacing: replaced(by: signIn, request), to: destination, request)
    // The pending name of another user is kept.
    let endsPendingName = isTheirs && PendingDisplayName.isSent(with: request, creation.keyring.cookies)
    return Completion(session: made, endsPendingName: endsPendingName)
  }

  /// Verifies the browser's token, exchanges the code, and compares the token that comes for it with the browser's.
  private func exchange(
    _ grant: AuthorizationResponse.Success, _ name: PersonName?, of signIn: SignInState, _ request: ControlRequest
  ) async throws(SignInError) -> TokenGrant {
    let apple = codeExchange.apple
    var isNameKept = false
    do throws(SignInError) {
      let outcome = try await apple.completeSignIn(
        grant, redirectURI: redirectURI, nonce: signIn.nonce
      ) { (token) async throws(SignInError) in
        try await creation.refuseBanned(token)
        guard let name else { return }
        try await creation.saveName(name, of: token)
        isNameKept = true
      }
      return try codeExchange.tokens(of: outcome, clientID: apple.settings.clientID, request)
    } catch {
      throw SignInError(error.page, error.reason, isNameKept: isNameKept, user: error.user)
    }
  }

  /// A pending display name, unless its user has a name.
  private func unlessNamed(_ tokens: TokenGrant, _ name: PersonName?) async throws(SignInError) -> PersonName? {
    guard let name, let subject = Subject(tokens.identityToken.subject) else { return nil }
    do throws(StoreError) {
      return try await creation.store.account(subject)?.name == nil ? name : nil
    } catch {
      // Whether the user has a name is unknown, and it must not be replaced.
      creation.storeHealth.failed("account", error)
      throw SignInError(.storeUnavailable, "store")
    }
  }

  /// The sessions that this sign-in replaces: all known ones of this browser. The sign-in state has the one that
  /// existed when it began, or was created since; the session cookie is sent unless Apple's form is posted cross-site.
  /// An app's sign-in replaces none.
  private func replaced(by signIn: SignInState, _ request: ControlRequest) -> [PublicSessionID] {
    if signIn.destination.isApp { return [] }
    var handles = signIn.replacing.map { [$0] } ?? []
    for identifier in requestSessions.ofCookies(request) where !handles.contains(identifier.handle) {
      handles.append(identifier.handle)
    }
    return handles
  }
}
