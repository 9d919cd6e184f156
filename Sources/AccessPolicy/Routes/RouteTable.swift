/// The routes of the configuration, ready to be asked.
///
/// The longest prefix that the path begins with, byte for byte and case-sensitively, wins. A prefix that ends with `/`
/// rules what is below it (`/public/` rules `/public/x`, not `/public` and not `/publicx`); one that does not also
/// rules the path itself (`/api` rules `/api` and `/api/x`, not `/apix`). Where no prefix matches, the default rules:
/// signed in.
///
/// Then the other readings of the path are asked for, because the application behind may be more lenient than we are:
/// - A route whose prefix the path lies under only when read leniently (see `RoutePrefix.mayContain`: case, a trailing
///   dot, `/admin` for `/admin/`, an encoded letter, a path parameter, …) can make the answer stricter, never laxer.
/// - An ambiguous path also gets nothing laxer than the default, nor than the route `/` if there is one.
/// - An ambiguous path that could be anywhere (``PathAmbiguity/couldBeAnywhere``) gets the strictest of the table.
/// - Where two lists of rules would both have to be met, the answer is deny.
///
/// A class, so that it is looked at where it is rather than copied for every request.
public final class RouteTable: Sendable {
  /// The rules that ``RouteDecision/Access/rules(_:)`` points into.
  public let rules: [AccessRules]
  /// The names of the applications that ``RouteDecision/upstream`` points to; the first, nil, serves by default.
  public let upstreams: [String?]

  /// Longest prefix first.
  private let prefixes: [RoutePrefix]
  private let bytes: [UInt8]
  /// The greatest strictness of any route: a decision as strict as this one cannot become stricter.
  private let strictest: Int
  private let rootDecision: RouteDecision

  /// Whether any path needs more than a session: where that is so, a request whose path is not known is denied.
  public var hasRestrictions: Bool { strictest > RouteDecision.Access.signedIn.strictness }

  /// - Throws: every problem of the routes at once.
  public init(routes: [RouteSettings]) throws(RouteProblems) {
    var builder = RouteTableBuilder()
    for (index, route) in routes.enumerated() { builder.add(route, at: index) }
    if !builder.problems.isEmpty { throw RouteProblems(problems: builder.problems) }
    rules = builder.rules
    upstreams = builder.upstreams
    bytes = builder.bytes
    prefixes = builder.prefixes.sorted { $0.exact.count > $1.exact.count }
    strictest = prefixes.map(\.decision.access.strictness).max() ?? 0
    rootDecision = prefixes.last { $0.exact.count == 1 }?.decision ?? .default
  }

  /// The table without routes: everything is for those who are signed in.
  public init() {
    (rules, upstreams, prefixes, bytes, strictest, rootDecision) = ([], [nil], [], [], 0, .default)
  }

  /// What a path may expect. Without allocation; the time is proportional to the number of routes.
  ///
  /// - Parameters:
  ///   - path: the bytes that `judgement` was made of.
  ///   - judgement: a refused path is denied, should it be asked for nevertheless.
  public func match(_ path: Span<UInt8>, _ judgement: PathJudgement) -> RouteDecision {
    let names = self.bytes
    let bytes = names.span
    var decision = RouteDecision.default
    for prefix in prefixes where prefix.contains(path, in: bytes) {
      decision = prefix.decision
      break
    }
    var couldBeAnywhere = false
    switch judgement {
    case .canonical: break
    case .refused: return RouteDecision(access: .deny)
    case .ambiguous(let ambiguity):
      decision = decision.noLaxer(than: .default).noLaxer(than: rootDecision)
      couldBeAnywhere = ambiguity.couldBeAnywhere
    }
    guard decision.access.strictness <= strictest else { return decision }
    for prefix in prefixes where prefix.decision.access.strictness >= decision.access.strictness {
      guard prefix.decision.access != decision.access else { continue }
      if couldBeAnywhere || !prefix.contains(path, in: bytes) && prefix.mayContain(path, in: bytes) {
        decision = decision.restricted(by: prefix.decision)
      }
    }
    return decision
  }
}

/// What is wrong with the routes of a configuration.
public struct RouteProblems: Error, Sendable, Equatable {
  public var problems: [RouteProblem]
}

/// What is wrong with one route.
public struct RouteProblem: Sendable, Equatable {
  /// The place of the route in the configured order.
  public var route: Int
  /// What is wrong, and the remedy.
  public var message: String
}
