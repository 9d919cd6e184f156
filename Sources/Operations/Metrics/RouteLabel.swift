/// The kind of a request's route: the label `route` of the request metrics. The set is fixed, so that clients cannot
/// create time series.
package enum RouteLabel: Int, Sendable, CaseIterable {
  /// A route that is open to everybody.
  case open
  /// A route for everybody with a session.
  case signedIn
  /// A route with rules.
  case rules
  /// A route for nobody.
  case deny
  /// The gateway's own pages under the path prefix: sign-in, callback, session.
  case own
  /// A request to `verify`, from another proxy.
  case verify
  /// Refused before there was a route: malformed, too large, too slow, the wrong host.
  case refused

  /// The label's value.
  package var label: String {
    switch self {
    case .open: "public"
    case .signedIn: "signed-in"
    case .rules: "rules"
    case .deny: "deny"
    case .own: "gateway"
    case .verify: "verify"
    case .refused: "refused"
    }
  }
}
