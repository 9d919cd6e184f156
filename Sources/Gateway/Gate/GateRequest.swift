internal import DataPlane

/// The request that is being decided on, apart from its head.
struct GateRequest {
  let id: RequestIDSource.Identifier
  /// Whether it carries a bearer token that we have signed, which is not forwarded.
  var carriesOurToken = false

  init(_ id: RequestIDSource.Identifier) { self.id = id }
}
