extension AppleIdentityProvider {
  /// Completes a sign-in in the browser: verifies the token in the answer if there is one, exchanges the code, verifies
  /// the token that comes for it, and compares the two.
  ///
  /// The caller has compared `state`, used up the attempt and saved the name before. A token that is not to be believed
  /// stops everything before the code is sent.
  /// - Parameters:
  ///   - redirectURI: the one of the authorization request.
  ///   - nonce: the attempt's.
  public func completeSignIn(
    _ grant: AuthorizationResponse.Grant, redirectURI: String, nonce: String
  ) async -> ExchangeOutcome {
    if grant.identityToken == nil, settings.responseType == .codeIDToken { return .unverified(.absent) }
    return await complete(
      code: grant.code, presented: grant.identityToken, redirectURI: redirectURI, audiences: [settings.clientID],
      nonce: .web(nonce))
  }

  /// Completes a native app's sign-in: the app hands over its identity token, its code and its raw nonce. The token
  /// says which of `native_client_ids` the app is, and the code is exchanged for that client.
  public func completeNativeSignIn(
    code: AuthorizationCode, identityToken: UnverifiedIdentityToken, nonce: String
  ) async -> ExchangeOutcome {
    await complete(
      code: code, presented: identityToken, redirectURI: nil, audiences: settings.nativeClientIDs,
      nonce: .native(nonce))
  }

  private func complete(
    code: AuthorizationCode, presented: UnverifiedIdentityToken?, redirectURI: String?, audiences: [String],
    nonce: NonceExpectation
  ) async -> ExchangeOutcome {
    var verified: VerifiedIdentityToken?
    if let presented {
      do throws(IdentityTokenRejection) {
        verified = try await verifier.verify(presented, audiences: audiences, nonce: nonce)
      } catch {
        return .unverified(error)
      }
    }
    let clientID = verified?.audience ?? settings.clientID
    let outcome = await tokens.exchange(code: code, redirectURI: redirectURI, clientID: clientID, nonce: nonce)
    if case .granted(let grant) = outcome, let verified,
      let disagreement = verified.disagreement(withExchanged: grant.identityToken, code: code)
    {
      return .disagreement(disagreement)
    }
    return outcome
  }
}
