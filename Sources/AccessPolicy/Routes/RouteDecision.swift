/// The decision for a request. A plain value without references, cheap to copy.
package struct RouteDecision: Sendable, Hashable {
  /// The users who are admitted.
  package var access: Access
  /// The answer to a request without a session.
  package var unauthenticated: RouteSettings.Unauthenticated
  /// The application that serves the path: an index into ``RouteTable/upstreams``, 0 for the default one. The
  /// routes that hold for the path byte for byte decide on it, whatever stricter reading decides on access.
  package var upstream = 0
  /// The least rate of its body, decided on like ``upstream``; nil where no route states one.
  package var bodyRate: Int?
  /// Most bytes of a form that is kept in the browser while its user signs in, decided on like ``upstream``; 0 for
  /// none.
  package var keptFormBytes = 0
  /// The networks that must contain the client's address: see ``RouteTable/admits(_:from:)``. Empty for no condition.
  package var networks = NetworkIndexes()
  /// The age in seconds from which a sign-in must be repeated; 0 for none.
  package var maxAge = 0
  /// Whether machine tokens are accepted. They are admitted by `allow_groups` only.
  package var acceptsTokens = false
  /// Whether CORS preflights pass without a session. Always so on a public path.
  package var passesPreflights = false
  /// Whether method-override headers are removed: a route with `methods` lies over the path, whatever the method, or
  /// another method needs more, because it acts on what is below the path.
  package var dropsMethodOverride = false
  /// On a public path, the ``RouteTable/rules`` with the deny lists of its routes: users that they name are
  /// anonymous there. Those of `[access]` hold on every public path: see ``RouteTable/isDenied(_:)``.
  package var denials: RuleIndexes = []

  /// The effect of other readings of the path on the decision.
  package var otherReading = OtherReading.none

  /// The effect of other readings of a path, compared with the route of its bytes.
  package enum OtherReading: Sendable, Hashable, Comparable {
    /// The decision is that of the route of its bytes.
    case none
    /// Another reading made it stricter.
    case stricter
    /// Another reading made it stricter than public, which the route of its bytes is.
    case stricterThanPublic
  }

  /// A decision with the defaults for everything else: no conditions, no limits.
  package init(access: Access, unauthenticated: RouteSettings.Unauthenticated = .automatic) {
    self.access = access
    self.unauthenticated = unauthenticated
  }

  /// The decision of a table without routes and without `[access]`: signed in.
  package static let `default` = RouteDecision(access: .signedIn)

  /// The users who are admitted.
  package enum Access: Sendable, Hashable {
    /// Everybody; the identity is still sent when there is a session.
    case `public`
    /// Everybody with a session.
    case signedIn
    /// Everybody with a session that each of these ``RouteTable/rules`` admits.
    case rules(RuleIndexes)
    /// Nobody: the gateway answers every request as its own `sign-out`.
    case signOut
    /// Nobody: 403.
    case deny
  }

  /// This decision, or the floor beneath it if this one is laxer.
  func noLaxer(than floor: RouteDecision) -> RouteDecision {
    if floor.access.strictness > access.strictness { return restricted(by: floor) }
    var result = self
    if floor.maxAge > 0, maxAge == 0 || floor.maxAge < maxAge { result.maxAge = floor.maxAge }
    result.acceptsTokens = acceptsTokens(with: floor, access)
    result.passesPreflights = passesPreflights && floor.passesPreflights
    return result
  }

  /// The decision for a path with two readings: both must admit. The application stays that of `self`.
  ///
  /// More rules or networks than their index sets hold are denied.
  func restricted(by other: RouteDecision) -> RouteDecision {
    var result = self
    if other.unauthenticated == .unauthorized, other.access != .public { result.unauthenticated = .unauthorized }
    if case .rules(let mine) = access, case .rules(let theirs) = other.access {
      result.access = mine.union(theirs).map { .rules($0) } ?? .deny
    } else if other.access.strictness > access.strictness {
      result.access = other.access
    }
    if let all = networks.union(other.networks) { result.networks = all } else { result.access = .deny }
    result.join(denials.union(other.denials))
    if other.maxAge > 0, maxAge == 0 || other.maxAge < maxAge { result.maxAge = other.maxAge }
    result.acceptsTokens = acceptsTokens(with: other, result.access)
    result.passesPreflights = passesPreflights && other.passesPreflights
    result.dropsMethodOverride = dropsMethodOverride || other.dropsMethodOverride
    result.otherReading = max(otherReading, other.otherReading)
    return result
  }

  /// This decision, marked if it refuses more than that of the path's own bytes.
  @inline(__always)
  func marked(against own: RouteDecision) -> RouteDecision {
    guard access != own.access || networks != own.networks || maxAge != own.maxAge else { return self }
    var result = self
    result.otherReading = max(otherReading, own.access == .public ? .stricterThanPublic : .stricter)
    return result
  }

  /// Whether it admits other users, addresses, sign-ins or tokens than another decision.
  func admitsOthers(than other: RouteDecision) -> Bool {
    access != other.access || networks != other.networks || maxAge != other.maxAge || denials != other.denials
      || acceptsTokens != other.acceptsTokens
  }

  /// Takes over the deny lists of both readings, nil if they are too many: a stricter reading refuses the users that
  /// are anonymous under a public one.
  private mutating func join(_ denials: RuleIndexes?) {
    self.denials = []
    guard let denials else {
      access = .deny
      return
    }
    if denials.isEmpty { return }
    switch access {
    case .public: self.denials = denials
    case .signedIn: access = .rules(denials)
    case .rules(let rules): access = rules.union(denials).map { .rules($0) } ?? .deny
    case .signOut, .deny: break
    }
  }

  /// Whether both readings accept machine tokens. A public one does not need them; one that admits every signed-in user
  /// admits no token.
  private func acceptsTokens(with other: RouteDecision, _ both: Access) -> Bool {
    if both == .public { return acceptsTokens }
    if case .rules = both, access == .signedIn || other.access == .signedIn { return false }
    return (access == .public || acceptsTokens) && (other.access == .public || other.acceptsTokens)
  }

  /// Whether it requires more than a session.
  var isRestriction: Bool {
    access.strictness > RouteDecision.Access.signedIn.strictness || !networks.isEmpty || maxAge > 0
      || !denials.isEmpty
  }
}

extension RouteDecision.Access {
  /// The strictness of ``rules(_:)``: of two readings that have it, each may name rules that the other does not.
  static let rulesStrictness = 2

  var strictness: Int {
    switch self {
    case .public: 0
    case .signedIn: 1
    case .rules: Self.rulesStrictness
    case .signOut: 3
    case .deny: 4
    }
  }
}
