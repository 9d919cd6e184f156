internal import AccessPolicy
internal import DataPlane
internal import HTTPTypes
internal import Operations

/// The kind of a request's route and the number of its site, by which it is counted, and whether it was refused for an
/// ambiguous path: one number that the data plane carries from the gate to the observer.
struct RequestLabel {
  let route: RouteLabel
  /// 0 for the host of `public_url`, and for requests without a decision.
  let site: Int
  /// Whether it was refused, or sent to sign in, because of another reading of its path.
  let isOfAmbiguousPath: Bool

  private static let shift = 8
  private static let ambiguousPath = 1 << 7

  /// An invalid number is read as a refused request.
  init(number: Int) {
    route = RouteLabel(rawValue: number & (Self.ambiguousPath - 1)) ?? .refused
    site = max(number >> Self.shift, 0)
    isOfAmbiguousPath = number >= 0 && number & Self.ambiguousPath != 0
  }

  /// The number of a route's kind with the mark of an ambiguous path.
  static func number(ofAmbiguousPath routeClass: Int) -> Int { routeClass | ambiguousPath }

  /// The number of a route's kind with a site.
  static func number(_ routeClass: Int, site: Int) -> Int { routeClass | site << shift }
}

extension GateDecision {
  /// Has a request counted under its site, too.
  mutating func note(site: Int) {
    switch consume self {
    case .forward(var directive):
      directive.routeClass = RequestLabel.number(directive.routeClass, site: site)
      self = .forward(directive)
    case .answer(let response, let routeClass):
      self = .answer(response, routeClass: RequestLabel.number(routeClass, site: site))
    case .answerAndLog(let response, let routeClass, let log):
      self = .answerAndLog(response, routeClass: RequestLabel.number(routeClass, site: site), log: log)
    case .handle(var action):
      action.routeClass = RequestLabel.number(action.routeClass, site: site)
      self = .handle(action)
    case .suspend(let work): self = .suspend(work)
    }
  }

  /// Has the access log say that the path is ambiguous, where that is why the request is refused or sent to sign in.
  @inline(__always)
  mutating func note(ambiguityOf route: RouteDecision) {
    switch route.otherReading {
    case .none: break
    case .stricter: noteAmbiguousPath(isPublicByItself: false)
    case .stricterThanPublic: noteAmbiguousPath(isPublicByItself: true)
    }
  }

  private mutating func noteAmbiguousPath(isPublicByItself: Bool) {
    switch consume self {
    case .answer(let response, let routeClass):
      let isRefused = response.head.status == .forbidden
      let isSentToSignIn = response.head.status == .unauthorized || response.head.status.kind == .redirection
      let isConcerned = isRefused || isPublicByItself && isSentToSignIn
      self = .answer(
        response, routeClass: isConcerned ? RequestLabel.number(ofAmbiguousPath: routeClass) : routeClass)
    case let other: self = other
    }
  }
}
