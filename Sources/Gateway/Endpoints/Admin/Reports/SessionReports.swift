internal import FoundationEssentials
internal import Sessions

/// `GET /accounts/SUB/sessions`: a page of the user's sessions, newest first.
package struct SessionsReport: Codable, Sendable, Equatable {
  /// Those that can be read.
  package let sessions: [SessionReport]
  /// The `after` of the following page; nil after the last.
  package let next: String?
  /// The session IDs of those that are damaged, each nil if it cannot be read; nil if there are none.
  package let damaged: [String?]?
}

/// One browser or app. Times are RFC 3339, in UTC.
package struct SessionReport: Codable, Sendable, Equatable {
  /// Its public name, by which it is ended.
  package let handle: String
  /// The client that was signed in with.
  package let clientID: String
  /// The moment of the sign-in.
  package let began: String
  /// The moment at which it ends at the latest.
  package let ends: String
  /// The last use, up to two minutes behind.
  package let lastSeen: String
  /// The user agent of the browser.
  package let userAgent: String?

  private enum CodingKeys: String, CodingKey {
    case handle
    case clientID = "client_id"
    case began, ends
    case lastSeen = "last_seen"
    case userAgent = "user_agent"
  }

  init(_ session: Session) {
    handle = session.handle.text
    clientID = session.clientID
    began = session.began.rfc3339
    ends = session.ends.rfc3339
    lastSeen = session.lastSeen.rfc3339
    userAgent = session.userAgent?.text
  }
}

/// The result of ending sessions: how many there were.
package struct EndedReport: Codable, Sendable, Equatable {
  /// The number of sessions that ended.
  package let ended: Int
}
