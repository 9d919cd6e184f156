/// The state of Apple from recent revalidations and sign-ins, for health checks: whether it is reachable and accepts
/// our credentials.
package struct AppleCondition: Sendable {
  /// The result of one call regarding connection and credentials.
  package enum Contact: Sendable, Equatable {
    /// Apple accepted our credentials.
    case accepted
    /// Apple refused our credentials, or they could not be made.
    case refused(code: String, remedy: String)
    /// An error at Apple, which says nothing about our credentials.
    case inconclusive
    /// The request cannot have reached Apple.
    case notSent
  }

  /// The report for health checks.
  package enum Report: Sendable, Equatable {
    /// Apple has not been asked yet.
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

  /// The largest number of refused clients that are remembered.
  private static let refusalLimit = 16

  private var reach = Reach.unknown
  /// The clients whose credentials were refused, until they are accepted.
  private var refusals: [Refusal] = []

  /// The state before the first call.
  package init() {}

  /// Notes the result of a call in the name of a client.
  package mutating func note(_ contact: Contact, clientID: String) {
    reach = contact == .notSent ? .unreachable : .reached
    switch contact {
    case .accepted: forgetRefusal(of: clientID)
    case .refused(let code, let remedy):
      forgetRefusal(of: clientID)
      if refusals.count == Self.refusalLimit { refusals.removeFirst() }
      refusals.append(Refusal(clientID: clientID, code: code, remedy: remedy))
    case .inconclusive, .notSent: break
    }
  }

  /// Forgets the refusals, because the credentials have changed.
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
