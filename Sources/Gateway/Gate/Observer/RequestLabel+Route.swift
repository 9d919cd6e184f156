internal import AccessPolicy
internal import DataPlane
internal import HTTPTypes
internal import Operations

/// The kind of a request's route and the number of its site, by which it is counted, and whether it was refused for an
/// ambiguous path: in one number.
extension RequestLabel {
  private static let shift = 8
  private static let ambiguousPath = 1 << 7

  /// The label of a request on a route of this kind, at the host of `public_url`.
  @inline(__always)
  init(_ route: RouteLabel) { self.init(number: route.rawValue) }

  /// The label of a request for one of the gateway's own pages.
  static var own: RequestLabel { RequestLabel(.own) }
  /// The label of a request to `verify`.
  static var verify: RequestLabel { RequestLabel(.verify) }
  /// The label of a request that is refused before it has a route.
  static var refused: RequestLabel { RequestLabel(.refused) }

  /// The kind of the route. An invalid number is read as that of a refused request.
  var route: RouteLabel { RouteLabel(rawValue: number & (Self.ambiguousPath - 1)) ?? .refused }

  /// 0 for the host of `public_url`, and for requests without a decision.
  var site: Int { max(number >> Self.shift, 0) }

  /// Whether it was refused, or sent to sign in, because of another reading of its path.
  var isOfAmbiguousPath: Bool { number >= 0 && number & Self.ambiguousPath != 0 }

  /// The same label at a site.
  fileprivate func of(site: Int) -> RequestLabel { RequestLabel(number: number | site << Self.shift) }

  /// The same label with the mark of an ambiguous path.
  fileprivate var ofAmbiguousPath: RequestLabel { RequestLabel(number: number | Self.ambiguousPath) }
}

extension GateDecision {
  /// Has a request counted under its site, too.
  mutating func note(site: Int) {
    switch consume self {
    case .forward(var directive):
      directive.label = directive.label.of(site: site)
      self = .forward(directive)
    case .answer(let response, let label): self = .answer(response, label: label.of(site: site))
    case .answerAndLog(let response, let label, let log):
      self = .answerAndLog(response, label: label.of(site: site), log: log)
    case .handle(var action):
      action.label = action.label.of(site: site)
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
    case .answer(let response, let label):
      let isRefused = response.head.status == .forbidden
      let isSentToSignIn = response.head.status == .unauthorized || response.head.status.kind == .redirection
      let isConcerned = isRefused || isPublicByItself && isSentToSignIn
      self = .answer(response, label: isConcerned ? label.ofAmbiguousPath : label)
    case let other: self = other
    }
  }
}
