/// The gate's decision about a request. Moved, never copied: a copy would retain what it holds.
package enum GateDecision: ~Copyable {
  /// It goes upstream.
  case forward(ForwardingDirective)
  /// It is answered with this.
  case answer(ControlResponse, routeClass: Int)
  /// The same, after `log` was called with the address of the connection's peer: where a trusted proxy has named the
  /// client, the gate does not know the proxy, and wants to name it in the log. No other decision pays for that.
  case answerAndLog(ControlResponse, routeClass: Int, log: (_ peer: String) -> Void)
  /// Its body is read, up to a limit, and an endpoint answers.
  case handle(EndpointAction)
  /// It is suspended until the function has returned; then the gate decides again.
  case suspend(@Sendable () async -> Void)
}

extension GateDecision {
  /// Whether it is an answer, of which nothing is logged yet.
  package var isAnswer: Bool {
    switch self {
    case .answer: true
    default: false
    }
  }

  /// The same answer, of which `log` tells; any other decision as it is.
  package consuming func logging(_ log: @escaping (_ peer: String) -> Void) -> GateDecision {
    switch consume self {
    case .answer(let response, let routeClass): .answerAndLog(response, routeClass: routeClass, log: log)
    case let other: other
    }
  }
}

/// Directions for forwarding a request.
package struct ForwardingDirective: ~Copyable {
  /// The identity header lines of its user, nil without one.
  package var identity: SerializedIdentityHeaders?
  /// The route class that it is counted under.
  package var routeClass: Int
  /// The session of the request, so that its connections end with it.
  package var session: ConnectionKey?
  /// The credential of the request, in the gate's own terms: it gets this back with ``RequestGate/review(_:)``.
  package var credential: UInt64
  /// A pseudonym of the user, for the observer.
  package var user: UInt64?
  /// Whether an upgrade to another protocol may be passed on.
  package var allowsUpgrade: Bool
  /// The index of its upstream in the listener's list.
  package var upstream: Int
  /// Whether `Authorization` was for the gateway, and goes no further.
  package var dropsAuthorization: Bool
  /// Whether method-override headers are removed: the gate has decided by the method, and an application that takes
  /// another from them would carry out what was not decided on.
  package var dropsMethodOverride: Bool
  /// The least rate of its body in bytes per second, 0 for none; nil where the route does not say.
  package var bodyRate: Int?
  /// Whole field lines, each ended by CR LF, that the response gets for this client alone. Left out where a shared
  /// cache may keep the response.
  package var privateLines: [UInt8]?
  /// The upstream's session cookies as they are bound to the account of the request; nil if it has none.
  package var binding: CookieBinding?

  /// Directions with the defaults of a public route: no identity, nothing removed, the default upstream.
  package init(
    identity: SerializedIdentityHeaders? = nil, routeClass: Int, session: ConnectionKey? = nil,
    credential: UInt64 = 0, user: UInt64? = nil, allowsUpgrade: Bool = false, upstream: Int = 0,
    dropsAuthorization: Bool = false, dropsMethodOverride: Bool = false, bodyRate: Int? = nil,
    privateLines: [UInt8]? = nil, binding: CookieBinding? = nil
  ) {
    self.identity = identity
    self.routeClass = routeClass
    self.session = session
    self.credential = credential
    self.user = user
    self.allowsUpgrade = allowsUpgrade
    self.upstream = upstream
    self.dropsAuthorization = dropsAuthorization
    self.dropsMethodOverride = dropsMethodOverride
    self.bodyRate = bodyRate
    self.privateLines = privateLines
    self.binding = binding
  }
}
