internal import NIOCore

/// A connection of a listener, whatever it speaks.
protocol AcceptedConnection: AnyObject {
  /// Its other end; the listener's trust in it can change.
  var peer: ClientPeer { get set }
  /// The sessions that have an exchange under way on it.
  var sessions: [ConnectionKey] { get }
  /// Begins a graceful shutdown: an idle connection is closed after a grace period, a busy one after its response.
  func drain()
  /// Aborts it, in the middle of whatever it does.
  func abort()
  /// Ends what is under way for these sessions.
  func endExchanges(of sessions: Set<ConnectionKey>, for ending: ExchangeEnding)
}

/// A connection that carries exchanges, of which those with an upstream are reviewed.
protocol ReviewedConnection: AcceptedConnection {
  var server: ServerContext { get }
  /// Whether its exchanges are being reviewed.
  var isReviewed: Bool { get set }
  /// Ends the exchanges that the gate no longer permits.
  /// - Returns: whether any is left that can be reviewed.
  func reviewExchanges(at now: NIODeadline) -> Bool
}

extension ReviewedConnection {
  /// Has its exchanges reviewed from now on, for as long as it has any.
  func expectReviews() {
    guard !isReviewed else { return }
    isReviewed = true
    server.review(self)
  }

  /// Reviews its exchanges.
  /// - Returns: whether any is left that can be reviewed.
  func review(at now: NIODeadline) -> Bool {
    // An exchange that begins meanwhile must not register the connection a second time.
    isReviewed = reviewExchanges(at: now)
    return isReviewed
  }
}
