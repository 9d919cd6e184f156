internal import DataPlane
internal import FoundationEssentials
internal import Logging
internal import NIOCore
internal import Operations
internal import Sessions
internal import Synchronization

/// Periodic background work: following the store's changes, writing last-seen updates, deleting expired rows.
struct BackgroundTasks: Sendable {
  private let store: any StoreChangeFeed & StoreMaintenance
  private let storeHealth: StoreHealth
  private let sessions: SessionManager
  private let loops: ProcessSessions
  private let lastSeen: LastSeenBatch
  private let storeCheck: StoreCheck
  private let changes: ChangeFollower
  private let appleMonitor: AppleMonitor
  private let health: HealthMonitor
  private let upstreams: UpstreamWatch
  private let relay: NotificationRelay
  private let certificates: CertificateWatch
  private let resources: ResourceWatch
  private let clock: ClockWatch
  private let logger: Logger
  private let state: State

  private final class State: Sendable {
    /// The number of cached sessions when it was last counted: a gauge must not wait for the event loops.
    let cachedSessions = Atomic<Int>(0)
  }

  /// The interval at which the store's changes are followed: every replica must know of them within two seconds.
  /// In seconds, as the other intervals.
  private static let followInterval = 1
  /// The pause after a store's notification, in which those of a burst become one.
  private static let shortestPause = Duration.milliseconds(20)
  private static let checkInterval = 5
  private static let removalInterval = 300
  private static let certificateInterval = 3_600
  /// The longest wait for a store's notifications. A store without notifications is polled at the interval.
  private static let longestWait = Duration.seconds(3_600)

  init(
    _ services: ProcessServices, _ upstreams: UpstreamWatch, _ certificates: CertificateWatch,
    _ resources: ResourceWatch
  ) {
    let store = services.store
    self.store = store
    storeHealth = services.storeHealth
    sessions = services.sessions
    loops = services.loops
    lastSeen = services.lastSeen
    storeCheck = StoreCheck(
      store: store, storeHealth: services.storeHealth, lastSeen: services.lastSeen,
      revalidations: services.revalidations, clock: services.sessions.clock)
    changes = ChangeFollower(
      store: store, sessions: services.sessions, loops: services.loops, storeHealth: services.storeHealth)
    appleMonitor = services.revalidator.apple
    health = services.health
    self.upstreams = upstreams
    relay = services.relay
    self.certificates = certificates
    self.resources = resources
    clock = ClockWatch(store: store, logger: services.logger)
    logger = services.logger
    let state = State()
    self.state = state
    services.metrics.addGauge("cordon_sessions_in_memory", help: "Sessions that the event loops remember.") {
      Double(state.cachedSessions.load(ordering: .relaxed))
    }
    services.metrics.addGauge(
      "cordon_store_log_bytes", help: "Size of the write-ahead log of an SQLite store, in bytes."
    ) { store.logBytes.map { Double($0) } }
  }

  /// Runs until cancelled.
  /// - Parameters:
  ///   - others: periodic work of other parts, which shares the timer.
  ///   - eventLoop: has the timer.
  func run(with others: PeriodicTasks, on eventLoop: any EventLoop) async {
    let (changeSignals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let periodic = periodicTasks(others, signal)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await periodic.run(on: eventLoop) }
      group.addTask { await follow(changeSignals) }
      group.addTask {
        while !Task.isCancelled {
          await store.waitForChanges(atMost: Self.longestWait)
          signal.yield()
          try? await Task.sleep(for: Self.shortestPause)
        }
      }
      group.addTask { await upstreams.run() }
      group.addTask { await relay.run() }
      group.addTask {
        while !Task.isCancelled {
          let start = ContinuousClock.now
          let interval = LastSeenBatch.interval(idleTimeout: sessions.idleTimeout)
          await lastSeen.write(every: interval)
          state.cachedSessions.store(await loops.count(), ordering: .relaxed)
          // A store that takes longer has time for other work in between.
          try? await Task.sleep(for: max(interval / 2, interval - (ContinuousClock.now - start)))
        }
      }
    }
  }

  private func periodicTasks(
    _ others: PeriodicTasks, _ signal: AsyncStream<Void>.Continuation
  ) -> PeriodicTasks {
    var tasks = others
    tasks.addTick(every: Self.followInterval) {
      // Also while the store takes long to say whether it may have changed.
      if changes.isDue { signal.yield() }
      upstreams.report(to: health, at: .now())
      // Readiness ends with the outage grace, even while a check of the store is under way.
      reportStore()
    }
    tasks.addCall(every: Self.followInterval) { done in
      guard !changes.isDue else { return done() }
      changes.look { mayHaveChanged in
        if mayHaveChanged { signal.yield() }
        done()
      }
    }
    // Each second while it fails: its end is to be noticed soon.
    tasks.addTask(every: Self.followInterval, after: Self.followInterval, if: storeCheck.isDue) {
      await checkStore()
    }
    tasks.add(every: Self.checkInterval) {
      resources.report()
      clock.watch()
      // The state of the last hour can expire.
      appleMonitor.reportHealth()
      // Messages that another replica left.
      relay.wake()
    }
    tasks.addTask(every: Self.checkInterval, after: Self.checkInterval, if: clock.hasUnrecorded) {
      await clock.record()
    }
    tasks.addTask(every: Self.checkInterval, after: Self.checkInterval, if: appleMonitor.isProbeDue) {
      await appleMonitor.probe()
    }
    tasks.add(every: Self.checkInterval, after: Self.checkInterval) {
      if HeapTrimmer.process.trimAfterBurst() { ProgramPages.release() }
    }
    tasks.add(every: Self.certificateInterval) { certificates.check() }
    tasks.addTask(every: Self.removalInterval, after: Self.checkInterval) { await removeExpired() }
    return tasks
  }

  /// Follows the store's changes at each signal.
  private func follow(_ signals: AsyncStream<Void>) async {
    var cursor: ChangeCursor?
    for await _ in signals {
      let wasRefused = storeHealth.isRefused
      cursor = await changes.follow(cursor)
      // Updates the probes immediately.
      if storeHealth.isRefused != wasRefused { await checkStore() }
    }
  }

  /// Checks whether the store can be written. The first check that succeeds compares the clock with the store, too.
  func checkStore() async {
    await storeCheck.run()
    // If that fails, nothing is removed until it has succeeded.
    if storeHealth.isHealthy { try? await clock.compareStart() }
    reportStore()
  }

  private func reportStore() { storeHealth.report(to: health, place: store.place, now: sessions.clock(), at: .now()) }

  /// Removes expired rows, in small batches with pauses, so that other operations are not blocked for long.
  private func removeExpired() async {
    var count = 0
    defer { if count > 0 { logger.info("removed expired sessions", metadata: ["sessions": "\(count)"]) } }
    while !Task.isCancelled {
      do throws(StoreError) {
        clock.watch()
        try await clock.compareStart()
        guard let time = try await clock.removalTime() else { return }
        let rule = RemovalRule(now: time, idleTimeout: sessions.idleTimeout)
        let removed = try await store.removeExpired(rule)
        count += removed.sessions.count
        // Ends the exchanges that they still have open.
        await sessions.endInProcess(removed.sessions)
        guard removed.rows > 0 else { return }
      } catch {
        storeHealth.failed("remove_expired", error)
        return
      }
      try? await Task.sleep(for: .milliseconds(50))
    }
  }
}
