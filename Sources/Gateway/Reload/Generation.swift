internal import AccessPolicy
internal import AppleIdentity
internal import DataPlane
internal import Sessions

/// One reading of the configuration, and everything that follows from it: built whole before any of it holds, so that
/// putting it in place cannot fail.
struct Generation: Sendable {
  let settings: GatewaySettings
  let credentials: Credentials
  let knowledge: GateKnowledge
  let button: AppleButton
  let ownPages: OwnPages
  let upstreams: [WatchedUpstream]
  let terms: ListenerTerms
  let access: AdministrationAccess

  /// - Parameters:
  ///   - credentials: read from the same settings.
  ///   - previous: what holds at present, at a reload: what it has in common with this is kept.
  /// - Throws: whatever keeps a gateway from running by these settings, with the remedy.
  init(
    _ settings: GatewaySettings, credentials: Credentials, parts: LastingParts, after previous: Generation? = nil
  ) async throws {
    self.settings = settings
    self.credentials = credentials
    knowledge = try GateKnowledge(settings, keyring: credentials.keyring, after: previous?.knowledge)
    button = try await AppleButton(settings, parts: parts, after: previous?.button)
    ownPages = OwnPages(
      SignInService(
        settings: settings, knowledge: knowledge, directory: parts.directory, apple: credentials.apple,
        button: button, metrics: parts.metrics, audit: credentials.audit, logger: parts.logger))
    upstreams = try await WatchedUpstream.all(
      of: settings, routes: knowledge.routes, keeping: previous?.upstreams ?? [], on: parts.eventLoop)
    terms = try ListenerTerms(
      settings.listener,
      rules: ForwardingRules(
        reservedNames: settings.identity.headers.map(\.name), sessionCookieName: SessionCookie.name,
        scheme: settings.origin.scheme.rawValue),
      upstreams: upstreams.map(\.target), after: previous?.terms)
    access = try AdministrationAccess(settings.admin, at: settings.adminAddress)
  }
}
