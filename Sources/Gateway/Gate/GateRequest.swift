internal import DataPlane

/// The request that is being decided on, apart from its head.
struct GateRequest {
  let id: RequestIDSource.Identifier
  /// Whether it carries a bearer token that we have signed, or a machine token, which is not forwarded.
  var carriesOurToken = false
  /// Whether it carries a machine token, in whatever form.
  private(set) var carriesMachineToken = false
  /// Whether `networks` may rely on the client's address.
  var isAddressKnown = false

  init(_ id: RequestIDSource.Identifier) { self.id = id }

  /// Notes that the request carries a machine token.
  mutating func noteMachineToken() {
    carriesOurToken = true
    carriesMachineToken = true
  }
}
