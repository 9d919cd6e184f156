internal import AccessPolicy
internal import AppleIdentity
internal import DataPlane
internal import Sessions

/// One reading of the configuration, and everything that follows from it: built whole before any of it holds, so that
/// putting it in place cannot fail.
struct ConfigurationSnapshot: Sendable {
  let settings: GatewaySettings
  let credentials: GatewayKeys
  let knowledge: GateConfiguration
  let button: AppleButton
  let ownPages: GatewayEndpoints
  let upstreams: [WatchedUpstream]
  let terms: ListenerConfiguration
  let access: AdministrationAccess
  /// Where notifications are handed on to; nil: nowhere.
  let relayRoute: NotificationRelay.Route?

  /// - Parameters:
  ///   - credentials: read from the same settings.
  ///   - previous: what holds at present, at a reload: what it has in common with this is kept.
  /// - Throws: whatever keeps a gateway from running by these settings, with the remedy.
  init(
    _ settings: GatewaySettings, credentials: GatewayKeys, parts: LastingParts,
    after previous: ConfigurationSnapshot? = nil
  ) async throws {
    self.settings = settings
    self.credentials = credentials
    knowledge = try GateConfiguration(
      settings, keyring: credentials.keyring,
      assertions: SessionAssertions(settings, signer: credentials.signer, logger: parts.logger),
      after: previous?.knowledge)
    relayRoute = try await NotificationRelay.Route(settings, signer: credentials.signer, on: parts.eventLoop)
    button = try await AppleButton(settings, parts: parts, after: previous?.button)
    ownPages = GatewayEndpoints(
      SignInService(
        settings: settings, knowledge: knowledge, directory: parts.directory, apple: credentials.apple,
        button: button, metrics: parts.metrics, audit: credentials.audit, logger: parts.logger),
      notifications: NotificationEndpoint(
        verifier: credentials.apple.notifications, parts: parts, audit: credentials.audit),
      assertionKeys: AssertionKeys(credentials.signer))
    upstreams = try await WatchedUpstream.all(
      of: settings, routes: knowledge.routes, keeping: previous?.upstreams ?? [], on: parts.eventLoop)
    terms = try ListenerConfiguration(
      settings.listener,
      rules: ForwardingRules(
        reservedNames: settings.identity.headers.map(\.name), sessionCookieName: SessionCookie.name,
        scheme: settings.origin.scheme.rawValue),
      upstreams: upstreams.map(\.target), after: previous?.terms)
    access = try AdministrationAccess(settings.admin, at: settings.adminAddress)
  }
}
