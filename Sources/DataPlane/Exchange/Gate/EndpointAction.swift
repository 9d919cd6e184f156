/// A request that the control plane answers.
package struct EndpointAction: Sendable {
  /// Most bytes of its body. A larger one is answered 413 before it is read.
  package var bodyLimit: Int
  /// The label that it is counted under.
  package var label: RequestLabel
  /// Answers it.
  package var handle: @Sendable (ControlRequest) async -> ControlResponse
  /// The name of the endpoint in the gate's own terms: it gets this back with ``RequestGate/present(_:for:)``. nil for
  /// an action that no configuration has.
  package var endpoint: String?

  /// An action that no configuration names; set ``endpoint`` for one that ``RequestGate/present(_:for:)`` is to look
  /// up.
  package init(
    bodyLimit: Int, label: RequestLabel, handle: @escaping @Sendable (ControlRequest) async -> ControlResponse
  ) {
    self.bodyLimit = bodyLimit
    self.label = label
    self.handle = handle
  }
}
