package import FoundationEssentials

/// One browser or app of a signed-in user.
package struct Session: Sendable, Equatable {
  /// Its public name.
  package let handle: PublicSessionID
  /// The session's user.
  package let subject: Subject
  /// The client (Services ID or App ID) it was signed in with; it depends on this client's refresh token.
  package let clientID: String
  /// When the user signed in.
  package let began: Date
  /// When it ends at the latest.
  package let ends: Date
  /// When it was last used, as stored: up to a few minutes behind.
  package var lastSeen: Date
  /// The shortened user agent, for lists of sessions.
  package let userAgent: UserAgentSummary?

  /// A session as a store keeps it.
  package init(
    handle: PublicSessionID, subject: Subject, clientID: String, began: Date, ends: Date, lastSeen: Date,
    userAgent: UserAgentSummary? = nil
  ) {
    self.handle = handle
    self.subject = subject
    self.clientID = clientID
    self.began = began
    self.ends = ends
    self.lastSeen = lastSeen
    self.userAgent = userAgent
  }

  /// A session that begins now.
  package init(
    _ identifier: SessionIdentifier, of subject: Subject, clientID: String, now: Date, lifetime: Duration,
    userAgent: UserAgentSummary? = nil
  ) {
    self.init(
      handle: identifier.handle, subject: subject, clientID: clientID, began: now, ends: now.advanced(by: lifetime),
      lastSeen: now, userAgent: userAgent)
  }

  /// Whether it may still be used: before its end, and seen within `idleTimeout`. The moment of either limit is too
  /// late.
  package func isAlive(at now: Date, idleTimeout: Duration) -> Bool {
    now < ends && now < lastSeen.advanced(by: idleTimeout)
  }

  /// Whether the sign-in is younger than `age`. One from the future was written by a wrong clock, and proves nothing.
  package func isRecent(_ age: Duration, at now: Date) -> Bool {
    now < began.advanced(by: age) && began <= now.advanced(by: Self.clockTolerance)
  }

  /// The largest difference between the clocks of two gateways that is accepted.
  package static let clockTolerance = Duration.seconds(60)
}
