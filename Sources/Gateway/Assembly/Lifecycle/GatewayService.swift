internal import AppleIdentity
internal import DataPlane
internal import FoundationEssentials
package import Logging
internal import NIOCore
package import Operations
internal import ServiceLifecycle
package import Sessions
internal import SocketTransport
internal import Synchronization

/// Makes one attempt to open the store.
package typealias StoreOpener = @Sendable () async throws(StoreError) -> any SessionStore

/// The gateway: starts its parts, serves until graceful shutdown, then drains requests in flight.
package final class GatewayService: Sendable {
  private let settings: GatewaySettings
  private let open: StoreOpener
  private let logger: Logger
  private let log: LogControl
  private let version: String
  private let reread: @Sendable () throws(SettingsError) -> GatewaySettings
  private let state = Mutex(State.starting(asked: []))
  private let leftStoreOpen = Atomic<Bool>(false)

  private enum State {
    /// The gateway starts, which takes seconds while its store is away. What is asked of it is done when it runs.
    case starting(asked: Set<Request>)
    case running(RunningGateway)
  }

  /// A request that a signal makes.
  private enum Request {
    case reload
    case forceClose
  }

  /// - Parameters:
  ///   - open: opens the store of accounts and sessions, which is closed at the end; called again until it succeeds.
  ///   - log: the level and format of all loggers of the process.
  ///   - reread: reads the settings again, for a reload; may block.
  package init(
    settings: GatewaySettings, open: @escaping StoreOpener, logger: Logger, log: LogControl, version: String,
    reread: @escaping @Sendable () throws(SettingsError) -> GatewaySettings
  ) {
    self.settings = settings
    self.open = open
    self.logger = logger
    self.log = log
    self.version = version
    self.reread = reread
  }

  /// The gateway as a member of a service group.
  package var member: GroupedService { GroupedService(service: self) }

  /// The gateway as a service group runs and prints it. Without a conformance for printing, the runtime searches all
  /// conformances of the program several times, which takes a twelfth of a start, and more of them for an object, which
  /// may be a bridged string.
  package struct GroupedService: Service, TextOutputStreamable, CustomStringConvertible {
    fileprivate let service: GatewayService

    package var description: String { "gateway" }

    /// Writes the description.
    package func write<Target: TextOutputStream>(to target: inout Target) { target.write(description) }

    /// Runs the gateway; see ``GatewayService/run()``.
    package func run() async throws { try await service.run() }
  }

  /// Serves until graceful shutdown.
  /// - Throws: the error that prevents the start, with the remedy.
  package func run() async throws {
    let group = try SocketEventLoopGroup(loops: settings.eventLoops)
    do {
      try await serve(on: group)
    } catch {
      try? await group.shutdownGracefully()
      throw error
    }
    try await group.shutdownGracefully()
    logger.notice("cordon has stopped")
  }

  /// Whether the gateway has stopped without its store, which did not answer: threads still wait for it.
  package var hasLeftStoreOpen: Bool { leftStoreOpen.load(ordering: .acquiring) }

  /// Starts the gateway, does what was asked of it meanwhile, and serves until graceful shutdown.
  private func serve(on group: SocketEventLoopGroup) async throws {
    let gateway = try await RunningGateway.start(
      settings, open: open, group: group, logger: logger, log: log, version: version, reread: reread)
    let asked = state.withLock { state in
      defer { state = .running(gateway) }
      return if case .starting(let asked) = state { asked } else { Set<Request>() }
    }
    let metadata: Logger.Metadata = [
      "version": "\(version)", "listen": "\(gateway.listenAddress)", "admin": "\(gateway.adminAddress)",
      "public_url": "\(settings.publicAddress.origin)",
    ]
    let manager = ServiceManager.process
    if !gateway.isStoreOpen {
      logger.warning(
        "cordon is listening, without its session store",
        metadata: metadata.merging(["remedy": "/readyz on the admin listener has the reason"]) { $1 })
      manager.readyWithoutStore()
    }
    if asked.contains(.forceClose) { gateway.forceClose() }
    // The file may have changed after it was read for the start.
    if asked.contains(.reload) { Task { await reload() } }
    let watchdog = Task { await Self.pingWatchdog(of: manager, gateway.heartbeats) }
    var failure: (any Error)?
    do {
      let isClosed = try await gateway.run { [logger] in
        logger.notice("cordon is ready", metadata: metadata)
        manager.ready()
      }
      leftStoreOpen.store(!isClosed, ordering: .releasing)
    } catch {
      failure = error
    }
    watchdog.cancel()
    // It uses the event loops, which are about to shut down.
    await watchdog.value
    if let failure { throw failure }
  }

  /// Forces a graceful shutdown to end at once, because it was requested a second time.
  package func forceClose() { gateway(askedFor: .forceClose)?.forceClose() }

  /// The gateway; nil while it starts, and then the request is kept.
  private func gateway(askedFor request: Request) -> RunningGateway? {
    state.withLock { state in
      switch state {
      case .starting(let asked):
        state = .starting(asked: asked.union([request]))
        return nil
      case .running(let gateway): return gateway
      }
    }
  }

  /// Pings the watchdog of the service manager at its interval, unless an event loop has not answered for as long, or
  /// the periodic tasks stand still.
  private static func pingWatchdog(of manager: ServiceManager, _ heartbeats: HeartbeatMonitor) async {
    guard let interval = manager.watchdogInterval else { return }
    while !Task.isCancelled {
      let isSent = heartbeats.isBeating(within: interval) && manager.alive()
      // Looked at again soon: one that was stopped, or has just recovered, must not be ended for it.
      try? await Task.sleep(for: isSent ? interval : min(interval, .seconds(1)))
    }
  }

  /// Reloads the configuration at a signal. The result is logged.
  package func reload() async {
    guard let gateway = gateway(askedFor: .reload) else { return }
    let audit = gateway.reload.current.keys.audit
    let report = await gateway.reload.run(by: "signal")
    audit.record(.administration(act: "reload", by: "signal", failed: report.failure))
  }
}
