internal import AccessPolicy
internal import Operations

extension RouteLabel {
  /// The counter of a decision.
  @inline(__always)
  init(_ decision: RouteDecision) {
    self =
      switch decision.access {
      case .public: .open
      case .signedIn: .signedIn
      case .rules: .rules
      case .signOut: .own
      case .deny: .deny
      }
  }
}
