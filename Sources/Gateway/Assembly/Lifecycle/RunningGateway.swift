internal import DataPlane
internal import Logging
internal import NIOCore
internal import Operations
internal import ServiceLifecycle
internal import Sessions
internal import SocketTransport
internal import Threads

/// A gateway that has started: its listeners, and its background tasks.
struct RunningGateway: Sendable {
  private let services: ProcessServices
  private let listener: Listener
  private let adminListener: Listener
  private let tasks: BackgroundTasks
  private let board: StatusBoard
  private let people: PeopleWatch
  let heartbeats: HeartbeatMonitor
  private let shutdown = ShutdownCoordinator()
  let reload: Reload

  var listenAddress: BindAddress { listener.address }
  var adminAddress: BindAddress { adminListener.address }

  /// Creates the parts, and listens. Neither Apple nor the store has to be reachable.
  /// - Parameters:
  ///   - open: makes one attempt to open the store.
  ///   - log: the application log, for a reload to change.
  ///   - reread: reads the settings again.
  static func start(
    _ settings: GatewaySettings, open: @escaping StoreOpener, group: SocketEventLoopGroup, logger: Logger,
    log: LogControl, version: String, reread: @escaping Reload.Reader
  ) async throws -> RunningGateway {
    let (eventLoops, started) = (group.loops, Timestamp.now())
    let metrics = MetricsRegistry(version: version, startTime: started)
    let (services, snapshot) = try await makeServices(
      settings, open: open, metrics: metrics, started: started, logger: logger, on: eventLoops[0])
    let upstreams = UpstreamWatch(snapshot.upstreams, logger: logger)
    upstreams.addMetrics(to: metrics)
    addLogMetrics(to: metrics)
    let resources = ResourceWatch(logger: logger)
    resources.addMetrics(to: metrics)

    let admin = adminAcceptor(of: snapshot)
    let sockets = try takeSockets(settings.listener.acceptors, admin)
    let gates = LoopGates()
    let listener = try await startPublicListener(snapshot, services, adding: gates, on: eventLoops, sockets)
    let certificates = CertificateWatch(
      snapshot.listener.certificates, hosts: settings.publicHosts, health: services.health, logger: logger)
    certificates.addMetrics(to: metrics)

    let tasks = BackgroundTasks(services, upstreams, certificates, resources)
    await tasks.checkStore()
    let people = PeopleWatch(store: services.store, storeHealth: services.storeHealth)
    people.addMetrics(to: metrics)
    let reload = Reload(
      snapshot, factory: services.snapshots,
      running: Reload.Running(services, listener, gates, upstreams, certificates, log: log),
      metrics: metrics, logger: logger, read: reread)
    snapshot.members.report(to: services.health)

    let board = StatusBoard(
      loops: services.loops, health: services.health, metrics: metrics, people: people,
      upstreams: { upstreams.status }, version: version, started: started)
    let heartbeats = HeartbeatMonitor(eventLoops: eventLoops.count, health: services.health, logger: logger) {
      eventLoops[$0].execute($1)
    }
    let adminListener: Listener
    do {
      // On the event loop of the timer, because it judges the others.
      adminListener = try await startAdminListener(admin, on: eventLoops[0], sockets: sockets) {
        adminGate(at: settings.adminAddress, services, heartbeats, board, reload)
      }
    } catch {
      listener.removeSocketFiles()
      throw error
    }
    return RunningGateway(
      services: services, listener: listener, adminListener: adminListener, tasks: tasks, board: board,
      people: people, heartbeats: heartbeats, reload: reload)
  }

  // MARK: Steps of the start

  /// Makes the services, and the first snapshot.
  private static func makeServices(
    _ settings: GatewaySettings, open: @escaping StoreOpener, metrics: MetricsRegistry, started: Timestamp,
    logger: Logger, on eventLoop: SocketEventLoop
  ) async throws -> (ProcessServices, ConfigurationSnapshot) {
    let keys = try await GatewayKeys(settings, KeyFiles(settings), metrics: metrics, on: eventLoop)
    let services = try await ProcessServices(
      settings, keys, open: open, metrics: metrics, started: started, logger: logger, on: eventLoop)
    let snapshot = try await services.snapshots.make(
      settings, keys: keys, members: MembersFiles(settings.routing.groups))
    services.relay.apply(snapshot.relayRoute)
    return (services, snapshot)
  }

