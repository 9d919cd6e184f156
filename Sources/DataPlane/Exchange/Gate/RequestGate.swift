package import HTTPWire

/// Decides on each request. One gate serves one event loop and is called on that loop only, so it needs no
/// lock; it must not block.
package protocol RequestGate: AnyObject {
  /// Decides on a request from its head alone.
  /// - Parameters:
  ///   - head: the positions of the parts in `bytes`.
  ///   - bytes: the head as it came; valid during the call.
  ///   - client: who is asking.
  ///   - requestID: what the log and the upstream call the request.
  func decide(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ client: ClientPeer, _ requestID: RequestIDSource.Identifier
  ) -> GateDecision

  /// The action of an endpoint as it is now, when the whole request has come: a client may have held its body back
  /// until the configuration that decided on its head was replaced.
  /// - Returns: nil if there is no such endpoint any longer.
  func present(_ action: EndpointAction, for request: ControlRequest) -> EndpointAction?

  /// The answer to a request that the data plane cannot carry out.
  /// - Parameters:
  ///   - status: an error status of RFC 9110.
  ///   - reason: what went wrong, for the log and the page's small print.
  ///   - preferences: what its client would like to read.
  func failure(
    status: Int, reason: String, preferences: ClientPreferences, requestID: String
  ) -> ControlResponse

  /// The answer to a request that was forwarded, may not continue, and has no response yet. The upstream may have acted
  /// on it.
  /// - Parameter credential: ``ForwardingDirective/credential`` of the request.
  func answer(
    to ending: ExchangeEnding, credential: UInt64, preferences: ClientPreferences, requestID: String
  ) -> ControlResponse

  /// Decides whether an exchange that is under way may continue, as its request would be decided on now. Called about
  /// once a second for each that is older than a second.
  /// - Returns: nil if it may continue.
  func review(_ exchange: inout OpenExchange) -> ExchangeEnding?

  /// Every exchange of a listener has been reviewed.
  /// - Returns: whether the gate waits for an answer, so that the next review should come soon.
  func reviewEnded() -> Bool
}

extension RequestGate {
  /// The default of a gate whose configuration is never replaced: the action is still the right one.
  package func present(_ action: EndpointAction, for request: ControlRequest) -> EndpointAction? { action }
  /// The default of a gate without sessions: every exchange may continue.
  package func review(_ exchange: inout OpenExchange) -> ExchangeEnding? { nil }
  /// The default: 503 by ``failure(status:reason:preferences:requestID:)``, whatever the ending.
  package func answer(
    to ending: ExchangeEnding, credential: UInt64, preferences: ClientPreferences, requestID: String
  ) -> ControlResponse {
    failure(
      status: 503, reason: "the request may not continue", preferences: preferences, requestID: requestID)
  }
  /// The default of a gate whose ``review(_:)`` asks nobody: it waits for no answer.
  package func reviewEnded() -> Bool { false }
}
