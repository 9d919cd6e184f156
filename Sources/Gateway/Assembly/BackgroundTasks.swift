internal import DataPlane
internal import FoundationEssentials
internal import Logging
internal import Operations
internal import Sessions
internal import Synchronization

/// Periodic background work: following the store's changes, writing last-seen updates, deleting expired rows.
struct BackgroundTasks: Sendable {
  private let store: any StoreChangeFeed & StoreMaintenance
  private let storeHealth: StoreHealth
  private let sessions: SessionManager
  private let loops: SessionLoops
  private let lastSeen: LastSeenBatch
  private let changes: ChangeFollower
  private let revalidator: Revalidator
  private let health: HealthMonitor
  private let upstreams: UpstreamWatch
  private let relay: NotificationRelay
  private let cached: Box
  private let certificates: CertificateWatch
  private let logger: Logger

  /// The latest count, for the metrics' gauge, which must not wait.
  private final class Box: Sendable {
    let sessions = Atomic<Int>(0)
  }

  /// The interval at which the store's changes are followed: every replica must know of them within two seconds.
  private static let followInterval = Duration.seconds(1)
  private static let shortestPause = Duration.milliseconds(20)
  private static let checkInterval = Duration.seconds(5)
  private static let removalInterval = Duration.seconds(300)
  private static let certificateInterval = Duration.seconds(3_600)

  init(
    store: any StoreChangeFeed & StoreMaintenance, storeHealth: StoreHealth, sessions: SessionManager,
    loops: SessionLoops, lastSeen: LastSeenBatch, changes: ChangeFollower, revalidator: Revalidator,
    health: HealthMonitor, upstreams: UpstreamWatch, relay: NotificationRelay,
    metrics: MetricsRegistry, certificates: CertificateWatch, logger: Logger
  ) {
    self.logger = logger
    self.relay = relay
    self.certificates = certificates
    self.store = store
    self.storeHealth = storeHealth
    self.sessions = sessions
    self.loops = loops
    self.lastSeen = lastSeen
    self.changes = changes
    self.revalidator = revalidator
    self.health = health
    self.upstreams = upstreams
    let box = Box()
    cached = box
    metrics.addGauge("cordon_sessions_in_memory", help: "Sessions that the event loops remember.") {
      Double(box.sessions.load(ordering: .relaxed))
    }
  }

  /// Runs until cancelled.
  func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        var cursor: ChangeCursor?
        while !Task.isCancelled {
          let wasRefused = storeHealth.isRefused
          cursor = await changes.follow(cursor)
          // The probes say so at once.
          if storeHealth.isRefused != wasRefused { await checkStore() }
          // Coalesces bursts of changes.
          try? await Task.sleep(for: Self.shortestPause)
          await store.waitForChanges(atMost: Self.followInterval)
        }
      }
      group.addTask { await upstreams.run() }
      group.addTask { await relay.run() }
      group.addTask { await every(Self.followInterval) { upstreams.report(to: health, at: .now()) } }
      group.addTask { await every(Self.checkInterval) { await checkStore() } }
      // The end of the outage grace is the end of readiness, also while a check of the store is under way.
      group.addTask { await every(Self.followInterval) { reportStore() } }
      group.addTask { await watchDescriptors() }
      group.addTask { await every(Self.checkInterval) { MemoryInUse.process.giveBackAfterBurst() } }
      // A state of the last hour ends by itself.
      group.addTask { await every(Self.checkInterval) { revalidator.reportHealth() } }
      group.addTask {
        while !Task.isCancelled {
          await lastSeen.write()
          cached.sessions.store(await loops.count(), ordering: .relaxed)
          try? await Task.sleep(for: LastSeenBatch.interval(idleTimeout: sessions.idleTimeout))
        }
      }
      group.addTask { await every(Self.certificateInterval) { certificates.look() } }
      group.addTask { await every(Self.removalInterval) { await removeExpired() } }
    }
  }

  private func every(_ interval: Duration, _ work: () async -> Void) async {
    while !Task.isCancelled {
      await work()
      try? await Task.sleep(for: interval)
    }
  }

  /// Logs when the process ran out of descriptors.
  private func watchDescriptors() async {
    var known = DescriptorBudget.process.refusals
    await every(Self.checkInterval) {
      let refusals = DescriptorBudget.process.refusals
      guard refusals > known else { return }
      logger.error(
        "out of file descriptors, connections are delayed or refused",
        metadata: [
          "connections": "\(DescriptorBudget.process.connections)", "refusals": "\(refusals - known)",
          "remedy": "raise LimitNOFILE= of the unit (ulimit -n), or lower listen.limits.connections",
        ])
      known = refusals
    }
  }

  /// Asks the store whether it can be written.
  func checkStore() async {
    let asked = sessions.clock()
    do throws(StoreError) {
      try await store.ping()
      storeHealth.wrote(at: asked)
    } catch {
      storeHealth.didNotWrite(error)
    }
    reportStore()
  }

  private func reportStore() { storeHealth.report(to: health, place: store.place, now: sessions.clock(), at: .now()) }

  /// Removes expired rows, in small batches with pauses, so that nothing waits behind them for long.
  private func removeExpired() async {
    while !Task.isCancelled {
      do throws(StoreError) {
        let rule = RemovalRule(now: .now, idleTimeout: sessions.idleTimeout)
        let removed = try await store.removeExpired(rule)
        // Nothing else would end the exchanges that they still have open.
        await sessions.forget(removed.sessions)
        guard removed.rows > 0 else { return }
      } catch {
        return storeHealth.failed("remove_expired", error)
      }
      try? await Task.sleep(for: .milliseconds(50))
    }
  }
}
