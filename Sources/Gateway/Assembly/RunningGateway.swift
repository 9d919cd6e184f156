internal import DataPlane
internal import Logging
internal import NIOCore
internal import Operations
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
  private let parts: LastingParts
  private let upkeep: BackgroundTasks
  private let board: StatusBoard
  private let store: any SessionStore
  private let ending = ShutdownCoordinator()
  let reload: Reload

  var publicAddress: BindAddress { listener.address }
  var adminAddress: BindAddress { adminListener.address }

  /// Puts the parts together, and listens. Apple need not be reachable.
  /// - Parameters:
  ///   - log: the application log, for a reload to change.
  ///   - reread: reads the settings again.
  static func start(
    _ settings: GatewaySettings, store: any SessionStore, group: any EventLoopGroup, logger: Logger, log: LogControl,
    version: String, reread: @escaping Reload.Reader
  ) async throws -> RunningGateway {
    let eventLoop = group.next()
    let started = Timestamp.now()
    let metrics = MetricsRegistry(version: version, startTime: started)
    let health = HealthMonitor(checks: [
      HealthCheck(name: "store", status: .unknown, effect: .gatesReadiness),
      HealthCheck(name: Revalidator.checkName, status: .unknown),
    ])
    let credentials = try await GatewayKeys(settings, store: store, metrics: metrics, on: eventLoop)
    let checks = Revalidator(
      Revalidator.Dependencies(credentials, settings.revalidation), metrics: metrics, health: health, logger: logger)
    let directory = SessionManager(
      store: store, settings: settings, checks: checks, metrics: metrics, logger: logger)
    let parts = LastingParts(
      directory: directory, relay: NotificationRelay(store: store, metrics: metrics, logger: logger), metrics: metrics,
      health: health, logger: logger, eventLoop: eventLoop)
    let generation = try await ConfigurationSnapshot(settings, credentials: credentials, parts: parts)
    parts.relay.apply(generation.relayRoute)
    let upstreams = UpstreamWatch(generation.upstreams, logger: logger)
    upstreams.addMetrics(to: metrics)
    metrics.addGauge(
      "cordon_log_dropped_bytes_total", kind: .counter, help: "Bytes of log lines that standard output did not take."
    ) { Double(LogSink.standard.droppedBytes) }

    metrics.addGauge(
      "cordon_descriptor_refusals_total", kind: .counter,
      help: "Connections that were not accepted, or not made, because no descriptor was left for them."
    ) { Double(DescriptorBudget.process.refusals) }

    metrics.addGauge(
      "cordon_unfinished_request_bytes", help: "Memory held for requests and handshakes that are not whole."
    ) { Double(MemoryInUse.process.headBytes) }

    let sites = LoopSites()
    let sockets = try InheritedSockets.ofEnvironment()
    let listener = try await Listener.start(generation.terms, on: group, sockets: sockets) { eventLoop in
      let gate = LoopGate(
        generation.knowledge, directory: directory, ownPages: generation.ownPages, eventLoop: eventLoop, logger: logger)
      let observer = LoopObserver(metrics, log: settings.log, logger: logger)
      directory.add(NIOLoopBound(gate, eventLoop: eventLoop), on: eventLoop)
      sites.add(LoopSites.Site(gate: gate, observer: observer), on: eventLoop)
      return ListenerDependencies(gate: gate, observer: observer)
    }
    directory.add(listener)
    let certificates = CertificateWatch(generation.terms.certificates, health: health, logger: logger)
    certificates.addMetrics(to: metrics)
    let upkeep = BackgroundTasks(
      directory: directory, health: health, upstreams: upstreams, relay: parts.relay, metrics: metrics,
      certificates: certificates, logger: logger)
    await upkeep.checkStore()

    let board = StatusBoard(parts, upstreams: upstreams, version: version, started: started)
    let reload = Reload(
      generation, parts: parts,
      running: Reload.Running(
        listener: listener, sites: sites, upstreams: upstreams, certificates: certificates, log: log),
      read: reread)
    let adminListener = try await startAdminListener(
      settings.adminAddress, isPrivate: generation.access.restsOnPermission, on: eventLoop, sockets: sockets
    ) {
      let refusals = RefusalAudit()
      let hosts = AdminHostPolicy(settings.adminAddress)
      return AdminGate(
        hosts: hosts, health: health, metrics: metrics, status: { await board.answer($0, reload.current) }
      ) {
        Administration(reload, directory: directory, metrics: metrics, refusals: refusals)
      }
    }
    try sockets.requireNoneLeft()
    return RunningGateway(
      listener: listener, adminListener: adminListener, parts: parts, upkeep: upkeep, board: board, store: store,
      reload: reload)
  }

  /// - Parameter isPrivate: whether a Unix socket is to be its owner's alone, from its first moment on.
  private static func startAdminListener(
    _ address: BindAddress, isPrivate: Bool, on eventLoop: any EventLoop, sockets: InheritedSockets,
    gate: @escaping @Sendable () -> AdminGate
  ) async throws -> Listener {
    let mask = isPrivate ? umask(0o177) : nil
    defer { if let mask { _ = umask(mask) } }
    let terms = try ListenerConfiguration(
      ListenerSettings(main: AcceptorSettings(name: "admin", address: address)),
      rules: ForwardingRules(reservedNames: [], sessionCookieName: SessionCookie.name, scheme: "http"), upstreams: [])
    return try await Listener.start(terms, on: eventLoop, sockets: sockets, use: .administration) { _ in
      ListenerDependencies(gate: gate(), observer: SilentObserver())
    }
  }

  /// Does the upkeep until graceful shutdown.
  func serve() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await upkeep.run() }
      group.addTask { await CertificateReloader(reload).run() }
      group.addTask { await board.run() }
      try? await gracefulShutdown()
      group.cancelAll()
    }
  }

  /// Tells the orchestrator, waits until balancers have noticed, finishes what is in flight, writes down what was seen.
  func stop() async {
    let settings = reload.current.settings.drain
    parts.logger.notice(
      "shutting down: not ready, completing requests in flight",
      metadata: ["delay": "\(settings.delay)", "limit": "\(settings.limit)"])
    ServiceManager().stopping()
    parts.health.beginDraining()
    await reload.stop()
    await listener.beginGracefulShutdown()
    await ending.pause(settings.delay)
    await listener.drain(within: ending.isHurried ? .zero : settings.limit)
    await parts.directory.writeSightings()
    await adminListener.drain(within: .seconds(1))
    do throws(StoreError) { try await store.close() } catch {
      parts.logger.warning("closing the session store failed", metadata: ["error": "\(error)"])
    }
  }

  /// Cuts a stop short that was asked for before.
  func forceClose() {
    parts.logger.warning("second stop signal, aborting requests in flight")
    ending.forceClose(listener)
  }
}
