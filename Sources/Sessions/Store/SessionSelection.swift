public import FoundationEssentials

/// Which sessions to end.
public enum SessionSelection: Sendable, Equatable {
  /// This one.
  case one(SessionHandle)
  /// Every session of the user.
  case all(of: Subject)
  /// Every session that rests on the user's token for this client.
  case resting(onTokenOf: Subject, clientID: String)
}

/// Why a session ended, for the log and for lists.
public enum SessionEnding: String, Sendable, CaseIterable {
  /// The user signed out.
  case signedOut = "signed out"
  /// The same browser signed in again.
  case replaced
  /// Apple answered that the token is revoked.
  case revoked
  /// Apple notified that the user withdrew consent.
  case consentRevoked = "consent revoked"
  /// Apple notified that the user's Apple Account is gone, or the operator removed the account here.
  case accountRemoved = "account removed"
  /// The operator ended it.
  case byOperator = "ended by the operator"
}

/// A session was used, to be written down with others in one batch.
public struct SessionSighting: Sendable, Equatable {
  /// Which session.
  public let handle: SessionHandle
  /// When a request of it was seen last.
  public let seen: Date

  /// A session, and when it was seen.
  public init(handle: SessionHandle, seen: Date) {
    self.handle = handle
    self.seen = seen
  }
}
