internal import DataPlane

extension OriginError {
  /// The reason of the failure, whether the request may have reached the origin or not.
  var reason: String {
    switch self {
    case .notSent(let reason), .unanswered(let reason): reason
    }
  }
}
