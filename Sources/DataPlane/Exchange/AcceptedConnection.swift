internal import NIOCore

/// A connection of a listener, whatever it speaks.
protocol AcceptedConnection: AnyObject {
  /// Its other end; the listener's trust in it can change.
  var peer: ClientPeer { get set }
  /// The sessions that have an exchange under way on it.
  var sessions: [ConnectionKey] { get }
  /// The listener is to end: what is idle in a moment, what is under way behind its response.
  func drain()
  /// Ends it at once, in the middle of whatever it does.
  func abort()
  /// Ends what still streams for these sessions.
  func endExchanges(of sessions: Set<ConnectionKey>)
  /// Ends the exchanges that may not go on.
  /// - Returns: whether any is left that belongs to a session.
  func review(at now: NIODeadline) -> Bool
}

extension AcceptedConnection {
  func review(at now: NIODeadline) -> Bool { false }
}
