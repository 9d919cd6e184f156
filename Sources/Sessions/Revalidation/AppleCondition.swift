/// How things stand with Apple, from what came of checks and sign-ins: whether it can be reached, and whether it takes
/// our credentials. For health.
package struct AppleCondition: Sendable {
  /// What one call said of the way to Apple and of our credentials.
  package enum Contact: Sendable, Equatable {
    /// Apple looked at more than our credentials.
    case accepted
    /// Apple refused our credentials, or they could not be made.
    case refused(code: String, remedy: String)
    /// Trouble at Apple, which says nothing of our credentials.
    case answeredOtherwise
    /// The request cannot have reached Apple.
    case notSent
  }

  /// What health is told.
  package enum Report: Sendable, Equatable {
    /// Apple was not asked yet.
    case unknown
    /// Apple answers, and accepts our credentials.
    case ok
    /// The problem and its remedy.
    case failing(String)
  }

  private enum Reach {
    case unknown, reached, unreachable
  }

  private struct Refusal {
    let clientID: String
    let code: String
    let remedy: String
  }

  /// Refused clients are remembered up to this many.
  private static let mostRefusals = 16

  private var reach = Reach.unknown
  /// The clients whose credentials were refused, until they are accepted.
  private var refusals: [Refusal] = []

  /// Apple was not asked yet.
  package init() {}

  /// Notes what came of a call in the name of a client.
  package mutating func note(_ contact: Contact, clientID: String) {
    reach = contact == .notSent ? .unreachable : .reached
    switch contact {
    case .accepted: forgetRefusal(of: clientID)
    case .refused(let code, let remedy):
      forgetRefusal(of: clientID)
      if refusals.count == Self.mostRefusals { refusals.removeFirst() }
      refusals.append(Refusal(clientID: clientID, code: code, remedy: remedy))
    case .answeredOtherwise, .notSent: break
    }
  }

  /// The credentials are others from now on.
  package mutating func forgetRefusals() { refusals = [] }

  /// How things stand.
  /// - Parameter allFailing: `RevalidationCircuitBreaker.allFailing`.
  package func report(allFailing: Int?) -> Report {
    if let refusal = refusals.last {
      return .failing(
        "Apple refuses our credentials for \(refusal.clientID) (\(refusal.code)): nobody can sign in with them, and accounts "
          + "cannot be checked; \(refusal.remedy), and run `cordon doctor`")
    }
    switch reach {
    case .unknown: return .unknown
    case .unreachable:
      return .failing(
        "Apple cannot be reached; look at the network and the name service from here, and run `cordon doctor`")
    case .reached: break
    }
    guard let allFailing else { return .ok }
    return .failing(
      "not one of \(allFailing) checks within the hour succeeded, so revocations are held; run `cordon doctor`")
  }

  private mutating func forgetRefusal(of clientID: String) {
    refusals.removeAll { $0.clientID.utf8.elementsEqual(clientID.utf8) }
  }
}
