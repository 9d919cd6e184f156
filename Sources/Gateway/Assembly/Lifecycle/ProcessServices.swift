internal import DataPlane
internal import Logging
internal import NIOCore
internal import Operations
internal import Sessions
internal import Threads

/// The services of a gateway that outlive its configurations: metrics and health, the store, sessions, revalidation,
/// relayed notifications. For the start and the end of a ``RunningGateway``, and for its ``BackgroundTasks``: any other
/// part is given what it needs.
struct ProcessServices: Sendable {
  let metrics: MetricsRegistry
  let health: HealthMonitor
  let loops: ProcessSessions
  let storeHealth: StoreHealth
  /// Those that the store is checked with when it opens.
  let keys: CurrentKeys
  let store: OpeningSessionStore
  let sessions: SessionManager
  let tokens: MachineTokenSessions
  let lastSeen: LastSeenBatch
  let relay: NotificationRelay
  let revalidator: Revalidator
  let revalidations: RequestRevalidations
  let snapshots: SnapshotFactory
  let started: Timestamp
  let logger: Logger
  /// The event loop of timers, of calls to Apple, and of the admin listener.
  let eventLoop: any EventLoop

  /// The time that a start waits for the store before listening. The store usually opens within it, so that no request
  /// is answered 503.
  private static let storeWait = Duration.seconds(1)

  /// Makes the services, and begins to open the store. Neither Apple nor the store has to be reachable.
  /// - Parameters:
  ///   - keys: those of the first configuration.
  ///   - open: makes one attempt to open the store.
  init(
    _ settings: GatewaySettings, _ keys: GatewayKeys, open: @escaping StoreOpener, metrics: MetricsRegistry,
    started: Timestamp, logger: Logger, on eventLoop: any EventLoop
  ) async throws {
    self.metrics = metrics
    self.started = started
    self.logger = logger
    self.eventLoop = eventLoop
    health = HealthMonitor(checks: [
      HealthCheck(name: "store", status: .unknown, message: "not open yet", effect: .gatesReadiness),
      HealthCheck(name: AppleMonitor.checkName, status: .unknown),
      HealthCheck(name: Reload.checkName, status: .ok, since: started),
    ])
    loops = ProcessSessions()
    let storeHealth = StoreHealth(settings.store, metrics: metrics, logger: logger, now: WallClock.now())
    self.storeHealth = storeHealth
    storeHealth.addMetrics()
    let location = settings.store.location
    let currentKeys = CurrentKeys(keys)
    self.keys = currentKeys
    let store = OpeningSessionStore(
      isFinal: { $0.isFinal(at: location) }, onRetry: { storeHealth.didNotOpen($0) },
      attempt: {
        let opened = try await open()
        // A reload may have replaced the keys since the start.
        return try await OpeningSessionStore.Opened(opened, currentKeys.value)
      })
    self.store = store
    let asked = WallClock.now()
    // Before listening: clients may wait on a socket that was inherited.
    if try await store.waitUntilOpen(atMost: Self.storeWait) {
      storeHealth.answered(at: WallClock.now(), asked: asked)
    }
    let unrecorded = UnrecordedResults()
    lastSeen = LastSeenBatch(loops: loops, store: store, storeHealth: storeHealth, logger: logger)
    sessions = SessionManager(
      store: store, loops: loops, storeHealth: storeHealth, unrecorded: unrecorded, lastSeen: lastSeen,
      settings: settings.session, metrics: metrics, clock: WallClock.now)
    tokens = MachineTokenSessions(
      store: store, key: { store.key }, loops: loops, storeHealth: storeHealth, metrics: metrics, clock: WallClock.now)
    relay = NotificationRelay(store: store, storeHealth: storeHealth, metrics: metrics, logger: logger)
    revalidator = Revalidator(
      Revalidator.Dependencies(keys, settings.revalidation), store: store, storeHealth: storeHealth,
      unrecorded: unrecorded, metrics: metrics, health: health, logger: logger)
    revalidations = RequestRevalidations(revalidator, sessions: sessions)
    snapshots = SnapshotFactory(
      services: EndpointServices(
        store: store, storeHealth: storeHealth, sessions: sessions, tokens: tokens, appleMonitor: revalidator.apple,
        relay: relay, metrics: metrics, logger: logger),
      files: SerialWorker(named: "cordon-files"), eventLoop: eventLoop)
  }
}