  private static func adminAcceptor(of snapshot: ConfigurationSnapshot) -> AcceptorSettings {
    var admin = AcceptorSettings(name: "admin", address: snapshot.settings.adminAddress)
    admin.isPrivate = snapshot.adminAuthorization.restsOnPermission
    return admin
  }

  /// Takes the sockets that the process has inherited for its addresses.
  /// - Throws: an error if another process has the admin address. One with this configuration may share the public
  ///   addresses: clients of a start that ends over the admin address would lose their connections.
  private static func takeSockets(_ acceptors: [AcceptorSettings], _ admin: AcceptorSettings) throws -> InheritedSockets
  {
    let sockets = try InheritedSockets.ofEnvironment(for: acceptors + [admin])
    try Listener.requireFree(admin, sockets)
    return sockets
  }

  private static func addLogMetrics(to metrics: MetricsRegistry) {
    metrics.addGauge(
      "cordon_log_dropped_bytes_total", kind: .counter,
      help: "Bytes of log lines dropped because standard output was blocked."
    ) { Double(LogSink.standard.droppedBytes) }
  }

  // MARK: The public listener

  /// Listens for clients, with a gate and an observer on each event loop.
  /// - Parameter gates: gets these, for later configurations.
  private static func startPublicListener(
    _ snapshot: ConfigurationSnapshot, _ services: ProcessServices, adding gates: LoopGates,
    on eventLoops: [SocketEventLoop], _ sockets: InheritedSockets
  ) async throws -> Listener {
    let (settings, logger) = (snapshot.settings, services.logger)
    let handshakeLog = HandshakeFailureLog(logger)
    let listener = try await Listener.start(snapshot.listener, on: eventLoops, sockets: sockets) { eventLoop in
      let sessions = LoopSessions(
        snapshot.gate.sessions, manager: services.sessions, tokens: services.tokens,
        revalidations: services.revalidations, lastSeen: services.lastSeen, storeHealth: services.storeHealth,
        eventLoop: eventLoop)
      let gate = LoopGate(snapshot.gate, sessions: sessions, endpoints: snapshot.endpoints, logger: logger)
      let observer = LoopObserver(
        services.metrics, log: settings.log, prefix: settings.publicAddress.prefix, hosts: settings.hostNames,
        handshakeLog: handshakeLog, logger: logger)
      services.loops.add(NIOLoopBound(sessions, eventLoop: eventLoop))
      gates.add(LoopGates.Parts(gate: gate, observer: observer), on: eventLoop)
      return ListenerDependencies(
        gate: gate, observer: observer, proxyHeaderMissing: { observer.proxyHeaderMissing(from: $0) })
    }
    services.loops.add(listener)
    for address in listener.sharedAddresses {
      logger.warning(
        "another process listens on the same address, connections are divided between both",
        metadata: [
          "address": "\(address)",
          "remedy": "unless it is about to end, stop one of the two (ss -ltnp), or change listen.address",
        ])
    }
    return listener
  }

  // MARK: The admin listener

  private static func adminGate(
    at address: BindAddress, _ services: ProcessServices, _ heartbeats: HeartbeatMonitor, _ board: StatusBoard,
    _ reload: Reload
  ) -> AdminGate {
    let refusals = LogLimit(lines: 10)
    return AdminGate(
      hosts: AdminHostPolicy(address), health: services.health, heartbeats: heartbeats, metrics: services.metrics,
      status: { await board.answer($0, reload.current.status) },
      api: { adminAPI(by: reload.current, services, reload, refusals) })
  }

