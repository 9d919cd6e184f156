import FoundationEssentials
package import Sessions
import Synchronization

extension SQLiteSessionStore {
  package var mayHaveChanged: Bool {
    guard let known = readState.withLock({ $0 }) else { return true }
    return DatabaseFileState(file.path) != known
  }

  package func changes(since cursor: ChangeCursor?, limit: Int) async throws(StoreError) -> StoreChanges {
    let state = DatabaseFileState(file.path)
    readState.withLock { $0 = nil }
    let changes = try await readChanges(since: cursor, limit: limit)
    // A full batch: there may be more.
    let isAll = changes.changes.count < max(limit, 1) && !changes.isIncomplete
    readState.withLock { $0 = isAll ? state : nil }
    return changes
  }

  private func readChanges(since cursor: ChangeCursor?, limit: Int) async throws(StoreError) -> StoreChanges {
    try await readAnySchema { [self] database in
      // A file that was deleted or replaced can be read on, but other processes write to another one by now: what ends
      // there would never be known here. So the feed fails, and caches are trusted for the outage grace only.
      try file.requirePresence()
      try requireCompatibility(database)
      let bounds = try Bounds(database)
      guard let cursor else {
        return StoreChanges(changes: [], cursor: bounds.cursor(bounds.last), gap: .none)
      }
      guard let number = bounds.number(of: cursor) else {
        return StoreChanges(changes: [], cursor: bounds.cursor(bounds.last), gap: .otherStore)
      }
      let gap = bounds.gap(after: number)
      guard gap == .none else { return StoreChanges(changes: [], cursor: bounds.cursor(bounds.last), gap: gap) }
      let rows = try database.rows(
        "SELECT number, handle, reason, subject FROM changes WHERE number > ? ORDER BY number LIMIT ?",
        [number, max(limit, 1)])
      let next = try rows.last.map { try $0.integer(0) } ?? number
      let changes = rows.compactMap { try? Self.change($0) }
      return StoreChanges(
        changes: changes, cursor: bounds.cursor(next), gap: changes.count < rows.count ? .damaged : .none)
    }
  }

  package func removeExpired(_ rule: RemovalRule) async throws(StoreError) -> Removal {
    try await write { database in
      let now = rule.now
      let limit = max(rule.limit, 1)
      var removed = try database.run(
        """
        DELETE FROM single_use_marks WHERE mark IN (SELECT mark FROM single_use_marks WHERE until <= ? LIMIT ?)
        """, [now.stored, limit])
      let sessions =
        try database.rows(
          """
          DELETE FROM sessions WHERE handle IN (SELECT handle FROM sessions WHERE ends <= ? LIMIT ?) RETURNING handle
          """, [now.stored, limit])
        + database.rows(
          """
          DELETE FROM sessions WHERE handle IN (SELECT handle FROM sessions WHERE last_seen <= ? LIMIT ?)
          RETURNING handle
          """, [rule.idleSince.stored, limit])
      removed += sessions.count
      let forgotten = try database.rows(
        """
        DELETE FROM changes WHERE number IN (SELECT number FROM changes WHERE at <= ? ORDER BY number LIMIT ?)
        RETURNING number
        """, [rule.changesUntil.stored, limit]
      ).map { try $0.integer(0) }
      if let highest = forgotten.max() {
        try database.run("UPDATE store SET forgotten = max(forgotten, ?) WHERE id = 1", [highest])
      }
      removed += try SQLiteAccessRow.removeExpired(rule, in: database)
      return Removal(
        rows: removed + forgotten.count, sessions: try sessions.compactMap { PublicSessionID(bytes: try $0.bytes(0)) })
    }
  }

  private static func change(_ row: SQLiteRow) throws -> StoreChange {
    if try row.isNull(1) {
      guard let subject = Subject(try row.text(3)) else { throw DamagedRowError(what: "change") }
      return .accountChanged(subject)
    }
    guard let handle = PublicSessionID(bytes: try row.bytes(1)) else { throw DamagedRowError(what: "change") }
    return .ended(handle, SessionEnding(stored: try row.text(2)))
  }

  /// The bounds of the changes that the database remembers, and the last change that it ever had.
  private struct Bounds {
    let identity: String
    let forgotten: Int64
    let last: Int64

    init(_ database: Database) throws {
      let row = try database.row(
        """
        SELECT identity, forgotten, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0)
        FROM store WHERE id = 1
        """)
      guard let row else { throw DamagedRowError(what: "store", isOfStore: true) }
      identity = try row.text(0)
      forgotten = try row.integer(1)
      last = try row.integer(2)
    }

    func cursor(_ number: Int64) -> ChangeCursor { ChangeCursor(text: "\(identity):\(number)") }

    /// Nil if the cursor is of another database.
    func number(of cursor: ChangeCursor) -> Int64? {
      let parts = cursor.text.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count == 2, parts[0] == identity else { return nil }
      return Int64(parts[1])
    }

    /// The reason why changes after this number may be missing: they were forgotten, or it is of a later state of this
    /// database, before a backup was restored.
    func gap(after number: Int64) -> StoreChanges.Gap {
      if number > max(forgotten, last) { return .otherHistory }
      return number < forgotten ? .forgotten : .none
    }
  }
}
