/// What a request path may expect. A plain value: it holds no reference, and copying it costs nothing.
public struct RouteDecision: Sendable, Equatable {
  /// Who may pass.
  public var access: Access
  /// What a request without a session is answered.
  public var unauthenticated: RouteSettings.Unauthenticated
  /// The place, in the configured order, of the route that decided; nil where the default did. For metrics and logs.
  public var route: Int?
  /// Which application serves the path: a place in ``RouteTable/upstreams``, 0 for the one that serves by default. The
  /// longest prefix, byte for byte, decides on it, whatever stricter reading of the path decides on access.
  public var upstream = 0

  public init(access: Access, unauthenticated: RouteSettings.Unauthenticated = .automatic, route: Int? = nil) {
    self.access = access
    self.unauthenticated = unauthenticated
    self.route = route
  }

  /// The default for everything: signed in.
  public static let `default` = RouteDecision(access: .signedIn)

  /// Who may pass.
  public enum Access: Sendable, Equatable {
    /// Everybody; the identity is still sent when there is a session.
    case `public`
    /// Everybody with a session.
    case signedIn
    /// Everybody with a session whom the rules let in that stand at this place of ``RouteTable/rules``.
    case rules(Int)
    /// Nobody: 403.
    case deny
  }

  /// The class of route, for metrics: few values, whatever the configuration.
  public var routeClass: RouteClass {
    switch access {
    case .public: .public
    case .signedIn: .signedIn
    case .rules: .rules
    case .deny: .deny
    }
  }

  /// This decision, or the floor beneath it if this one is laxer.
  func noLaxer(than floor: RouteDecision) -> RouteDecision {
    floor.access.strictness > access.strictness ? restricted(by: floor) : self
  }

  /// The stricter of two readings of one path. Two different lists of rules have no stricter one: such a path is denied.
  func restricted(by other: RouteDecision) -> RouteDecision {
    var result = other.access.strictness > access.strictness ? other : self
    if case .rules(let mine) = access, case .rules(let theirs) = other.access, mine != theirs { result.access = .deny }
    if other.unauthenticated == .unauthorized || unauthenticated == .unauthorized {
      result.unauthenticated = .unauthorized
    }
    result.upstream = upstream
    return result
  }
}

/// The class of a route, from the laxest to the strictest.
public enum RouteClass: String, Sendable, CaseIterable {
  case `public`
  case signedIn = "signed-in"
  case rules
  case deny
}

extension RouteDecision.Access {
  var strictness: Int {
    switch self {
    case .public: 0
    case .signedIn: 1
    case .rules: 2
    case .deny: 3
    }
  }
}
