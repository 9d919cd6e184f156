internal import DataPlane

/// The token of the gateway's that a request carries in `Authorization`. None of them is forwarded.
enum CarriedToken {
  case none
  /// The token of a session, used as a bearer token.
  case session
  /// A machine token, in whatever form.
  case machine
  /// A text in the form of our tokens that counts for nothing here: of another host, or in a wrong form.
  case unusable

  /// Whether it identifies its sender, who is no browser.
  var isOurs: Bool {
    switch self {
    case .session, .machine: true
    case .none, .unusable: false
    }
  }

  var isMachine: Bool { if case .machine = self { true } else { false } }
  var isNone: Bool { if case .none = self { true } else { false } }
}

/// The request that is being decided on, apart from its head.
struct GateRequest {
  let id: RequestIDSource.Identifier
  /// The host that it is authorized for.
  var site: GateSite
  /// Whether it is addressed to one of `listen.hosts`.
  let isAlias: Bool
  /// The token of the gateway's in its `Authorization`.
  var token = CarriedToken.none
  /// Whether `networks` may rely on the client's address.
  var isAddressKnown = false

  init(_ id: RequestIDSource.Identifier, to site: GateSite, isAlias: Bool = false) {
    self.id = id
    self.site = site
    self.isAlias = isAlias
  }
}
