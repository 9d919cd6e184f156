internal import DataPlane
internal import Logging
internal import NIOCore
internal import Operations
internal import Synchronization
internal import Threads

/// Reloads the configuration of a running gateway, as a whole or not at all. No connection is closed and no request is
/// refused.
actor Reload {
  /// Reads the present settings, with the checks of `cordon check`.
  typealias Reader = @Sendable () throws(SettingsError) -> GatewaySettings

  private nonisolated let snapshot: Mutex<ConfigurationSnapshot>
  let factory: SnapshotFactory
  let running: Running
  let metrics: MetricsRegistry
  let logger: Logger
  /// Reads files, so that a file system that does not answer blocks nothing else.
  nonisolated var files: SerialWorker { factory.files }
  private let read: Reader
  /// The reload that was requested last: the next waits for it.
  private var last: Task<Void, Never>?
  private nonisolated let stopping = Atomic<Bool>(false)

  /// The running parts that apply each new snapshot.
  struct Running: Sendable {
    let listener: Listener
    let gates: LoopGates
    let sessions: SessionManager
    let storeHealth: StoreHealth
    let keys: CurrentKeys
    let revalidator: Revalidator
    let relay: NotificationRelay
    let upstreams: UpstreamWatch
    let certificates: CertificateWatch
    let health: HealthMonitor
    let log: LogControl
  }

  init(
    _ snapshot: ConfigurationSnapshot, factory: SnapshotFactory, running: Running, metrics: MetricsRegistry,
    logger: Logger, read: @escaping Reader
  ) {
    self.snapshot = Mutex(snapshot)
    self.factory = factory
    self.running = running
    self.metrics = metrics
    self.logger = logger
    self.read = read
  }

  /// The snapshot in effect.
  nonisolated var current: ConfigurationSnapshot { snapshot.withLock { $0 } }

  /// Reads and applies the configuration, after every reload that was requested before.
  /// - Parameter caller: the credential of the caller, for the audit: `token`, `socket`, `signal`.
  func run(by caller: String) async -> ReloadReport {
    await afterOthers { await self.perform(by: caller) }
  }

  /// Runs some work after everything that was requested before.
  func afterOthers<Result: Sendable>(_ work: @escaping @Sendable () async -> Result) async -> Result {
    let before = last
    let task = Task {
      await before?.value
      return await work()
    }
    last = Task { _ = await task.value }
    return await task.value
  }

  /// Refuses further reloads from now on, because the process is about to end. One that is under way is not applied,
  /// unless that has begun.
  nonisolated func refuseFurther() { stopping.store(true, ordering: .releasing) }

  /// Whether further reloads are refused.
  nonisolated var isStopping: Bool { stopping.load(ordering: .acquiring) }

  /// Waits for everything that was requested before. May take as long as a file system that does not answer.
  func finish() async { await last?.value }

  private func perform(by caller: String) async -> ReloadReport {
    let manager = ServiceManager.process
    if !isStopping { manager.reloading() }
    let report = await attempt()
    if !isStopping { running.storeHealth.hasAnswered ? manager.ready() : manager.readyWithoutStore() }
    if !isStopping { self.report(report.problems) }
    metrics.reloads.record(isApplied: report.reloaded, areMembersGood: report.kept == nil, at: .now())
    if report.reloaded {
      logger.notice(
        "configuration reloaded",
        metadata: ["by": "\(caller)", "changed": "\(report.changed.joined(separator: " "))"])
    }
    for problem in report.problems {
      logger.error(
        "configuration reload failed, keeping the running configuration",
        metadata: ["by": "\(caller)", "problem": "\(problem)"])
    }
    return report
  }

  /// Reports to health, for information, whether the configuration's file is the one in effect.
  private func report(_ problems: [String]) {
    running.health.update(
      Self.checkName, problems.isEmpty ? .ok : .failing,
      message: problems.isEmpty
        ? nil : problems.joined(separator: "; ") + "; the configuration from before stays in effect",
      at: .now())
  }

  /// The name of the check on `/healthz`.
  static let checkName = "configuration"

  private static let stopped = ReloadReport.refused([
    "the gateway is stopping; start it again, it reads its file then"
  ])

  private func attempt() async -> ReloadReport {
    guard !isStopping else { return Self.stopped }
    let current = current
    do {
      let settings = try await files.run { [read] in Result { () throws(SettingsError) in try read() } }.get()
      let fixed = FixedSettings.problems(from: current.settings, to: settings)
      guard fixed.isEmpty else { return .refused(fixed) }
      let members = try await files.run {
        Result { () throws(MembersFileError) in try MembersFiles(settings.routing.groups, after: current.members) }
      }.get()
      let next = try await factory.make(settings, members: members, after: current)
      guard !isStopping else { return Self.stopped }
      await apply(next)
      // An unchanged upstream has read its files at an earlier reload.
      running.certificates.noteReload(await files.run { next.listener.reloadUpstreamCertificates() })
      self.report(next.members.problems)
      reportRepaired(next.members, since: current.members)
      return .done(current.settings.changes(to: settings), kept: next.members.problems.map(\.description))
    } catch let error as SettingsError {
      return .refused(error.problems)
    } catch {
      return .refused(["\(error)"])
    }
  }

  /// Puts a snapshot into effect. It cannot fail: everything that can was done to make the snapshot.
  private func apply(_ next: ConfigurationSnapshot) async {
    running.log.apply(next.settings.log)
    running.sessions.apply(next.settings.session)
    running.storeHealth.apply(next.settings.store)
    running.keys.apply(next.keys)
    running.revalidator.apply(Revalidator.Dependencies(next.keys, next.settings.revalidation))
    running.relay.apply(next.relayRoute)
    let gates = running.gates
    await running.listener.apply(next.listener) { eventLoop in
      guard let parts = gates.find(on: eventLoop) else { return }
      parts.gate.apply(next.gate, endpoints: next.endpoints)
      parts.observer.apply(
        next.settings.log, prefix: next.settings.publicAddress.prefix, hosts: next.settings.hostNames)
    }
    running.upstreams.apply(next.upstreams, health: running.health)
    running.certificates.apply(next.listener.certificates, hosts: next.settings.publicHosts)
    next.members.report(to: running.health)
    replace(next)
  }

  /// Replaces the current snapshot with one that has been applied.
  func replace(_ next: ConfigurationSnapshot) {
    snapshot.withLock { $0 = next }
    HeapTrimmer.process.noteReload()
  }
}
