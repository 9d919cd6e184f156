internal import AccessPolicy
internal import DataPlane
internal import HTTPWire

/// Fields by which an application may take another path or method than those that `verify` authorizes. The gateway
/// removes them where it forwards itself; another proxy may pass them on, so that they have to agree.
struct RequestOverrides {
  private let methods = ReservedNames(ForwardingRules.methodOverrideNames)
  private let paths = ReservedNames(ForwardingRules.pathOverrideNames)

  /// The reason not to admit a request that its route admits; nil without one.
  func doubt(
    about target: OriginalRequest.Target, _ head: borrowing RequestHead, _ bytes: RawSpan, _ route: RouteDecision
  ) -> OriginalRequest.AmbiguityError? {
    if route.dropsMethodOverride, nameMethod(head, bytes) { return .methodOverride }
    // Whatever the routes are: a public path alone makes a difference. For an unknown path the strictest rule held.
    guard case .known(let known, _) = target else { return nil }
    return nameAnotherPath(than: known, head, bytes) ? .pathOverride : nil
  }

  /// Whether a field names a method, be it that of the request.
  func nameMethod(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    head.fields.lines.contains { methods.contains(bytes, $0.name) }
  }

  private func nameAnotherPath(than target: Range<Int>, _ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    let judged = bytes.path(of: target)
    return head.fields.lines.contains { line in
      guard paths.contains(bytes, line.name) else { return false }
      let named = bytes.path(of: AbsoluteURL.split(bytes, line.value)?.target ?? line.value)
      return named.count != judged.count
        || named.indices.contains { bytes.byte(at: $0) != bytes.byte(at: $0 - named.lowerBound + judged.lowerBound) }
    }
  }
}
