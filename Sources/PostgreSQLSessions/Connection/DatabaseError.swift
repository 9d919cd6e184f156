/// The failure of a statement or of the connection.
enum DatabaseError: Error {
  /// No connection came about.
  case notConnected(String)
  /// The connection broke. `isInDoubt`: the statement, or the whole transaction, may have been carried out.
  case lost(String, isInDoubt: Bool)
  /// No answer in time; the connection is given up.
  case late(isInDoubt: Bool)
  /// The server refused the statement.
  case refused(state: SQLState, message: String)

  /// Whether the same transaction can be tried again at once: it collided with another one and left nothing behind.
  var isCollision: Bool {
    guard case .refused(let state, _) = self else { return false }
    return [.serializationFailure, .deadlock, .uniqueViolation].contains(state)
  }

  /// Whether the connection is of no use any more, or leads to a server that is: a standby that was the primary.
  var endsConnection: Bool {
    switch self {
    case .notConnected, .lost, .late: true
    case .refused(let state, _): state == .readOnly
    }
  }

  /// Whether it is certain that nothing was carried out, and another connection may do better: this one was lost, or
  /// leads to a standby that was the primary.
  func isWorthReconnecting(isRetryable: Bool) -> Bool {
    switch self {
    case .lost(_, let isInDoubt): isRetryable || !isInDoubt
    case .refused(let state, _): state == .readOnly
    case .notConnected, .late: false
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
  /// Somebody else inserted the same row first: next time it is found.
  static let uniqueViolation = SQLState("23505")
}