  private static func adminAPI(
    by current: ConfigurationSnapshot, _ services: ProcessServices, _ reload: Reload, _ refusals: LogLimit
  ) -> AdminAPI {
    AdminAPI(
      authorization: current.adminAuthorization, sessions: services.sessions, store: services.store,
      accessChanges: AccessChanges(
        current, store: services.store, sessions: services.sessions, storeHealth: services.storeHealth,
        metrics: services.metrics),
      apple: current.keys.apple, keyring: current.keys.keyring, denyGroups: current.settings.routing.denyGroups,
      storeHealth: services.storeHealth, metrics: services.metrics, audit: current.keys.audit,
      reload: { await reload.run(by: $0) }, refusals: refusals)
  }

  /// Listens for operators: the last listener, so that no inherited socket may be left.
  private static func startAdminListener(
    _ acceptor: AcceptorSettings, on eventLoop: SocketEventLoop, sockets: InheritedSockets,
    gate: @escaping @Sendable () -> AdminGate
  ) async throws -> Listener {
    let configuration = try ListenerConfiguration(
      ListenerSettings(main: acceptor),
      rules: ForwardingRules(reservedNames: [], sessionCookieName: CookieNames.standard.session, scheme: "http"),
      upstreams: [])
    let listener = try await Listener.start(
      configuration, on: [eventLoop], sockets: sockets, use: .administration
    ) { _ in
      ListenerDependencies(gate: gate(), observer: SilentObserver())
    }
    do {
      try sockets.requireNoneLeft()
    } catch {
      listener.removeSocketFiles()
      throw error
    }
    return listener
  }

  // MARK: Running

  /// Whether the store is open; public routes are served in any case.
  var isStoreOpen: Bool { services.store.key != nil }

  /// Serves until graceful shutdown, completes the requests in flight, and closes the store.
  /// - Parameter onReady: called once, when the store is open.
  /// - Returns: whether the store is closed. Otherwise it did not answer, and threads still wait for it.
  /// - Throws: the error because of which the store cannot be opened.
  func run(onReady: @Sendable () -> Void) async throws -> Bool {
    let background = Task { await tasks.run(with: periodicTasks(), on: services.eventLoop) }
    var failure: (any Error)?
    do { try await serve(onReady) } catch let error { failure = error }
    // The background tasks go on meanwhile: a session that another gateway ends has to end here, too.
    await drain()
    heartbeats.endPeriodicTasks()
    background.cancel()
    let isClosed = await close(after: background)
    if let failure { throw failure }
    return isClosed
  }

  private func serve(_ onReady: @Sendable () -> Void) async throws {
    let wasOpen = isStoreOpen
    if try await cancelWhenGracefulShutdown({ try await services.store.waitUntilOpen() }) {
      if !wasOpen { await tasks.checkStore() }
      onReady()
    }
    try? await gracefulShutdown()
  }

  private func periodicTasks() -> PeriodicTasks {
    var tasks = PeriodicTasks()
    let certificates = CertificateReloader(reload: reload)
    let members = MembersReloader(reload: reload)
    let socketFiles = SocketFileWatch(
      listener.socketFiles + adminListener.socketFiles, health: services.health, logger: services.logger)
    let appleKey = AppleKeyWatch(health: services.health, logger: services.logger)
    let keyFiles = KeyFilesWatch(health: services.health, logger: services.logger)
    FileRounds(
      by: reload.files.add,
      [certificates.look, members.look, appleKey.look(reload), keyFiles.look(reload), socketFiles.look]
    ).schedule(in: &tasks)
    certificates.schedule(in: &tasks)
    FileStallWatch(health: services.health, logger: services.logger).schedule(in: &tasks)
    tasks.add(every: StatusHistory.stepSeconds) { [board] in board.record() }
    tasks.addTask(every: PeopleWatch.interval) { [people] in await people.count() }
    tasks.add(every: HeartbeatMonitor.questionInterval) { [heartbeats] in heartbeats.periodicTasksRan() }
    tasks.addTick { [heartbeats] in heartbeats.tick() }
    let accepting = AcceptWatch(health: services.health, logger: services.logger)
    tasks.addTick { accepting.check() }
    tasks.addTick { [logger = services.logger] in
      guard ServiceManager.process.sendAgain() else { return }
      logger.warning(
        "the service manager does not take notifications, sending them again",
        metadata: ["remedy": "see why the process that reads NOTIFY_SOCKET hangs (systemd, or the container runtime)"])
    }
    return tasks
  }

