internal import AppleIdentity
internal import DataPlane
internal import FoundationEssentials
internal import IdentityAssertion
internal import NIOCore
internal import Operations
internal import Sessions

/// The gateway's keys, and what is made with them.
struct GatewayKeys: Sendable {
  let keyring: SessionKeyring
  let audit: AuditTrail
  let apple: AppleIdentityProvider
  /// Apple, as an upstream.
  let appleTarget: UpstreamGroup
  /// The HTTP proxy between this machine and Apple; nil for none.
  private let appleProxy: ConnectProxy?
  /// Nil if no assertions are signed.
  let signer: AssertionSigner?

  /// - Parameters:
  ///   - files: read by the same settings.
  ///   - previous: the previous keys, at a reload: the fetched key set of Apple is kept.
  init(
    _ settings: GatewaySettings, _ files: KeyFiles, metrics: MetricsRegistry, on eventLoop: any EventLoop,
    after previous: GatewayKeys? = nil
  ) async throws {
    signer = files.signer
    keyring = files.keyring
    audit = AuditTrail(settings.log, keyring: keyring)
    let connection = try await AppleHTTPTransport(files.appleServer, metrics: metrics, on: eventLoop)
    appleTarget = files.appleServer.target
    appleProxy = settings.appleProxy
    let transport: AppleTransport = { (request) async throws(AppleTransportError) in
      try await connection.send(request)
    }
    // Through the new connection: the file of authorities may have other certificates than before.
    var keySet: AppleKeySet?
    if let previous, previous.apple.settings.isReached(as: settings.apple), previous.appleProxy == appleProxy {
      keySet = await previous.apple.keySet.reached(by: transport)
    }
    apple = try AppleIdentityProvider(
      settings: settings.apple, key: files.clientSecretKey, transport: transport, clock: { Date.now }, keySet: keySet)
  }

  /// - Throws: `KeyringError` if a refresh token of the store would be lost, as no secret decrypts it; `StoreError`.
  func requireEveryKey(of store: any EncryptedTokenStore) async throws {
    try keyring.requireEveryKey(of: try await store.sealingKeys())
  }
}

extension SessionKeyring {
  /// Checks at a reload that no refresh token would be lost. A reload that removes no secret works without the store,
  /// so that it can still restrict access.
  /// - Throws: `KeyringError`; `SettingsError` if the store cannot be asked.
  func requireEveryKey(of store: any EncryptedTokenStore, after previous: SessionKeyring) async throws {
    if knowsEveryKey(of: previous) { return }
    let keys: [KeyIdentifier: Int]
    do throws(StoreError) { keys = try await store.sealingKeys() } catch {
      throw SettingsError([
        "session.secret_files no longer has a secret that is in use, and the store was asked whether refresh tokens "
          + "still need it; list that secret until the store answers, then reload again: \(error)"
      ])
    }
    try requireEveryKey(of: keys)
  }
}
