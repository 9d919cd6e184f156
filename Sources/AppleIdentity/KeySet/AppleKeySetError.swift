/// The reason why a key is not available.
package enum AppleKeySetError: Error, Sendable, Equatable {
  /// The token names a key that Apple does not publish. The token's fault.
  case unknownKey
  /// The key is not known, and Apple is not asked again so soon: see ``AppleKeySet/Policy``.
  case coolingDown
  /// Apple did not answer, and the key is not cached.
  case unreachable(AppleTransportError)
  /// Apple answered with this status.
  case status(Int)
  /// The answer was not a JWK set, or had no key that we can use.
  case unusable(String)

  /// The problem and its remedy.
  package var message: String {
    switch self {
    case .unknownKey: "no key of Apple's has this identifier"
    case .coolingDown:
      "Apple's keys were fetched a moment ago, without one of this identifier: for a sign-in in a browser they are "
        + "fetched again after \(Int(Self.policy.coolDownOfVerified)) s at the earliest, for an app or a notification "
        + "after \(Int(Self.policy.coolDown)) s"
    case .unreachable(.notSent(let reason)), .unreachable(.unanswered(let reason)):
      "Apple's keys could not be fetched: \(LogText.sanitized(reason))"
    case .status(let status): "Apple answered \(status) when asked for its keys"
    case .unusable(let reason): "Apple's answer holds no usable keys: \(reason)"
    }
  }

  private static let policy = AppleKeySet.Policy()

  /// The reason why the request for the keys cannot have reached Apple; nil if it may have.
  package var unsentReason: String? {
    guard case .unreachable(.notSent(let reason)) = self else { return nil }
    return LogText.sanitized(reason)
  }
}