  /// The longest wait for a reload that is under way: one that reads from a file system which does not answer may never
  /// end.
  private static let reloadLimit = Duration.seconds(2)

  /// Reports not ready, waits for load balancers, and completes requests in flight.
  private func drain() async {
    let settings = reload.current.settings.drain
    services.logger.notice(
      "shutting down: not ready, completing requests in flight",
      metadata: ["delay": "\(settings.delay)", "limit": "\(settings.limit)"])
    ServiceManager.process.stopping()
    services.health.beginDraining()
    reload.refuseFurther()
    await shutdown.finish(Task { [reload] in await reload.finish() }, by: ContinuousClock.now + Self.reloadLimit)
    await listener.beginGracefulShutdown()
    await shutdown.pause(settings.delay)
    let aborted = await listener.drain(within: shutdown.isForced ? .zero : settings.limit)
    if aborted > 0, !shutdown.isForced {
      services.logger.warning(
        "shutdown.limit reached, requests in flight were aborted", metadata: ["connections": "\(aborted)"])
    }
  }

  /// The longest wait for a store that does not answer, and for revalidations that are under way when the process
  /// ends: mostly longer than Apple takes, and short beside the time that a service manager grants.
  private static let writingLimit = Duration.milliseconds(2_500)

  /// The time that is left in any case for results which the store has not taken before.
  private static let shortestRecording = Duration.seconds(1)

  /// The time that is left to close the store, of the time below.
  private static let closingTime = Duration.milliseconds(500)

  /// The longest time for everything after the drain. Service managers are to be told to wait five seconds for it.
  private static let closingLimit = Duration.seconds(4)

  /// Writes the last-seen updates and the results of revalidations, and closes what is left.
  /// - Parameter background: the background tasks, which are cancelled. Operations of the store go on until it answers.
  /// - Returns: whether the store is closed.
  private func close(after background: Task<Void, Never>) async -> Bool {
    let start = ContinuousClock.now
    let deadline = start + Self.writingLimit
    let lastSeen = services.lastSeen
    let writing = Task { await lastSeen.write() }
    await shutdown.finish(background, by: deadline)
    await shutdown.finish(writing, by: deadline)
    let queue = services.revalidator.queue
    await shutdown.wait { await queue.waitForAll(by: deadline) }
    let revalidations = services.revalidations
    await shutdown.wait {
      await revalidations.finish(by: max(deadline, ContinuousClock.now + Self.shortestRecording))
    }
    let end = start + Self.closingLimit
    let admin = adminListener
    await shutdown.finish(Task { _ = await admin.drain(within: .seconds(1)) }, by: end)
    // A store that was slow, or locked, may have answered meanwhile. Once it is closed, nothing can be written.
    await shutdown.finish(writing, by: end - Self.closingTime)
    lastSeen.end()
    await lastSeen.reportUnwritten()
    return await shutdown.finish(closeStore(), by: end)
  }

  private func closeStore() -> Task<Void, Never> {
    let (store, logger) = (services.store, services.logger)
    return Task {
      do throws(StoreError) { try await store.close() } catch {
        logger.warning("closing the session store failed", metadata: ["error": "\(error)"])
      }
    }
  }

  /// Forces a shutdown in progress to end at once.
  func forceClose() {
    services.logger.warning("second stop signal, aborting requests in flight")
    shutdown.forceClose(listener)
  }
}

extension Reload.Running {
  /// The parts of a gateway that has just started.
  fileprivate init(
    _ services: ProcessServices, _ listener: Listener, _ gates: LoopGates, _ upstreams: UpstreamWatch,
    _ certificates: CertificateWatch, log: LogControl
  ) {
    self.init(
      listener: listener, gates: gates, sessions: services.sessions, storeHealth: services.storeHealth,
      keys: services.keys, revalidator: services.revalidator, relay: services.relay, upstreams: upstreams,
      certificates: certificates, health: services.health, log: log)
  }
}
