internal import AppleIdentity
internal import DataPlane
internal import FoundationEssentials
public import Logging
internal import NIOCore
internal import NIOPosix
internal import Operations
public import ServiceLifecycle
public import Sessions

/// The gateway: puts the parts together, serves until it is told to stop, then lets what is in flight finish.
public struct GatewayService: Service {
  private let settings: GatewaySettings
  private let store: any SessionStore
  private let logger: Logger
  private let version: String

  /// How long what is in flight may take when the gateway stops.
  private static let drainLimit = Duration.seconds(25)

  /// - Parameter store: where accounts and sessions are; it is closed at the end.
  public init(settings: GatewaySettings, store: any SessionStore, logger: Logger, version: String) {
    self.settings = settings
    self.store = store
    self.logger = logger
    self.version = version
  }

  /// Serves until graceful shutdown.
  /// - Throws: what keeps the gateway from starting, with the remedy.
  public func run() async throws {
    let workers = settings.workers > 0 ? settings.workers : System.coreCount
    let group = MultiThreadedEventLoopGroup(numberOfThreads: workers)
    do {
      let gateway = try await RunningGateway.start(
        settings, store: store, group: group, logger: logger, version: version)
      logger.notice(
        "cordon is ready",
        metadata: [
          "version": "\(version)", "listen": "\(gateway.publicAddress)", "admin": "\(gateway.adminAddress)",
          "public_url": "\(settings.origin)",
        ])
      await gateway.serve()
      await gateway.stop(within: Self.drainLimit)
    } catch {
      try? await group.shutdownGracefully()
      throw error
    }
    try await group.shutdownGracefully()
    logger.notice("cordon has stopped")
  }
}
