internal import DataPlane
internal import HTTPTypes
internal import HTTPWire
internal import Operations

/// The gate of the admin listener: health, metrics and the status page without a token; administration only with
/// authorization.
///
/// Probes are answered by the listener's event loop itself, so that they fail, and do not hang, while no thread of
/// Swift's task pool is free or another event loop hangs.
final class AdminGate: RequestGate {
  private let hosts: AdminHostPolicy
  private let health: HealthMonitor
  private let heartbeats: HeartbeatMonitor
  private let metrics: MetricsRegistry
  private let status: EndpointHandler
  private let api: @Sendable () -> AdminAPI

  /// - Parameters:
  ///   - hosts: the requests that are accepted at all.
  ///   - status: answers `/status`.
  ///   - api: the admin API of the present configuration.
  init(
    hosts: AdminHostPolicy, health: HealthMonitor, heartbeats: HeartbeatMonitor, metrics: MetricsRegistry,
    status: @escaping EndpointHandler, api: @escaping @Sendable () -> AdminAPI
  ) {
    self.hosts = hosts
    self.health = health
    self.heartbeats = heartbeats
    self.metrics = metrics
    self.status = status
    self.api = api
  }

  func decide(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ client: ClientPeer, _ requestID: RequestIDSource.Identifier
  ) -> GateDecision {
    if let refusal = hosts.refusal(head, bytes) { return answer(refusal) }
    let path = bytes.string(head.path)
    if AdminRequest.owns(path) {
      // By the authorization of the moment when the whole request has come.
      return .handle(
        EndpointAction(bodyLimit: AdminRequestBody.limit, label: .own) { [api] in
          await api().answer($0)
        })
    }
    let decision: GateDecision
    switch path {
    case "/livez": decision = answer(ControlResponse(probe().livez()))
    case "/readyz": decision = answer(ControlResponse(probe().readyz()))
    case "/healthz": decision = answer(ControlResponse(probe().healthz()))
    case "/metrics":
      let metrics = metrics
      decision = .handle(
        EndpointAction(bodyLimit: 0, label: .own) { _ in
          ControlResponse(
            .ok, fields: [.contentType: MetricsText.contentType, .cacheControl: "no-store"],
            body: metrics.render(process: .current()))
        })
    case "/status":
      decision = .handle(EndpointAction(bodyLimit: 0, label: .own, handle: status))
    // Whatever the method is.
    default: return answer(.init(.notFound))
    }
    guard head.method == .get || head.method == .head else {
      return answer(.init(.methodNotAllowed, fields: [.allow: "GET, HEAD"]))
    }
    return decision
  }

  /// The report for a probe, which asks the event loops again.
  private func probe() -> HealthReport {
    heartbeats.probe()
    return health.report
  }

  private func answer(_ response: ControlResponse) -> GateDecision { .answer(response, label: .own) }

  func failure(
    status: Int, reason: String, preferences: ClientPreferences, requestID: String
  ) -> ControlResponse {
    ControlResponse(
      HTTPResponse.Status(integerLiteral: status), fields: [.contentType: "text/plain"], body: Array(reason.utf8))
  }
}

extension ControlResponse {
  init(_ answer: HealthAnswer) {
    self.init(
      HTTPResponse.Status(integerLiteral: answer.status),
      fields: [.contentType: answer.contentType, .cacheControl: "no-store"], body: answer.body)
  }
}
