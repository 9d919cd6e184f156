/// Directions for forwarding a request.
package struct ForwardingDirective: ~Copyable {
  /// The identity header lines of its user, nil without one.
  package var identity: SerializedIdentityHeaders?
  /// The label that it is counted under.
  package var label: RequestLabel
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
    identity: SerializedIdentityHeaders? = nil, label: RequestLabel, session: ConnectionKey? = nil,
    credential: UInt64 = 0, user: UInt64? = nil, allowsUpgrade: Bool = false, upstream: Int = 0,
    dropsAuthorization: Bool = false, dropsMethodOverride: Bool = false, bodyRate: Int? = nil,
    privateLines: [UInt8]? = nil, binding: CookieBinding? = nil
  ) {
    self.identity = identity
    self.label = label
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
