import FoundationEssentials
import Sessions

/// Sessions as their rows hold them.
enum SQLiteSessionRow {
  static let columns = """
    sessions.handle, sessions.subject, sessions.client_id, sessions.began, sessions.ends, sessions.last_seen, \
    sessions.user_agent
    """
  static let columnCount = 7

  static func insert(_ session: Session, in database: Database) throws {
    try database.run(
      """
      INSERT INTO sessions (handle, subject, client_id, began, ends, last_seen, user_agent) VALUES (?, ?, ?, ?, ?, ?, ?)
      """,
      [
        session.handle.bytes, session.subject.text, session.clientID, session.began.stored, session.ends.stored,
        session.lastSeen.stored, session.userAgent?.text,
      ])
  }

  /// Removes the sessions of which `condition` is true and leaves a change for each. One whose ID is damaged is removed
  /// like the others; nobody can have used it.
  static func end(
    where condition: String, _ arguments: SQLiteArguments, because reason: SessionEnding, at now: Date,
    in database: Database
  ) throws -> [PublicSessionID] {
    let rows = try database.rows("DELETE FROM sessions WHERE \(condition) RETURNING handle", arguments)
    return try rows.compactMap { row in
      guard let handle = PublicSessionID(bytes: try row.bytes(0)) else { return nil }
      try noteEnd(of: handle, because: reason, at: now, in: database)
      return handle
    }
  }

  static func noteEnd(
    of handle: PublicSessionID, because reason: SessionEnding, at now: Date, in database: Database
  ) throws {
    try database.run(
      "INSERT INTO changes (handle, reason, at) VALUES (?, ?, ?)", [handle.bytes, reason.rawValue, now.stored])
  }

  static func noteChange(of subject: Subject, at now: Date, in database: Database) throws {
    try database.run("INSERT INTO changes (subject, at) VALUES (?, ?)", [subject.text, now.stored])
  }

  static func note(_ change: StoreChange, at now: Date, in database: Database) throws {
    switch change {
    case .ended(let handle, let reason): try noteEnd(of: handle, because: reason, at: now, in: database)
    case .accountChanged(let subject): try noteChange(of: subject, at: now, in: database)
    case .signedIn(let subject):
      try database.run(
        "INSERT INTO changes (reason, subject, at) VALUES (?, ?, ?)",
        [StoreChange.signInReason, subject.text, now.stored])
    }
  }
}
