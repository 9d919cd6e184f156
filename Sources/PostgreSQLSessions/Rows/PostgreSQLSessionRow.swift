import FoundationEssentials
import Sessions

/// Sessions as their rows hold them.
enum PostgreSQLSessionRow {
  static let columns: SQL = """
    sessions.handle, sessions.subject, sessions.client_id, sessions.began, sessions.ends, sessions.last_seen, \
    sessions.user_agent
    """
  static let columnCount = 7

  /// Inserts a session, unless there is or recently was one with this handle.
  static func inserting(_ session: Session) -> Statement {
    Statement(
      """
      INSERT INTO cordon.sessions (handle, subject, client_id, began, ends, last_seen, user_agent)
      SELECT $1, $2, $3, $4, $5, $6, $7 WHERE NOT EXISTS (SELECT 1 FROM cordon.changes WHERE handle = $1)
      ON CONFLICT (handle) DO NOTHING
      """,
      [
        .bytes(session.handle.bytes), .text(session.subject.text), .text(session.clientID),
        .integer(session.began.stored), .integer(session.ends.stored), .integer(session.lastSeen.stored),
        .text(session.userAgent?.text),
      ])
  }

  /// Removes the sessions of which `condition` is true.
  static func end(
    where condition: SQL, _ parameters: [Parameter], in connection: Connection
  ) throws -> [PublicSessionID] {
    try handles(try connection.run(ending(where: condition, parameters)))
  }

  /// The query of `end`.
  static func ending(where condition: SQL, _ parameters: [Parameter]) -> Statement {
    Statement("DELETE FROM cordon.sessions WHERE \(condition) RETURNING handle", parameters)
  }

  /// The result of `ending`. A session whose ID is damaged is removed like the others; nobody can have used it.
  static func handles(_ result: QueryResult) throws -> [PublicSessionID] {
    try result.rows.compactMap { PublicSessionID(bytes: try $0.bytes(0)) }
  }
}
