internal import Operations
internal import Sessions

extension AuditTrail {
  /// Records that sessions have ended.
  func recordEnd(
    of sessions: [PublicSessionID], because reason: SessionEnding, subject: Subject? = nil, peer: String? = nil,
    requestID: String? = nil, clientID: String? = nil
  ) {
    for session in sessions {
      record(
        .sessionEnded(reason: reason.label), subject: subject, session: session, peer: peer, requestID: requestID,
        clientID: clientID)
    }
  }
}

extension MetricsRegistry {
  /// Counts sessions that have ended.
  func countEnd(of sessions: [PublicSessionID], because reason: SessionEnding) {
    for _ in sessions { sessionsEnded.count(reason.label) }
  }
}

extension SessionEnding {
  /// The name in metrics and in the audit.
  fileprivate var label: String {
    switch self {
    case .signedOut: "signed_out"
    case .replaced: "replaced"
    case .revoked: "revoked"
    case .consentRevoked: "consent_revoked"
    case .accountRemoved: "account_removed"
    case .byOperator: "by_operator"
    }
  }
}
