internal import AccessPolicy
internal import DataPlane
internal import FoundationEssentials
internal import NIOCore
internal import Operations

/// The applications behind the gateway: where requests go, how they are, and the checks that ask them.
struct UpstreamWatch: Sendable {
  /// By the number that ``RouteDecision/upstream`` has.
  let targets: [UpstreamTarget]
  private let checkers: [UpstreamChecker]

  /// - Throws: ``UpstreamProblem`` when a route names an upstream that there is not; TLSConfigurationError.
  init(_ settings: GatewaySettings, routes: RouteTable, on eventLoop: any EventLoop) async throws {
    var targets: [UpstreamTarget] = []
    var checkers: [UpstreamChecker] = []
    for name in routes.upstreams {
      let upstream = name.map { name in settings.upstreams.first { $0.name.utf8.elementsEqual(name.utf8) } }
      guard let upstream = upstream ?? settings.upstream, !upstream.addresses.isEmpty else {
        throw UpstreamProblem(name: name ?? UpstreamSettings.defaultName)
      }
      let target = try UpstreamTarget(upstream)
      targets.append(target)
      if let checker = try await UpstreamChecker(target, authority: settings.origin.authority, on: eventLoop) {
        checkers.append(checker)
      }
    }
    self.targets = targets
    self.checkers = checkers
  }

  /// Asks whoever is to be asked, until cancelled.
  func run() async {
    await withTaskGroup(of: Void.self) { group in
      for checker in checkers { group.addTask { await checker.run() } }
    }
  }

  /// Tells how the applications are; the gateway is ready whatever they say.
  func report(to health: HealthMonitor, at time: Timestamp) {
    for target in targets {
      let status = target.status
      let name = target.settings.name
      let check = name.utf8.elementsEqual(UpstreamSettings.defaultName.utf8) ? "upstream" : "upstream \(name)"
      let troubled = status.filter { !$0.isWell }
      if troubled.isEmpty {
        health.update(check, status.contains(where: \.hasAnswered) ? .ok : .unknown, at: time)
      } else {
        let words = troubled.map { "\($0.address) \($0.failsChecks ? "fails its checks" : "does not answer")" }
        health.update(
          check, .failing,
          message: "\(troubled.count) of \(status.count) not well: \(words.joined(separator: ", "))", at: time)
      }
    }
  }

  func addMetrics(to metrics: MetricsRegistry) {
    add(to: metrics, "cordon_upstream_address_up", .gauge, "Whether an address of an upstream is well.") {
      $0.isWell ? 1 : 0
    }
    add(
      to: metrics, "cordon_upstream_address_failures_total", .counter,
      "Requests that could not be sent to an address, or were not answered."
    ) { Double($0.failures) }
    add(
      to: metrics, "cordon_upstream_address_ejections_total", .counter,
      "How often an address was left out for a while, by any event loop."
    ) { Double($0.ejections) }
  }

  private func add(
    to metrics: MetricsRegistry, _ name: String, _ kind: MetricsText.Kind, _ help: String,
    value: @escaping @Sendable (UpstreamAddressStatus) -> Double
  ) {
    let targets = targets
    metrics.addGauges(name, kind: kind, help: help) {
      targets.flatMap(\.status).map { status in
        ([("upstream", status.upstream), ("address", status.address)], value(status))
      }
    }
  }
}

/// A route names an upstream that there is not. The configuration's check says so earlier, with its place.
struct UpstreamProblem: Error, CustomStringConvertible {
  let name: String
  var description: String { "there is no address for the upstream \"\(name)\"; write [[upstreams]] with this name" }
}
