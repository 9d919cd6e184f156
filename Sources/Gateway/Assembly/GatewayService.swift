internal import AppleIdentity
internal import DataPlane
internal import FoundationEssentials
package import Logging
internal import NIOCore
internal import NIOPosix
package import Operations
internal import ServiceLifecycle
package import Sessions
internal import Synchronization

/// The gateway: starts its parts, serves until graceful shutdown, then lets requests in flight finish.
package final class GatewayService: Service {
  private let settings: GatewaySettings
  private let store: any SessionStore
  private let logger: Logger
  private let log: LogControl
  private let version: String
  private let reread: @Sendable () throws(SettingsError) -> GatewaySettings
  private let running = Mutex<RunningGateway?>(nil)

  /// - Parameters:
  ///   - store: where accounts and sessions are; it is closed at the end.
  ///   - log: what the loggers of the process go by.
  ///   - reread: reads the settings again, for a reload; may block.
  package init(
    settings: GatewaySettings, store: any SessionStore, logger: Logger, log: LogControl, version: String,
    reread: @escaping @Sendable () throws(SettingsError) -> GatewaySettings
  ) {
    self.settings = settings
    self.store = store
    self.logger = logger
    self.log = log
    self.version = version
    self.reread = reread
  }

  /// Serves until graceful shutdown.
  /// - Throws: what keeps the gateway from starting, with the remedy.
  package func run() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: settings.eventLoops)
    do {
      let gateway = try await RunningGateway.start(
        settings, store: store, group: group, logger: logger, log: log, version: version, reread: reread)
      running.withLock { $0 = gateway }
      logger.notice(
        "cordon is ready",
        metadata: [
          "version": "\(version)", "listen": "\(gateway.publicAddress)", "admin": "\(gateway.adminAddress)",
          "public_url": "\(settings.origin)",
        ])
      StartupPages.release()
      let manager = ServiceManager()
      manager.ready()
      let pulse = Task { await Self.tell(manager, while: group) }
      await gateway.serve()
      await gateway.stop()
      pulse.cancel()
      // It asks the event loops, which are about to end.
      await pulse.value
    } catch {
      try? await group.shutdownGracefully()
      throw error
    }
    try await group.shutdownGracefully()
    logger.notice("cordon has stopped")
  }

  /// Forces a graceful shutdown to end at once, because it was requested a second time.
  package func forceClose() { running.withLock { $0 }?.forceClose() }

  /// Tells the service manager, as often as it asks for, that the process is alive: when every event loop has answered.
  private static func tell(_ manager: ServiceManager, while group: any EventLoopGroup) async {
    guard let interval = manager.watchdogInterval else { return }
    while !Task.isCancelled {
      for eventLoop in group.makeIterator() { try? await eventLoop.submit {}.get() }
      manager.alive()
      try? await Task.sleep(for: interval)
    }
  }

  /// Reads the configuration again, because a signal asks for it. What came of it is in the log.
  package func reload() async {
    guard let gateway = running.withLock({ $0 }) else { return }
    let audit = gateway.reload.current.keys.audit
    let report = await gateway.reload.run(by: "signal")
    audit.record(.administration(act: "reload", by: "signal", failed: report.failure))
  }
}
