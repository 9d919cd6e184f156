internal import DataPlane
internal import Operations

/// The kind of a request's route and the number of its site, by which it is counted: one number that the data plane
/// carries from the gate to the observer.
struct RequestLabel {
  let route: RouteLabel
  /// 0 for the host of `public_url`, and for requests without a decision.
  let site: Int

  private static let shift = 8

  /// An invalid number is read as a refused request.
  init(number: Int) {
    route = RouteLabel(rawValue: number & (1 << Self.shift - 1)) ?? .refused
    site = max(number >> Self.shift, 0)
  }

  /// The number of a route's kind with a site.
  static func number(_ routeClass: Int, site: Int) -> Int { routeClass | site << shift }
}

extension GateDecision {
  /// Has a request counted under its site, too.
  mutating func note(site: Int) {
    switch self {
    case .forward(var directive):
      directive.routeClass = RequestLabel.number(directive.routeClass, site: site)
      self = .forward(directive)
    case .answer(let response, let routeClass):
      self = .answer(response, routeClass: RequestLabel.number(routeClass, site: site))
    case .handle(var action):
      action.routeClass = RequestLabel.number(action.routeClass, site: site)
      self = .handle(action)
    case .suspend: break
    }
  }
}
