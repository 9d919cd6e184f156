internal import AccessPolicy
internal import AppleIdentity
internal import DataPlane
internal import FoundationEssentials
internal import Logging
internal import NIOCore
internal import Operations
internal import Pages
internal import ServiceLifecycle
internal import Sessions

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// A gateway that has started: its listeners, and the upkeep beside them.
struct RunningGateway: Sendable {
  private let listener: Listener
  private let adminListener: Listener
  private let directory: SessionDirectory
  private let upkeep: Upkeep
  private let health: HealthMonitor
  private let store: any SessionStore
  private let logger: Logger

  var publicAddress: BindAddress { listener.address }
  var adminAddress: BindAddress { adminListener.address }

  /// Puts the parts together, and listens. Apple need not be reachable.
  static func start(
    _ settings: GatewaySettings, store: any SessionStore, group: any EventLoopGroup, logger: Logger, version: String
  ) async throws -> RunningGateway {
    let keyring = try SessionKeyring(files: settings.session.secretFiles)
    try keyring.requireEveryKey(of: try await store.sealingKeys())
    let metrics = MetricsRegistry(version: version, startTime: .now())
    let audit = AuditTrail(settings.log, keyring: keyring)
    let connection = try await AppleConnection(settings.apple, metrics: metrics, on: group.next())
    let apple = try AppleIdentityProvider(
      settings: settings.apple, key: try ClientSecretKey(contentsOfFile: settings.apple.privateKeyFile),
      transport: { (request) async throws(AppleTransportError) in try await connection.send(request) },
      clock: { Date.now })
    let checks = DailyCheck(
      apple: apple, keyring: keyring, settings: settings.revalidation, metrics: metrics, audit: audit, logger: logger)
    let directory = SessionDirectory(
      store: store, settings: settings, checks: checks, metrics: metrics, logger: logger)
    let knowledge = try GateKnowledge(settings, keyring: keyring)
    let service = SignInService(
      settings: settings, knowledge: knowledge, directory: directory, apple: apple, metrics: metrics, audit: audit,
      logger: logger)
    let health = HealthMonitor(checks: [HealthCheck(name: "store", status: .unknown, effect: .gatesReadiness)])
    let upstreams = try await UpstreamWatch(settings, routes: knowledge.routes, on: group.next())
    upstreams.addMetrics(to: metrics)

    let administration = Administration(
      access: try AdministrationAccess(settings.admin, at: settings.adminAddress), directory: directory, apple: apple,
      keyring: keyring, metrics: metrics, audit: audit, logger: logger)
    let adminListener = try await startAdminListener(
      settings.adminAddress, isPrivate: administration.access.restsOnPermission, on: group.next()
    ) { AdminGate(health: health, metrics: metrics, administration: administration) }

    let ownPages = OwnPages(service)
    let listener = try await Listener.start(
      settings.listener,
      rules: ForwardingRules(
        reservedNames: settings.identity.headers.map(\.name), sessionCookieName: SessionCookie.name,
        scheme: settings.origin.scheme.rawValue),
      upstreams: upstreams.targets, on: group
    ) { eventLoop in
      let gate = LoopGate(
        knowledge, directory: directory, ownPages: ownPages, eventLoop: eventLoop, logger: logger)
      directory.add(NIOLoopBound(gate, eventLoop: eventLoop), on: eventLoop)
      let accessLog = settings.log.accessLog ? AccessLogWriter(settings.log) : nil
      return ListenerParts(gate: gate, observer: LoopObserver(metrics, accessLog: accessLog))
    }
    directory.add(listener)
    let upkeep = Upkeep(
      directory: directory, health: health, upstreams: upstreams, settings: settings, metrics: metrics,
      certificate: listener.certificate.map { CertificateWatch($0, health: health, logger: logger) })
    await upkeep.checkStore()
    return RunningGateway(
      listener: listener, adminListener: adminListener, directory: directory, upkeep: upkeep, health: health,
      store: store, logger: logger)
  }

  /// - Parameter isPrivate: whether a Unix socket is to be its owner's alone, from its first moment on.
  private static func startAdminListener(
    _ address: BindAddress, isPrivate: Bool, on eventLoop: any EventLoop,
    gate: @escaping @Sendable () -> AdminGate
  ) async throws -> Listener {
    let mask = isPrivate ? umask(0o177) : nil
    defer { if let mask { _ = umask(mask) } }
    return try await Listener.start(
      ListenerSettings(address: address),
      rules: ForwardingRules(reservedNames: [], sessionCookieName: SessionCookie.name, scheme: "http"), upstreams: [],
      on: eventLoop
    ) { _ in ListenerParts(gate: gate(), observer: SilentObserver()) }
  }

  /// Does the upkeep until graceful shutdown.
  func serve() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await upkeep.run() }
      try? await gracefulShutdown()
      group.cancelAll()
    }
  }

  /// Tells the orchestrator, finishes what is in flight, writes down what was seen.
  func stop(within limit: Duration) async {
    logger.notice("stopping: no longer ready, finishing what is in flight")
    health.beginDraining()
    await listener.drain(within: limit)
    await directory.writeSightings()
    await adminListener.drain(within: .seconds(1))
    do throws(StoreError) { try await store.close() } catch {
      logger.warning("the session store could not be closed", metadata: ["error": "\(error)"])
    }
  }
}
