public import FoundationEssentials

/// One browser or app of a signed-in user.
public struct Session: Sendable, Equatable {
  /// Its public name.
  public let handle: SessionHandle
  /// Whose it is.
  public let subject: Subject
  /// The client (Services ID or App ID) it was signed in with; it rests on this client's refresh token.
  public let clientID: String
  /// When the user signed in.
  public let began: Date
  /// When it ends, whatever happens in between.
  public let ends: Date
  /// When it was last used, as far as was written down: a few minutes behind.
  public var lastSeen: Date
  /// What the browser called itself, shortened, for lists of sessions.
  public let userAgent: UserAgentSummary?

  /// A session as a store keeps it.
  public init(
    handle: SessionHandle, subject: Subject, clientID: String, began: Date, ends: Date, lastSeen: Date,
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
  public init(
    _ identifier: SessionIdentifier, of subject: Subject, clientID: String, now: Date, lifetime: Duration,
    userAgent: UserAgentSummary? = nil
  ) {
    self.init(
      handle: identifier.handle, subject: subject, clientID: clientID, began: now, ends: now.advanced(by: lifetime),
      lastSeen: now, userAgent: userAgent)
  }

  /// Whether it may still be used: before its end, and seen within `idleTimeout`. The moment of either limit is too late.
  public func isAlive(at now: Date, idleTimeout: Duration) -> Bool {
    now < ends && now < lastSeen.advanced(by: idleTimeout)
  }
}

/// A session with its account, as one read of the store gave them.
public struct SessionSnapshot: Sendable, Equatable {
  /// The session itself.
  public let session: Session
  /// Whose session it is.
  public let account: Account

  /// A session with its account.
  public init(session: Session, account: Account) {
    self.session = session
    self.account = account
  }
}

/// What a browser called itself: at most 200 bytes of printable ASCII, anything else replaced by `?`.
public struct UserAgentSummary: Sendable, Equatable, CustomStringConvertible {
  /// As it is written in logs and administration.
  public let text: String
  /// In bytes.
  public static let maximumLength = 200

  /// Nil if nothing is left.
  public init?(_ bytes: some Sequence<UInt8>) {
    let cleaned = bytes.prefix(Self.maximumLength).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }
    guard cleaned.contains(where: { $0 != 0x20 }) else { return nil }
    text = String(decoding: cleaned, as: UTF8.self)
  }

  public var description: String { text }
}
