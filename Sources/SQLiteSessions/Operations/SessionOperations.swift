package import FoundationEssentials
package import Sessions

extension SQLiteSessionStore {
  /// One read by primary keys, and the indexes of groups and bans by subject.
  package func find(_ handle: PublicSessionID) async throws(StoreError) -> SessionSnapshot? {
    try await read { database in
      let row = try database.row(
        """
        SELECT \(SQLiteSessionRow.columns), \(SQLiteAccountRow.columns) FROM sessions
        JOIN accounts ON accounts.subject = sessions.subject LEFT JOIN bans ON bans.subject = accounts.subject
        WHERE sessions.handle = ?
        """, [handle.bytes])
      return try row.map { row in
        SessionSnapshot(
          session: try Session(stored: row),
          account: try SQLiteAccountRow(row, from: SQLiteSessionRow.columnCount).account)
      }
    }
  }

  /// Deletes the rows; the change feed keeps their IDs and the reason. Notes the change of the selection, too.
  @discardableResult
  package func end(
    _ selection: SessionSelection, because reason: SessionEnding, at now: Date
  ) async throws(StoreError) -> [PublicSessionID] {
    try await write { database in
      func end(where condition: String, _ arguments: SQLiteArguments) throws -> [PublicSessionID] {
        try SQLiteSessionRow.end(where: condition, arguments, because: reason, at: now, in: database)
      }
      let ended =
        switch selection {
        case .one(let handle): try end(where: "handle = ?", [handle.bytes])
        case .all(let subject): try end(where: "subject = ?", [subject.text])
        case .others(let subject, let kept): try end(where: "subject = ? AND handle <> ?", [subject.text, kept.bytes])
        case .resting(let subject, let clientID):
          try end(where: "subject = ? AND client_id = ?", [subject.text, clientID])
        }
      if let change = selection.change(beside: ended, because: reason) {
        try SQLiteSessionRow.note(change, at: now, in: database)
      }
      return ended
    }
  }

  /// Writes in batches of 500, each a transaction of its own. An error leaves earlier batches written, which a
  /// repetition does not harm.
  package func updateLastSeen(_ updates: [LastSeenUpdate]) async throws(StoreError) {
    var rest = updates[...]
    while !rest.isEmpty {
      let batch = rest.prefix(Self.batchSize)
      try await write { database in
        for update in batch {
          try database.run(
            "UPDATE sessions SET last_seen = ?2 WHERE handle = ?1 AND last_seen < ?2",
            [update.handle.bytes, update.seen.stored])
        }
      }
      rest = rest.dropFirst(batch.count)
    }
  }

  /// Small enough that a sign-in does not wait long for its turn to write.
  private static let batchSize = 500

  /// Reads by the index of subjects. A session that is damaged is listed as such.
  package func sessions(of subject: Subject) async throws(StoreError) -> [Listed<Session>] {
    try await read { database in
      try database.rows(
        "SELECT \(SQLiteSessionRow.columns) FROM sessions WHERE subject = ? ORDER BY began DESC, handle", [subject.text]
      ).map { try Session.listed($0) }
    }
  }

  /// Reads by the index of subjects, and sorts.
  package func sessions(
    of subject: Subject, after place: SessionPlace, limit: Int
  ) async throws(StoreError) -> SessionPage {
    try await read { database in
      let rows = try database.rows(
        """
        SELECT \(SQLiteSessionRow.columns) FROM sessions
        WHERE subject = ?1 AND (began < ?2 OR (began = ?2 AND handle > ?3)) ORDER BY began DESC, handle LIMIT ?4
        """, [subject.text, place.began, place.handle, max(limit, 1)])
      return try SessionPage(stored: rows, limit: max(limit, 1))
    }
  }
}
