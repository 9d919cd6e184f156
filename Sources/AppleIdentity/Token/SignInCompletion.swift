extension AppleIdentityProvider {
  /// Completes a sign-in in the browser: verifies the token in the answer if there is one, exchanges the code, verifies
  /// the token that comes for it, and compares the two.
  ///
  /// The caller has compared `state`, and verified and consumed the sign-in state of this browser. An invalid token, or
  /// one of another code, ends the sign-in before the code is sent.
  /// - Parameters:
  ///   - redirectURI: the one of the authorization request.
  ///   - nonce: that of the sign-in state.
  ///   - beforeExchange: receives the browser's verified token before the code is sent, to save the name, which Apple
  ///     sends only once. An error that it throws ends the sign-in, with the code unused.
  package func completeSignIn<Failure: Error>(
    _ grant: AuthorizationResponse.Success, redirectURI: String, nonce: String,
    beforeExchange: (VerifiedIdentityToken) async throws(Failure) -> Void
  ) async throws(Failure) -> ExchangeOutcome {
    if grant.identityToken == nil, settings.responseType == .codeIDToken { return .unverified(.absent) }
    return try await complete(
      code: grant.code, presented: grant.identityToken, from: .verified, redirectURI: redirectURI,
      audiences: [settings.clientID], nonce: .web(nonce), beforeExchange: beforeExchange)
  }

  /// Completes a native app's sign-in: the app hands over its identity token, its code and its raw nonce. The token
  /// says which of `native_client_ids` the app is, and the code is exchanged for that client.
  /// - Parameter beforeExchange: receives the app's verified token before the code is sent. An error that it throws
  ///   ends the sign-in, with the code unused.
  package func completeNativeSignIn<Failure: Error>(
    _ request: NativeSignInRequest, beforeExchange: (VerifiedIdentityToken) async throws(Failure) -> Void
  ) async throws(Failure) -> ExchangeOutcome {
    try await complete(
      code: request.code, presented: request.identityToken, from: .anonymous, redirectURI: nil,
      audiences: settings.nativeClientIDs, nonce: .native(request.nonce), beforeExchange: beforeExchange)
  }

  private func complete<Failure: Error>(
    code: AuthorizationCode, presented: UnverifiedIdentityToken?, from source: TokenSource, redirectURI: String?,
    audiences: [String], nonce: NonceExpectation, beforeExchange: (VerifiedIdentityToken) async throws(Failure) -> Void
  ) async throws(Failure) -> ExchangeOutcome {
    var verified: VerifiedIdentityToken?
    if let presented {
      do throws(IdentityTokenError) {
        let token = try await verifier.verify(presented, audiences: audiences, nonce: nonce, from: source)
        guard token.mayAccompany(code) else { throw .codeMismatch }
        verified = token
      } catch {
        return .unverified(error)
      }
    }
    if let verified { try await beforeExchange(verified) }
    let clientID = verified?.audience ?? settings.clientID
    let outcome = await tokens.exchange(code: code, redirectURI: redirectURI, clientID: clientID, nonce: nonce)
    if case .granted(let grant) = outcome, let verified,
      let mismatch = verified.mismatch(withExchanged: grant.identityToken, code: code)
    {
      return .mismatch(mismatch)
    }
    return outcome
  }
}
