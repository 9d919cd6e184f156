internal import AccessPolicy
internal import DataPlane
internal import FoundationEssentials
internal import Logging
internal import NIOCore
internal import Operations
internal import Synchronization
internal import Threads

/// One upstream with its health check.
struct WatchedUpstream: Sendable {
  let target: UpstreamGroup
  fileprivate let checker: UpstreamChecker?
  private let authority: String

  /// The applications that the routes name, by the number that ``RouteDecision/upstream`` has.
  /// - Parameter known: those of the previous configuration. One with the same settings is kept with its connections
  ///   and its health; one over TLS is created again, because its trusted authorities may have changed.
  /// - Throws: ``UnknownUpstreamError`` if a route names an unknown upstream; TLSConfigurationError.
  static func all(
    of settings: GatewaySettings, routes: RouteTable, keeping known: [WatchedUpstream] = [],
    reading files: SerialWorker, on eventLoop: any EventLoop
  ) async throws -> [WatchedUpstream] {
    var result: [WatchedUpstream] = []
    for name in routes.upstreams {
      let named = name.map { name in settings.upstreams.first { $0.name.utf8.elementsEqual(name.utf8) } }
      guard let upstream = named ?? settings.upstream, !upstream.addresses.isEmpty else {
        throw UnknownUpstreamError(name: name ?? UpstreamSettings.defaultName)
      }
      let authority = upstream.host ?? settings.origin.authority
      if !upstream.usesTLS,
        let same = known.first(where: { $0.target.settings == upstream && $0.authority == authority })
      {
        result.append(same)
      } else {
        let new = try await WatchedUpstream(upstream, authority: authority, reading: files, on: eventLoop)
        for same in known { new.target.learn(from: same.target) }
        result.append(new)
      }
    }
    return result
  }

  private init(
    _ settings: UpstreamSettings, authority: String, reading files: SerialWorker, on eventLoop: any EventLoop
  ) async throws {
    target = try await files.run { Result { try UpstreamGroup(settings) } }.get()
    checker = try await UpstreamChecker(target, authority: authority, on: eventLoop)
    self.authority = authority
  }

  /// Reports the state to health, and changes to the log.
  fileprivate func report(to health: HealthMonitor, at time: Timestamp, logger: Logger) {
    let status = target.status
    let troubled = status.filter { !$0.isHealthy }
    let name: Logger.MetadataValue = "\(target.settings.name)"
    guard !troubled.isEmpty else {
      let before = health.update(check, status.contains(where: \.hasAnswered) ? .ok : .unknown, at: time)
      if before == .failing { logger.notice("upstream recovered", metadata: ["upstream": name]) }
      return
    }
    let words = troubled.map { "\($0.address) \(Self.trouble($0))" }
    let problem = "\(troubled.count) of \(status.count) not well: \(words.joined(separator: ", "))"
    guard health.update(check, .failing, message: problem, at: time) != .failing else { return }
    let metadata: Logger.Metadata = ["upstream": name, "problem": "\(problem)"]
    if troubled.allSatisfy({ $0.isMalformed && !$0.failsChecks }) {
      logger.error("upstream ejected for malformed responses", metadata: metadata)
    } else {
      logger.error("upstream not responding", metadata: metadata)
    }
  }

  private static func trouble(_ status: UpstreamAddressStatus) -> String {
    if status.failsChecks { return "fails its checks" }
    return status.isMalformed ? "answers with malformed responses" : "does not answer"
  }

  /// The name of its check in health.
  fileprivate var check: String {
    let name = target.settings.name
    return name.utf8.elementsEqual(UpstreamSettings.defaultName.utf8) ? "upstream" : "upstream \(name)"
  }
}

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
  }

  /// Replaces the watched upstreams. Unchanged ones keep their state.
  func apply(_ next: [WatchedUpstream], health: HealthMonitor) {
    upstreams.withLock { upstreams in
      for check in Set(upstreams.map(\.check)).subtracting(next.map(\.check)) { health.remove(check) }
      upstreams = next
    }
    changed.yield(next)
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

/// A route names an unknown upstream. The configuration check reports it earlier, with its location.
struct UnknownUpstreamError: Error, CustomStringConvertible {
  let name: String
  var description: String { "there is no address for the upstream \"\(name)\"; write [[upstreams]] with this name" }
}
