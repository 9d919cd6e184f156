/// The parts of Sign in with Apple, for one registration, one transport and one clock.
package struct AppleIdentityProvider: Sendable {
  /// The registration with Apple.
  package let settings: AppleSettings
  private let key: ClientSecretKey
  /// Apple's public keys, fetched when first needed.
  package let keySet: AppleKeySet
  /// Verifies identity tokens.
  package let verifier: IdentityTokenVerifier
  /// The client of the token endpoint.
  package let tokens: TokenClient
  /// Revokes tokens.
  package let revocation: RevocationClient
  /// Transfers users of an application that moves to another team.
  package let transfer: TransferClient
  /// Verifies notifications from Apple about users.
  package let notifications: NotificationVerifier
  /// Makes client secrets; `doctor` tries it.
  package let mint: ClientSecretMint

  /// - Parameters:
  ///   - key: the private key, read with ``ClientSecretKey/init(contentsOfFile:)``.
  ///   - keySetPolicy: when Apple's keys are fetched.
  ///   - known: the key set of an earlier provider for the same `base_url`, so that what it has fetched is kept. It has
  ///     a transport of its own, see ``AppleKeySet/reached(by:)``.
  /// - Throws: the settings' first problem, if `base_url` is not a valid origin.
  package init(
    settings: AppleSettings, key: ClientSecretKey, transport: @escaping AppleTransport, clock: @escaping AppleClock,
    keySetPolicy: AppleKeySet.Policy = AppleKeySet.Policy(), keySet known: AppleKeySet? = nil
  ) throws(AppleSettingsError) {
    guard let origin = AppleOrigin(settings.baseURL) else { throw .baseURL }
    self.settings = settings
    self.key = key
    keySet = known ?? AppleKeySet(origin: origin, transport: transport, clock: clock, policy: keySetPolicy)
    verifier = IdentityTokenVerifier(keySet: keySet, clock: clock)
    notifications = NotificationVerifier(
      keySet: keySet, clock: clock, audiences: [settings.clientID] + settings.nativeClientIDs)
    mint = ClientSecretMint(teamID: settings.teamID, keyID: settings.keyID, key: key, clock: clock)
    let call = AppleCall(origin: origin, transport: transport, mint: mint, clock: clock)
    tokens = TokenClient(call: call, verifier: verifier)
    revocation = RevocationClient(call: call)
    transfer = TransferClient(call: call)
  }

  /// Whether both are the same clients of the same team, with the same key, to the same service.
  package func hasSameCredentials(as other: AppleIdentityProvider) -> Bool {
    settings.baseURL == other.settings.baseURL && settings.teamID == other.settings.teamID
      && settings.keyID == other.settings.keyID && settings.clientID == other.settings.clientID
      && settings.nativeClientIDs == other.settings.nativeClientIDs
      && key.isSame(as: other.key)
  }

  /// Whether client secrets are signed with this key.
  package func signs(with other: ClientSecretKey) -> Bool { key.isSame(as: other) }

  /// The address to which a browser is redirected for sign-in.
  package func authorizationRequest(redirectURI: String, state: String, nonce: String) -> AuthorizationRequest {
    AuthorizationRequest(settings: settings, redirectURI: redirectURI, state: state, nonce: nonce)
  }
}
