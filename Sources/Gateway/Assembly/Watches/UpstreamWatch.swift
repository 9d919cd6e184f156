internal import DataPlane
internal import Logging
internal import Operations
internal import Synchronization

/// Runs the health checks of all upstreams.
final class UpstreamWatch: Sendable {
  private let upstreams: Mutex<[WatchedUpstream]>
  private let changes: AsyncStream<[WatchedUpstream]>
  private let changed: AsyncStream<[WatchedUpstream]>.Continuation
  private let logger: Logger

  init(_ upstreams: [WatchedUpstream], logger: Logger) {
    self.logger = logger
    self.upstreams = Mutex(upstreams)
    (changes, changed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    changed.yield(upstreams)
    Self.applyLimits(of: upstreams)
  }

  /// Replaces the watched upstreams. Unchanged ones keep their state.
  func apply(_ next: [WatchedUpstream], health: HealthMonitor) {
    Self.applyLimits(of: next)
    upstreams.withLock { upstreams in
      for check in Set(upstreams.map(\.check)).subtracting(next.map(\.check)) { health.remove(check) }
      upstreams = next
    }
    changed.yield(next)
  }

  /// Applies the limits of connections, of which all upstreams have the same collection.
  private static func applyLimits(of upstreams: [WatchedUpstream]) {
    upstreams.first?.target.limits.apply(upstreams.map(\.target))
  }

  /// Runs the health checks, until cancelled.
  func run() async {
    var checks: [(upstream: WatchedUpstream, task: Task<Void, Never>)] = []
    for await upstreams in changes {
      for check in checks where !upstreams.contains(where: { $0.target.isSame(as: check.upstream.target) }) {
        check.task.cancel()
      }
      checks = upstreams.compactMap { upstream in
        if let known = checks.first(where: { $0.upstream.target.isSame(as: upstream.target) }) { return known }
        return upstream.checker.map { checker in (upstream, Task { await checker.run() }) }
      }
    }
    for check in checks { check.task.cancel() }
  }

  /// The present status of every address.
  var status: [UpstreamAddressStatus] { targets.flatMap(\.status) }

  private var targets: [UpstreamGroup] { upstreams.withLock { $0.map(\.target) } }

  /// Reports the states of the upstreams, which do not affect the readiness of the gateway.
  func report(to health: HealthMonitor, at time: Timestamp) {
    // Within the lock, so that a check that was just removed does not reappear.
    upstreams.withLock { for upstream in $0 { upstream.report(to: health, at: time, logger: logger) } }
  }

  func addMetrics(to metrics: MetricsRegistry) {
    add(to: metrics, "cordon_upstream_address_up", .gauge, "Whether an upstream address is healthy.") {
      $0.isHealthy ? 1 : 0
    }
    add(
      to: metrics, "cordon_upstream_requests_waiting", .gauge,
      "Requests queued because of max_connections."
    ) { Double($0.waiting) }
    add(
      to: metrics, "cordon_upstream_address_failures_total", .counter,
      "Requests to an address that could not be sent, were not answered, or got a malformed response."
    ) { Double($0.failures) }
    add(
      to: metrics, "cordon_upstream_address_malformed_total", .counter,
      "Requests to an address that got a malformed response."
    ) { Double($0.malformed) }
    add(
      to: metrics, "cordon_upstream_address_ejections_total", .counter,
      "Ejections of an address by outlier detection, over all event loops."
    ) { Double($0.ejections) }
  }

  private func add(
    to metrics: MetricsRegistry, _ name: String, _ kind: MetricsText.Kind, _ help: String,
    value: @escaping @Sendable (UpstreamAddressStatus) -> Double
  ) {
    metrics.addGauges(name, kind: kind, help: help) { [self] in
      targets.flatMap(\.status).map { status in
        ([("upstream", status.upstream), ("address", status.address)], value(status))
      }
    }
  }
}
