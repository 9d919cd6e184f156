import FoundationEssentials
package import Sessions
import Synchronization

extension SQLiteSessionStore {
  /// Asks the kernel for events of the files, or where it gives none, compares the state of the files with that at the
  /// last complete read. True if nothing is known.
  package func lookForChanges(_ answer: @escaping @Sendable (_ mayHaveChanged: Bool) -> Void) {
    if let watch {
      let hasEvents = watch.hasEvents()
      return answer(
        readState.withLock { known in
          if hasEvents { known = nil }
          return known == nil
        })
    }
    guard let known = readState.withLock({ $0 }) else { return answer(true) }
    look { [file] in
      DatabaseFileState(file.path)
    } then: { state in
      // If the file cannot be looked at, because its volume hangs, reading the changes tells so.
      answer((try? state.get()) != known)
    }
  }

  /// Reads in one transaction, and remembers the state of the files from before it if nothing was left to read. Throws
  /// if the file at the path is no longer the one that is open.
  package func changes(since cursor: ChangeCursor?, limit: Int) async throws(StoreError) -> StoreChanges {
    readState.withLock { $0 = nil }
    // Those that come from now on are of writes after that state.
    _ = watch?.hasEvents()
    let (state, changes) = try await readChanges(since: cursor, limit: limit)
    // A full batch: there may be more.
    let isAll = changes.changes.count < max(limit, 1) && !changes.isIncomplete
    readState.withLock { $0 = isAll ? state : nil }
    return changes
  }

  /// - Returns: the changes, and the state of the file before they were read.
  private func readChanges(
    since cursor: ChangeCursor?, limit: Int
  ) async throws(StoreError) -> (state: DatabaseFileState?, changes: StoreChanges) {
    try await readAnySchema { [self] database in
      // The transaction takes its snapshot with the first statement that reads.
      let state = DatabaseFileState(file.path)
      return (state, try changes(since: cursor, limit: limit, in: database))
    }
  }

  private func changes(since cursor: ChangeCursor?, limit: Int, in database: Database) throws -> StoreChanges {
    // A file that was deleted or replaced can be read on, but other processes write to another one by now: what ends
    // there would never be known here. So the feed fails, and caches are trusted for the outage grace only.
    try file.requirePresence()
    try requireCompatibility(database)
    let bounds = try Bounds(database)
    guard let cursor else { return StoreChanges(changes: [], cursor: bounds.latest, gap: .none) }
    guard let from = bounds.position(of: cursor) else {
      return StoreChanges(changes: [], cursor: bounds.latest, gap: .otherStore)
    }
    let gap = bounds.gap(after: from, writtenAt: try Self.time(ofChange: from.number, in: database))
    guard gap == .none else { return StoreChanges(changes: [], cursor: bounds.latest, gap: gap) }
    let rows = try database.rows(
      "SELECT number, handle, reason, subject, at FROM changes WHERE number > ? ORDER BY number LIMIT ?",
      [from.number, max(limit, 1)])
    // Numbers have no gaps: one that is missing was removed by others than `removeExpired`, which moves `forgotten`.
    let isContiguous = try rows.enumerated().allSatisfy { try $1.integer(0) == from.number &+ 1 &+ Int64($0) }
    let reached = try rows.last.map { ChangePosition(number: try $0.integer(0), at: try $0.integer(4)) } ?? from
    let changes = rows.compactMap { try? Self.change($0) }
    return StoreChanges(
      changes: changes, cursor: bounds.cursor(reached),
      gap: changes.count < rows.count || !isContiguous ? .damaged : .none)
  }

  /// The time of a change; nil if it is not there.
  private static func time(ofChange number: Int64, in database: Database) throws -> Int64? {
    try database.row("SELECT at FROM changes WHERE number = ?", [number])?.integer(0)
  }

  /// Deletes up to `rule.limit` rows by each condition in one transaction. Other writes wait meanwhile: keep it small.
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
      return try row.optionalText(2) == StoreChange.signInReason ? .signedIn(subject) : .accountChanged(subject)
    }
    guard let handle = PublicSessionID(bytes: try row.bytes(1)) else { throw DamagedRowError(what: "change") }
    return .ended(handle, SessionEnding(stored: try row.text(2)))
  }

  /// A place in the sequence of changes: the number of a change, and when it was made. After a backup was restored
  /// numbers come again, and only the time tells which change is meant. Both are 0 before the first one.
  private struct ChangePosition: Equatable {
    let number: Int64
    /// Milliseconds since 1970; 0 also for a change that was removed before the cursor was made.
    let at: Int64
  }

  /// The bounds of the changes that the database remembers, and the last change that it ever had.
  private struct Bounds {
    let identity: String
    let forgotten: Int64
    let last: ChangePosition

    init(_ database: Database) throws {
      let row = try database.row(
        """
        SELECT identity, forgotten, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0)
        FROM store WHERE id = 1
        """)
      guard let row else { throw DamagedRowError(what: "store", isOfStore: true) }
      identity = try row.text(0)
      forgotten = try row.integer(1)
      let number = try row.integer(2)
      last = ChangePosition(number: number, at: try SQLiteSessionStore.time(ofChange: number, in: database) ?? 0)
    }

    /// The cursor at the end.
    var latest: ChangeCursor { cursor(last) }

    func cursor(_ position: ChangePosition) -> ChangeCursor {
      ChangeCursor(text: "\(identity):\(position.number):\(position.at)")
    }

    /// Nil if the cursor is of another database.
    func position(of cursor: ChangeCursor) -> ChangePosition? {
      let parts = cursor.text.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count == 3, let number = Int64(parts[1]), let time = Int64(parts[2]) else { return nil }
      let position = ChangePosition(number: number, at: time)
      return self.cursor(position) == cursor ? position : nil
    }

    /// The reason why changes after this position may be missing: they were forgotten, or it is of a state of this
    /// database that was lost when a backup was restored.
    /// - Parameter time: when the change with its number was made; nil if that is not there.
    func gap(after position: ChangePosition, writtenAt time: Int64?) -> StoreChanges.Gap {
      if position == last { return .none }
      if position.number > max(forgotten, last.number) { return .otherHistory }
      if position.number < forgotten { return .forgotten }
      if let time { return time == position.at ? .none : .otherHistory }
      // Of a change that was removed nothing is left to compare.
      return position.number == forgotten ? .none : .damaged
    }
  }
}
