/// The failure of a statement or of the connection.
enum DatabaseError: Error {
  /// The connection could not be established.
  case notConnected(String)
  /// The connection broke. `isInDoubt`: the statement, or the whole transaction, may have been carried out.
  case lost(String, isInDoubt: Bool)
  /// No answer in time; the connection is abandoned.
  case timedOut(isInDoubt: Bool)
  /// The server refused the statement.
  case refused(state: SQLState, message: String)

  /// Whether the same transaction can be tried again at once: it collided with another one and left nothing behind.
  var isCollision: Bool {
    guard case .refused(let state, _) = self else { return false }
    return [.serializationFailure, .deadlock, .uniqueViolation].contains(state)
  }

  /// Whether the connection can no longer be used, or leads to a server that cannot: a standby that was the primary.
  var endsConnection: Bool {
    switch self {
    case .notConnected, .lost, .timedOut: true
    case .refused(let state, _): state == .readOnly
    }
  }

  /// Whether it is certain that nothing was carried out, and a new connection may succeed: this one was lost, or leads
  /// to a standby that was the primary.
  func isWorthReconnecting(isRetryable: Bool) -> Bool {
    switch self {
    case .lost(_, let isInDoubt): isRetryable || !isInDoubt
    case .refused(let state, _): state == .readOnly
    case .notConnected, .timedOut: false
    }
  }
}

/// The five characters that say what kind of error it is (PostgreSQL's manual, appendix A).
struct SQLState: Sendable, Equatable, CustomStringConvertible {
  let text: String

  init(_ text: String) { self.text = text }

  var description: String { text }

  /// The first two characters.
  func isOfClass(_ name: String) -> Bool { text.utf8.starts(with: name.utf8) }

  /// The server is going down or coming up, or has ended this connection.
  var isAboutConnection: Bool { isOfClass("08") || ["57P01", "57P02", "57P03", "57P05", "25P03"].contains(text) }

  static let readOnly = SQLState("25006")
  static let serializationFailure = SQLState("40001")
  static let deadlock = SQLState("40P01")
  /// `lock_timeout` is over.
  static let lockNotAvailable = SQLState("55P03")
  /// Another transaction inserted the same row first; a retry finds it.
  static let uniqueViolation = SQLState("23505")
}
