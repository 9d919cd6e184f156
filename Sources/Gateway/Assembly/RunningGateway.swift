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

/// A gateway that has started: its listeners, and its background tasks.
struct RunningGateway: Sendable {
  private let listener: Listener
  private let adminListener: Listener
  private let tasks: BackgroundTasks
  private let lastSeen: LastSeenBatch
  private let health: HealthMonitor
  private let logger: Logger
  private let board: StatusBoard
  private let people: PeopleWatch
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
    let loops = SessionLoops()
    let storeHealth = StoreHealth(settings.store, metrics: metrics, logger: logger, now: WallClock.now())
    let sessions = SessionManager(
      store: store, loops: loops, storeHealth: storeHealth, settings: settings.session, metrics: metrics,
      clock: WallClock.now)
    let tokens = MachineTokenSessions(
      store: store, key: try await store.storeKey(), loops: loops, storeHealth: storeHealth, metrics: metrics,
      clock: WallClock.now)
    let lastSeen = LastSeenBatch(loops: loops, store: store, storeHealth: storeHealth)
    let relay = NotificationRelay(store: store, metrics: metrics, logger: logger)
    let keys = try await GatewayKeys(settings, store: store, metrics: metrics, on: eventLoop)
    let revalidator = Revalidator(
      Revalidator.Dependencies(keys, settings.revalidation), store: store, metrics: metrics, health: health,
      logger: logger)
    let revalidations = RequestRevalidations(revalidator, sessions: sessions)
    let factory = SnapshotFactory(
      store: store, storeHealth: storeHealth, sessions: sessions, tokens: tokens, revalidator: revalidator,
      relay: relay,
      metrics: metrics, logger: logger, eventLoop: eventLoop)
    let snapshot = try await factory.make(settings, keys: keys)
    relay.apply(snapshot.relayRoute)
    let upstreams = UpstreamWatch(snapshot.upstreams, logger: logger)
    upstreams.addMetrics(to: metrics)
    metrics.addGauge(
      "cordon_log_dropped_bytes_total", kind: .counter,
      help: "Bytes of log lines dropped because standard output was blocked."
    ) { Double(LogSink.standard.droppedBytes) }

    metrics.addGauge(
      "cordon_descriptor_refusals_total", kind: .counter,
      help: "Connections not accepted or not opened for lack of file descriptors."
    ) { Double(DescriptorBudget.process.refusals) }

    metrics.addGauge(
      "cordon_unfinished_request_bytes", help: "Memory for incomplete requests and handshakes, in bytes."
    ) { Double(MemoryInUse.process.headBytes) }

    let sites = LoopSites()
    let sockets = try InheritedSockets.ofEnvironment()
    let listener = try await Listener.start(snapshot.listener, on: group, sockets: sockets) { eventLoop in
      let loopSessions = LoopSessions(
        snapshot.gate.sessions, manager: sessions, tokens: tokens, revalidations: revalidations,
        lastSeen: lastSeen, storeHealth: storeHealth, eventLoop: eventLoop)
      let gate = LoopGate(
        snapshot.gate, sessions: loopSessions, actions: snapshot.actions, refusal: snapshot.refusal, logger: logger)
      let observer = LoopObserver(metrics, log: settings.log, prefix: settings.prefix, logger: logger)
      loops.add(NIOLoopBound(loopSessions, eventLoop: eventLoop))
      sites.add(LoopSites.Site(gate: gate, observer: observer), on: eventLoop)
      return ListenerDependencies(gate: gate, observer: observer)
    }
    loops.add(listener)
    let certificates = CertificateWatch(snapshot.listener.certificates, health: health, logger: logger)
    certificates.addMetrics(to: metrics)
    let tasks = BackgroundTasks(
      store: store, storeHealth: storeHealth, sessions: sessions, loops: loops, lastSeen: lastSeen,
      changes: ChangeFollower(store: store, sessions: sessions, loops: loops, storeHealth: storeHealth),
      revalidator: revalidator, health: health, upstreams: upstreams, relay: relay, metrics: metrics,
      certificates: certificates, logger: logger)
    await tasks.checkStore()

    let people = PeopleWatch(store: store)
    people.addMetrics(to: metrics)
    let board = StatusBoard(
      loops: loops, health: health, metrics: metrics, people: people, upstreams: { upstreams.status }, version: version,
      started: started)
    let reload = Reload(
      snapshot, factory: factory,
      running: Reload.Running(
        listener: listener, sites: sites, sessions: sessions, storeHealth: storeHealth, revalidator: revalidator,
        relay: relay, upstreams: upstreams, certificates: certificates, health: health, log: log),
      metrics: metrics, logger: logger, read: reread)
    snapshot.members.report(to: health)
    let adminListener = try await startAdminListener(
      settings.adminAddress, isPrivate: snapshot.access.restsOnPermission, on: eventLoop, sockets: sockets
    ) {
      let refusals = RefusalAudit()
      let hosts = AdminHostPolicy(settings.adminAddress)
      return AdminGate(
        hosts: hosts, health: health, metrics: metrics, status: { await board.answer($0, reload.current.status) }
      ) {
        let current = reload.current
        return Administration(
          access: current.access, sessions: sessions, store: store,
          accessAdministration: AccessAdministration(current, store: store, sessions: sessions, metrics: metrics),
          apple: current.keys.apple, keyring: current.keys.keyring, metrics: metrics, audit: current.keys.audit,
          reload: { await reload.run(by: $0) }, refusals: refusals)
      }
    }
    try sockets.requireNoneLeft()
    return RunningGateway(
      listener: listener, adminListener: adminListener, tasks: tasks, lastSeen: lastSeen, health: health,
      logger: logger,
      board: board, people: people, store: store, reload: reload)
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

  /// Runs the background tasks until graceful shutdown.
  func serve() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await tasks.run() }
      group.addTask { await CertificateReloader(reload).run() }
      group.addTask { await MembersWatch(reload).run() }
      group.addTask { await board.run() }
      group.addTask { await people.run() }
      try? await gracefulShutdown()
      group.cancelAll()
    }
  }

  /// Tells the orchestrator, waits until balancers have noticed, finishes what is in flight, writes down what was seen.
  func stop() async {
    let settings = reload.current.settings.drain
    logger.notice(
      "shutting down: not ready, completing requests in flight",
      metadata: ["delay": "\(settings.delay)", "limit": "\(settings.limit)"])
    ServiceManager().stopping()
    health.beginDraining()
    await reload.stop()
    await listener.beginGracefulShutdown()
    await ending.pause(settings.delay)
    await listener.drain(within: ending.isHurried ? .zero : settings.limit)
    await lastSeen.write()
    await adminListener.drain(within: .seconds(1))
    do throws(StoreError) { try await store.close() } catch {
      logger.warning("closing the session store failed", metadata: ["error": "\(error)"])
    }
  }

  /// Cuts a stop short that was asked for before.
  func forceClose() {
    logger.warning("second stop signal, aborting requests in flight")
    ending.forceClose(listener)
  }
}
