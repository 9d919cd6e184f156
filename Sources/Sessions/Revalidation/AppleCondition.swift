/// The state of Apple from recent revalidations and sign-ins, for health checks: whether it is reachable and accepts
/// our credentials.
package struct AppleCondition: Sendable {
  /// The result of one call regarding connection and credentials.
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

  /// The report for health checks.
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

  /// The current report.
  /// - Parameter allFailing: `RevalidationCircuitBreaker.allFailing`.
  package func report(allFailing: Int?) -> Report {
    if let refusal = refusals.last {
      return .failing(
        "Apple refuses our credentials for \(refusal.clientID) (\(refusal.code)): sign-in and "
          + "revalidation are unavailable; \(refusal.remedy), and run `cordon doctor`")
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
