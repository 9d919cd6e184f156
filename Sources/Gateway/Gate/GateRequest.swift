internal import DataPlane

/// The request that is being decided on, apart from its head.
struct GateRequest {
  let id: RequestIDSource.Identifier
  /// The host that it is judged for.
  var site: GateSite
  /// Whether it is addressed to one of `listen.hosts`.
  let isAlias: Bool
  /// Whether it carries a bearer token that we have signed, or a machine token, which is not forwarded.
  var carriesOurToken = false
  /// Whether it carries a text in the form of our tokens that counts for nothing here: of another host, or in a wrong
  /// form. It is not forwarded.
  var carriesForeignToken = false
  /// Whether it carries a machine token, in whatever form.
  private(set) var carriesMachineToken = false
  /// Whether `networks` may rely on the client's address.
  var isAddressKnown = false

  init(_ id: RequestIDSource.Identifier, to site: GateSite, isAlias: Bool = false) {
    self.id = id
    self.site = site
    self.isAlias = isAlias
  }

  /// Notes that the request carries a machine token.
  mutating func noteMachineToken() {
    carriesOurToken = true
    carriesMachineToken = true
  }
}
