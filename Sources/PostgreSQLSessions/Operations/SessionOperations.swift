package import FoundationEssentials
package import Sessions

extension PostgreSQLSessionStore {
  /// One statement; see `finding`.
  package func find(_ handle: PublicSessionID) async throws(StoreError) -> SessionSnapshot? {
    try await read { connection in
      let row = try connection.run(Self.finding, [.bytes(handle.bytes)]).first
      return try row.map { row in
        SessionSnapshot(
          session: try Session(stored: row),
          account: try PostgreSQLAccountRow(row, from: PostgreSQLSessionRow.columnCount).account)
      }
    }
  }

  /// The query for a session that the gateway has not cached: one read by primary keys, and indexes of groups and bans
  /// by subject.
  static let finding: SQL = """
    SELECT \(PostgreSQLSessionRow.columns), \(PostgreSQLAccountRow.columns) FROM cordon.sessions
    JOIN cordon.accounts ON accounts.subject = sessions.subject
    LEFT JOIN cordon.bans ON bans.subject = accounts.subject WHERE sessions.handle = $1
    """

  /// Deletes the rows; the change feed keeps their IDs and the reason. Notes the change of the selection, too.
  @discardableResult
  package func end(
    _ selection: SessionSelection, because reason: SessionEnding, at now: Date
  ) async throws(StoreError) -> [PublicSessionID] {
    try await write(at: now) { connection, changes in
      let ended =
        switch selection {
        case .one(let handle):
          try PostgreSQLSessionRow.end(where: "handle = $1", [.bytes(handle.bytes)], in: connection)
        case .all(let subject):
          try PostgreSQLSessionRow.end(where: "subject = $1", [.text(subject.text)], in: connection)
        case .others(let subject, let kept):
          try PostgreSQLSessionRow.end(
            where: "subject = $1 AND handle <> $2", [.text(subject.text), .bytes(kept.bytes)], in: connection)
        case .resting(let subject, let clientID):
          try PostgreSQLSessionRow.end(
            where: "subject = $1 AND client_id = $2", [.text(subject.text), .text(clientID)], in: connection)
        }
      changes += ended.map { .ended($0, reason) }
      if let change = selection.change(beside: ended, because: reason) { changes.append(change) }
      return ended
    }
  }

  /// Writes in batches of 500, each a transaction of its own, sorted by ID. An error leaves earlier batches written,
  /// which a repetition does not harm.
  package func updateLastSeen(_ updates: [LastSeenUpdate]) async throws(StoreError) {
    // The latest of each session, in the same order as every other transaction, so that there is no deadlock.
    let latest = Dictionary(updates.map { ($0.handle, $0.seen.stored) }, uniquingKeysWith: max)
    let ordered = latest.sorted { $0.key < $1.key }
    var start = 0
    while start < ordered.count {
      let batch = ordered[start..<min(start + Self.batchSize, ordered.count)]
      try await write(isRetryable: true) { connection in
        try connection.run(
          """
          UPDATE cordon.sessions SET last_seen = seen.at FROM unnest($1, $2) AS seen (handle, at)
          WHERE sessions.handle = seen.handle AND sessions.last_seen < seen.at
          """, [.byteStrings(batch.map(\.key.bytes)), .integers(batch.map(\.value))]
        ).affected
      }
      start += batch.count
    }
  }

  /// Small enough that the rows are not locked for long.
  private static let batchSize = 500

  /// Reads by the index of subjects. A session that is damaged is listed as such.
  package func sessions(of subject: Subject) async throws(StoreError) -> [Listed<Session>] {
    try await read { connection in
      try connection.run(
        "SELECT \(PostgreSQLSessionRow.columns) FROM cordon.sessions WHERE subject = $1 ORDER BY began DESC, handle",
        [.text(subject.text)]
      ).rows.map { try Session.listed($0) }
    }
  }

  /// Reads by the index of subjects, and sorts.
  package func sessions(
    of subject: Subject, after place: SessionPlace, limit: Int
  ) async throws(StoreError) -> SessionPage {
    try await read { connection in
      let rows = try connection.run(
        """
        SELECT \(PostgreSQLSessionRow.columns) FROM cordon.sessions
        WHERE subject = $1 AND (began < $2 OR (began = $2 AND handle > $3)) ORDER BY began DESC, handle LIMIT $4
        """,
        [.text(subject.text), .integer(place.began), .bytes(place.handle), .integer(Int64(max(limit, 1)))]
      ).rows
      return try SessionPage(stored: rows, limit: max(limit, 1))
    }
  }
}
