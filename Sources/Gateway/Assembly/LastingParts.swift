internal import Logging
internal import NIOCore
internal import Operations

/// What lives as long as the process, whatever the configuration says by then.
struct LastingParts: Sendable {
  let directory: SessionManager
  let relay: NotificationRelay
  let metrics: MetricsRegistry
  let health: HealthMonitor
  let logger: Logger
  /// For what is not a client's: calls to Apple, checks of upstreams.
  let eventLoop: any EventLoop
}
