internal import DataPlane
internal import HTTPWire
internal import Logging

/// The gate of one event loop, whatever its configuration: it is replaced at a reload, the cached sessions are kept.
final class LoopGate: RequestGate {
  private(set) var current: ConfiguredGate
  let sessions: LoopSessions
  let reviews: OpenExchangeReview
  private let logger: Logger

  /// - Parameter endpoints: those of each site, by its number.
  init(_ configuration: GateConfiguration, sessions: LoopSessions, endpoints: [SiteEndpoints], logger: Logger) {
    current = ConfiguredGate(configuration, sessions: sessions, endpoints: endpoints, logger: logger)
    self.sessions = sessions
    self.logger = logger
    reviews = OpenExchangeReview(configuration, sessions)
  }

  /// Uses another configuration from the next request on.
  func apply(_ configuration: GateConfiguration, endpoints: [SiteEndpoints]) {
    current = ConfiguredGate(configuration, sessions: sessions, endpoints: endpoints, logger: logger)
    sessions.apply(configuration.sessions)
    reviews.apply(configuration)
  }

  func decide(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ client: ClientPeer, _ requestID: RequestIDSource.Identifier
  ) -> GateDecision {
    current.decide(head, bytes, client, requestID)
  }

  func present(_ action: EndpointAction, for request: ControlRequest) -> EndpointAction? {
    current.present(action, for: request)
  }

  func failure(
    status: Int, reason: String, preferences: ClientPreferences, requestID: String
  ) -> ControlResponse {
    current.failure(status: status, reason: reason, preferences: preferences, requestID: requestID)
  }

  func answer(
    to ending: ExchangeEnding, credential: UInt64, preferences: ClientPreferences, requestID: String
  ) -> ControlResponse {
    current.answer(to: ending, credential: credential, preferences: preferences, requestID: requestID)
  }

  func review(_ exchange: inout OpenExchange) -> ExchangeEnding? { reviews.review(&exchange) }

  func reviewEnded() -> Bool { reviews.end() }
}
