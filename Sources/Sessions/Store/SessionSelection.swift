package import FoundationEssentials

/// The sessions to end.
package enum SessionSelection: Sendable, Equatable {
  /// This one.
  case one(PublicSessionID)
  /// Every session of the user.
  case all(of: Subject)
  /// Every session of the user but this one.
  case others(of: Subject, except: PublicSessionID)
  /// Every session that depends on the user's token for this client.
  case resting(onTokenOf: Subject, clientID: String)

  /// The change that ends selected sessions which the store no longer has: it may have lost them (to a failover, a
  /// backup that was restored), and gateways have them in their caches.
  /// - Parameter ended: the sessions that the store had.
  package func change(beside ended: [PublicSessionID], because reason: SessionEnding) -> StoreChange? {
    switch self {
    case .one(let handle): ended.isEmpty ? .ended(handle, reason) : nil
    case .all(let subject), .others(let subject, _), .resting(let subject, _): .accountChanged(subject)
    }
  }
}

/// The reason that a session ended, for the log and for lists.
package enum SessionEnding: String, Sendable, CaseIterable {
  /// The user signed out, there or from another session on the account page.
  case signedOut = "signed out"
  /// The same browser signed in again.
  case replaced
  /// Apple answered that the token is revoked.
  case revoked
  /// Apple notified that the user withdrew consent.
  case consentRevoked = "consent revoked"
  /// Apple notified that the user's Apple Account was deleted, or the operator removed the account here.
  case accountRemoved = "account removed"
  /// The operator ended it.
  case byOperator = "ended by the operator"

  /// - Parameter stored: a reason as a store has it. One that only a newer version knows is read as an operator's: that
  ///   the session has ended must not be missed for it.
  package init(stored: String) { self = Self(rawValue: stored) ?? .byOperator }
}

/// A last-seen update: the last use of a session, written in batches.
package struct LastSeenUpdate: Sendable, Equatable {
  /// The session.
  package let handle: PublicSessionID
  /// The time of its last request.
  package let seen: Date

  /// The last use of a session.
  package init(handle: PublicSessionID, seen: Date) {
    self.handle = handle
    self.seen = seen
  }
}
