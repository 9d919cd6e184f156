internal import DataPlane
internal import Logging
internal import NIOCore
internal import Operations
internal import ServiceLifecycle
internal import Sessions
internal import SocketTransport

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
  private let store: OpeningSessionStore
  private let eventLoop: any EventLoop
  private let ending = ShutdownCoordinator()
  let reload: Reload

  var publicAddress: BindAddress { listener.address }
  var adminAddress: BindAddress { adminListener.address }

  /// The time that a start waits for the store before listening. The store usually opens within it, so that no request
  /// is answered 503.
  private static let storeWait = Duration.seconds(1)

  /// Creates the parts, and listens. Neither Apple nor the store has to be reachable.
  /// - Parameters:
  ///   - open: makes one attempt to open the store.
  ///   - log: the application log, for a reload to change.
  ///   - reread: reads the settings again.
  static func start(
    _ settings: GatewaySettings, open: @escaping StoreOpener, group: SocketEventLoopGroup, logger: Logger,
    log: LogControl, version: String, reread: @escaping Reload.Reader
  ) async throws -> RunningGateway {
    let eventLoop = group.loops[0]
    let started = Timestamp.now()
    let metrics = MetricsRegistry(version: version, startTime: started)
    let health = HealthMonitor(checks: [
      HealthCheck(name: "store", status: .unknown, message: "not open yet", effect: .gatesReadiness),
      HealthCheck(name: Revalidator.checkName, status: .unknown),
      HealthCheck(name: Reload.checkName, status: .ok, since: started),
    ])
    let loops = ProcessSessions()
    let storeHealth = StoreHealth(settings.store, metrics: metrics, logger: logger, now: WallClock.now())
    storeHealth.addMetrics()
    let keys = try await GatewayKeys(settings, metrics: metrics, on: eventLoop)
    let location = settings.store.location
    let store = OpeningSessionStore(
      isFinal: { $0.isFinal(at: location) }, onRetry: { storeHealth.didNotOpen($0) },
      attempt: { try await OpeningSessionStore.Opened(try await open(), keys) })
    _ = try await store.waitUntilOpen(atMost: storeWait)
    let sessions = SessionManager(
      store: store, loops: loops, storeHealth: storeHealth, settings: settings.session, metrics: metrics,
      clock: WallClock.now)
    let tokens = MachineTokenSessions(
      store: store, key: { store.key }, loops: loops, storeHealth: storeHealth, metrics: metrics, clock: WallClock.now)
    let lastSeen = LastSeenBatch(loops: loops, store: store, storeHealth: storeHealth)
    let relay = NotificationRelay(store: store, metrics: metrics, logger: logger)
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

    let resources = ResourceWatch(logger: logger)
    resources.addMetrics(to: metrics)
    let gates = LoopGates()
    let sockets = try InheritedSockets.ofEnvironment()
    let admin = AcceptorSettings(name: "admin", address: settings.adminAddress)
    // Another process with this configuration may share the public addresses: clients of a start that ends over the
    // admin address would lose their connections.
    try Listener.requireFree(admin, sockets)
    let listener = try await Listener.start(snapshot.listener, on: group.loops, sockets: sockets) { eventLoop in
      let loopSessions = LoopSessions(
        snapshot.gate.sessions, manager: sessions, tokens: tokens, revalidations: revalidations,
        lastSeen: lastSeen, storeHealth: storeHealth, eventLoop: eventLoop)
      let gate = LoopGate(
        snapshot.gate, sessions: loopSessions, endpoints: snapshot.endpoints, logger: logger)
      let observer = LoopObserver(
        metrics, log: settings.log, prefix: settings.prefix, hosts: settings.hostNames, logger: logger)
      loops.add(NIOLoopBound(loopSessions, eventLoop: eventLoop))
      gates.add(LoopGates.Parts(gate: gate, observer: observer), on: eventLoop)
      return ListenerDependencies(gate: gate, observer: observer)
    }
    loops.add(listener)
    for address in listener.sharedAddresses {
      logger.warning(
        "another process listens on the same address, connections are divided between both",
        metadata: [
          "address": "\(address)",
          "remedy": "unless it is about to end, stop one of the two (ss -ltnp), or change listen.address",
        ])
    }
    let certificates = CertificateWatch(
      snapshot.listener.certificates, hosts: snapshot.settings.publicHosts, health: health, logger: logger)
    certificates.addMetrics(to: metrics)
    let tasks = BackgroundTasks(
      store: store, storeHealth: storeHealth, sessions: sessions, loops: loops, lastSeen: lastSeen,
      changes: ChangeFollower(store: store, sessions: sessions, loops: loops, storeHealth: storeHealth),
      revalidator: revalidator, health: health, upstreams: upstreams, relay: relay, metrics: metrics,
      certificates: certificates, resources: resources, logger: logger)
    await tasks.checkStore()

    let people = PeopleWatch(store: store)
    people.addMetrics(to: metrics)
    let board = StatusBoard(
      loops: loops, health: health, metrics: metrics, people: people, upstreams: { upstreams.status }, version: version,
      started: started)
    let reload = Reload(
      snapshot, factory: factory,
      running: Reload.Running(
        listener: listener, gates: gates, sessions: sessions, storeHealth: storeHealth, revalidator: revalidator,
        relay: relay, upstreams: upstreams, certificates: certificates, health: health, log: log),
      metrics: metrics, logger: logger, read: reread)
    snapshot.members.report(to: health)
    let adminListener = try await startAdminListener(
      admin, isPrivate: snapshot.access.restsOnPermission, on: eventLoop, sockets: sockets
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
      board: board, people: people, store: store, eventLoop: eventLoop, reload: reload)
  }

  /// - Parameter isPrivate: whether a Unix socket is created with access for its owner only.
  private static func startAdminListener(
    _ acceptor: AcceptorSettings, isPrivate: Bool, on eventLoop: SocketEventLoop, sockets: InheritedSockets,
    gate: @escaping @Sendable () -> AdminGate
  ) async throws -> Listener {
    let mask = isPrivate ? umask(0o177) : nil
    defer { if let mask { _ = umask(mask) } }
    let configuration = try ListenerConfiguration(
      ListenerSettings(main: acceptor),
      rules: ForwardingRules(reservedNames: [], sessionCookieName: CookieNames.standard.session, scheme: "http"),
      upstreams: [])
    return try await Listener.start(configuration, on: [eventLoop], sockets: sockets, use: .administration) { _ in
      ListenerDependencies(gate: gate(), observer: SilentObserver())
    }
  }

  /// Whether the store is open; public routes are served in any case.
  var isStoreOpen: Bool { store.key != nil }

  /// Runs the background tasks until graceful shutdown.
  /// - Parameter onReady: called once, when the store is open.
  /// - Throws: the error because of which the store cannot be opened.
  func serve(onReady: @Sendable () -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { group.cancelAll() }
      group.addTask { await tasks.run(with: periodicTasks(), on: eventLoop) }
      let wasOpen = isStoreOpen
      if try await cancelWhenGracefulShutdown({ try await store.waitUntilOpen() }) {
        if !wasOpen { await tasks.checkStore() }
        onReady()
      }
      try? await gracefulShutdown()
    }
  }

  private func periodicTasks() -> PeriodicTasks {
    var tasks = PeriodicTasks()
    CertificateReloader(reload: reload).schedule(in: &tasks)
    MembersWatch(reload).schedule(in: &tasks)
    tasks.add(every: StatusHistory.stepSeconds) { [board] in board.record() }
    tasks.addTask(every: PeopleWatch.interval) { [people] in await people.count() }
    return tasks
  }

  /// Graceful shutdown: reports not ready, waits for load balancers, drains requests in flight, and writes the
  /// last-seen updates.
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
    let aborted = await listener.drain(within: ending.isForced ? .zero : settings.limit)
    if aborted > 0, !ending.isForced {
      logger.warning(
        "shutdown.limit reached, requests in flight were aborted", metadata: ["connections": "\(aborted)"])
    }
    await lastSeen.write()
    await adminListener.drain(within: .seconds(1))
    do throws(StoreError) { try await store.close() } catch {
      logger.warning("closing the session store failed", metadata: ["error": "\(error)"])
    }
  }

  /// Forces a shutdown in progress to end at once.
  func forceClose() {
    logger.warning("second stop signal, aborting requests in flight")
    ending.forceClose(listener)
  }
}
