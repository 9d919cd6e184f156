/// A host name without an address.
struct UnresolvedHostError: Error, CustomStringConvertible {
  /// The reason for which there is no address.
  enum Reason {
    /// The name servers know none.
    case unknown
    /// The name servers gave no answer.
    case noAnswer
    /// The system had no thread left for the lookup.
    case noThread
  }

  let host: String
  var reason = Reason.unknown

  var description: String {
    switch reason {
    case .unknown: "no address for \(host)"
    case .noAnswer: "no address for \(host), because the name servers gave no answer; \(Self.remedy)"
    case .noThread:
      "no address for \(host), because the system has no thread left for the lookup; raise the limit of threads "
        + "(TasksMax= or LimitNPROC= of the unit, the container's limit of pids)"
    }
  }

  static let remedy = "look at /etc/resolv.conf, and whether the name servers there answer"
}
