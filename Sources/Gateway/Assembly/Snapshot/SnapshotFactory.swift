internal import AccessPolicy
internal import DataPlane
internal import NIOCore
internal import Sessions
internal import Threads
internal import WebFormats

/// Builds configuration snapshots: from settings, and from the services that outlive a reload.
struct SnapshotFactory: Sendable {
  let services: EndpointServices
  /// Reads files, so that a file system that does not answer blocks nothing else.
  let files: SerialWorker
  /// The event loop of calls to Apple and of health checks.
  let eventLoop: any EventLoop

  /// Builds the snapshot of a reload.
  /// - Parameter members: the members files of these settings, as they were read.
  /// - Throws: the problem of these settings, with the remedy.
  func make(
    _ settings: GatewaySettings, members: MembersFiles, after previous: ConfigurationSnapshot
  ) async throws -> ConfigurationSnapshot {
    let keyFiles = try await files.run { Result { try KeyFiles(settings) } }.get()
    let keys = try await GatewayKeys(settings, keyFiles, metrics: services.metrics, on: eventLoop, after: previous.keys)
    try await keys.keyring.requireEveryKey(of: services.store, after: previous.keys.keyring)
    return try await make(settings, keys: keys, members: members, after: previous)
  }

  /// - Parameters:
  ///   - keys: read from the same settings.
  ///   - members: the members files of the same settings.
  ///   - previous: the present snapshot, at a reload: unchanged parts are kept.
  /// - Throws: the problem of these settings, with the remedy.
  func make(
    _ settings: GatewaySettings, keys: GatewayKeys, members: MembersFiles, after previous: ConfigurationSnapshot? = nil
  ) async throws -> ConfigurationSnapshot {
    let gate = try GateConfiguration(
      settings, groups: members.directory, keyring: keys.keyring,
      assertions: SessionAssertions(
        settings.assertion, allowsUnverifiedEmail: settings.identity.allowUnverifiedEmail, signer: keys.signer,
        logger: services.logger),
      omissions: HeaderOmissions(services.logger), after: previous?.gate, logger: services.logger)
    let button = try await AppleButton(
      settings, metrics: services.metrics, logger: services.logger, reading: files, on: eventLoop,
      after: previous?.button)
    let upstreams = try await WatchedUpstream.all(
      of: settings, routes: gate.routes, keeping: previous?.upstreams ?? [], reading: files, on: eventLoop)
    let listener = try await files.run {
      Result {
        try ListenerConfiguration(
          settings.listener, rules: Self.forwardingRules(settings, keys), upstreams: upstreams.map(\.target),
          after: previous?.listener)
      }
    }.get()
    let limit = SignInLimit(
      settings.signInRate, trustedProxies: settings.listener.acceptors.flatMap(\.trustedProxies),
      metrics: services.metrics, logger: services.logger, after: previous?.signInLimit)
    let endpoints = EndpointFactory(
      services: services, settings: settings, keys: keys, gate: gate, button: button, signInLimit: limit
    ).endpoints()
    return ConfigurationSnapshot(
      settings: settings, keys: keys, gate: gate, button: button,
      endpoints: endpoints, upstreams: upstreams, listener: listener,
      adminAuthorization: try AdminAuthorization(settings.admin, at: settings.adminAddress),
      relayRoute: try await NotificationRelay.Route(
        to: settings.notificationRelay, settings.assertion, signer: keys.signer, on: eventLoop),
      members: members, signInLimit: limit)
  }

  /// Builds the snapshot with other members of the same groups.
  func make(_ members: MembersFiles, after previous: ConfigurationSnapshot) -> ConfigurationSnapshot {
    let gate = previous.gate.with(members.directory)
    let endpoints = EndpointFactory(
      services: services, settings: previous.settings, keys: previous.keys, gate: gate, button: previous.button,
      signInLimit: previous.signInLimit
    ).endpoints()
    return previous.with(members, gate: gate, endpoints: endpoints)
  }

  private static func forwardingRules(_ settings: GatewaySettings, _ keys: GatewayKeys) -> ForwardingRules {
    let address = settings.publicAddress
    return ForwardingRules(
      reservedNames: settings.identity.headers.map(\.name), keptNames: settings.identity.keptHeaders,
      upstreamNames: settings.upstreams.all.flatMap { $0.removedHeaders + $0.ownHeaders },
      sessionCookieName: keys.keyring.cookies.session,
      standardCookieName: CookieNames.standard.session, scheme: address.origin.scheme.rawValue,
      origin: address.origin.description, hostOrigins: settings.hostOrigins, ownPathPrefix: address.prefix,
      responseHeaders: ResponseHeaders(settings.responseHeaders))
  }
}
