internal import AccessPolicy
internal import FoundationEssentials
internal import Sessions
internal import WebFormats

/// Evaluates the access of signed-in users by the present configuration and groups, for the endpoints that change
/// access.
struct AccessEvaluator: Sendable {
  let policy: UserPolicy
  /// The host whose routes apply.
  var host = RouteTable.Host.publicURL

  /// A user with the groups of the configuration and of the store.
  func principal(_ account: Account) -> Principal { policy.principal(of: account) }

  /// Whether a ban is in force, or the deny lists of `[access]` name the user.
  func refusal(_ account: Account, at now: Date) -> Refusal? {
    if account.access.ban?.isInForce(at: now) == true { return .banned }
    return policy.routes.isDenied(principal(account)) ? .denied : nil
  }

  /// The reason that a user is refused everywhere.
  enum Refusal { case banned, denied }

  /// Whether a user is in one of these groups.
  func isMember(_ user: Principal, ofAny names: [String]) -> Bool {
    let directory = policy.groups
    return names.contains { directory.number(of: $0).map { user.membership.groups.contains($0) } ?? false }
  }

  /// Whether a user could be admitted to a path of the application by being added to a group.
  /// - Parameter path: a path with its query.
  func access(_ snapshot: SessionSnapshot, to path: String) -> PathAccess {
    guard let route = route(of: path) else { return .refused }
    guard case .rules(let rules) = route.access else { return route.access == .deny ? .refused : .admitted }
    let user = principal(snapshot.account)
    let table = policy.routes.rules
    func decide(_ rule: Int) -> AccessDecision { policy.evaluate(user, of: snapshot, by: table[rule]) }
    if (0..<rules.count).allSatisfy({ decide(rules[$0]) == .allowed }) { return .admitted }
    return policy.routes.couldBeLifted(rules, decide: decide) ? .refusedByLists : .refused
  }

  /// Whether the gate passes `GET` of a path on with the identity of a user, whatever the age of the sign-in and the
  /// client's address.
  /// - Parameter path: a path with its query.
  func isAdmitted(_ snapshot: SessionSnapshot, to path: String) -> Bool {
    guard let route = route(of: path) else { return false }
    let user = principal(snapshot.account)
    let table = policy.routes.rules
    func admits(_ rules: RuleIndexes) -> Bool {
      (0..<rules.count).allSatisfy { policy.evaluate(user, of: snapshot, by: table[rules[$0]]) == .allowed }
    }
    return switch route.access {
    case .deny, .signOut: false
    case .signedIn: true
    case .rules(let rules): admits(rules)
    // A user whom a deny list names is nobody there.
    case .public: !policy.routes.isDenied(user) && admits(route.denials)
    }
  }

  /// The decision of the routes on `GET` of a path; nil if the path itself is refused.
  /// - Parameter path: a path with its query.
  func route(of path: String) -> RouteDecision? {
    let path = Array(path.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
    let classification = PathClassification.classify(path.span)
    if case .refused = classification { return nil }
    let get = Array("GET".utf8)
    return policy.routes.matchWithSessionParameter(path.span, classification, method: get.span, host: host)
  }

  /// The access of a user to a path.
  enum PathAccess { case admitted, refusedByLists, refused }
}
