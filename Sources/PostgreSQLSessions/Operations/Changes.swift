import FoundationEssentials
package import Sessions

extension PostgreSQLSessionStore {
  /// Reads the changes of all lanes after the positions of the cursor, then the positions of the lanes, and compares
  /// the two: a number that is missing was removed, or lost by a failover. A gap that a rollback has left retires all
  /// connections. Throws when the server is a standby.
  package func changes(since cursor: ChangeCursor?, limit: Int) async throws(StoreError) -> StoreChanges {
    try await runAnySchema { [self] connection in
      guard let cursor else {
        return StoreChanges(changes: [], cursor: try positions(connection).latest, gap: .none)
      }
      guard let from = LanePositions.positions(of: cursor) else {
        return StoreChanges(changes: [], cursor: try positions(connection).latest, gap: .otherStore)
      }
      let rows = try connection.run(
        """
        SELECT changes.lane, changes.number, changes.written, changes.handle, changes.reason, changes.subject
        FROM unnest($1, $2) AS seen (lane, number)
        JOIN cordon.changes ON changes.lane = seen.lane AND changes.number > seen.number
        ORDER BY changes.written, changes.lane, changes.number LIMIT $3
        """,
        [.integers(from.indices.map { Int64($0) }), .integers(from.map(\.number)), .integer(Int64(max(limit, 1)))]
      ).rows
      // Read after the changes, so that changes removed before they were read show as missing.
      let positions = try positions(connection, comparedWith: from)
      let gap = positions.gap(after: cursor)
      guard gap == .none else {
        // Another server may answer than before: what is read again must not come from the one that was left.
        if gap.isRollback { pool.retireConnections() }
        return StoreChanges(changes: [], cursor: positions.latest, gap: gap)
      }
      var reached = from
      var isContiguous = true
      for row in rows {
        let lane = try row.count(0)
        guard reached.indices.contains(lane) else { throw DamagedRowError(what: "lane", isOfStore: true) }
        let next = LanePosition(number: try row.integer(1), written: try row.integer(2))
        isContiguous = isContiguous && next.number == reached[lane].number &+ 1
        reached[lane] = next
      }
      let changes = rows.compactMap { try? ShardedSequence.change($0, from: 3) }
      let isDamaged = changes.count < rows.count || !isContiguous
      return StoreChanges(
        changes: changes, cursor: positions.cursor(reached), gap: isDamaged ? .damaged : .none)
    }
  }

  /// - Throws: `DatabaseError.refused` with 25006 from a standby. One whose replication has stopped would go on to
  ///   answer that nothing has changed, so it counts as a feed that fails. The connection is replaced, as after a
  ///   write that a standby refused.
  private func positions(
    _ connection: Connection, comparedWith cursor: [LanePosition] = []
  ) throws -> LanePositions {
    let positions = try LanePositions(connection, comparedWith: cursor)
    guard !positions.isInRecovery else {
      throw DatabaseError.refused(
        state: .readOnly, message: "the server is in recovery (a standby), its changes may be out of date")
    }
    try requireCompatibility(with: positions.condition)
    return positions
  }

  /// Deletes up to `rule.limit` rows by each condition. Rows that another transaction has locked are left for the next
  /// call, so that gateways can do this at the same time.
  package func removeExpired(_ rule: RemovalRule) async throws(StoreError) -> Removal {
    try await write(at: rule.now) { connection, _ in
      var removed = try connection.run(
        rule.deletion(from: "single_use_marks", by: "mark", where: "until", until: rule.now)
      ).affected
      let ended = try connection.run(
        rule.deletion(from: "sessions", by: "handle", where: "ends", until: rule.now)
      ).rows
      let idle = try connection.run(
        rule.deletion(from: "sessions", by: "handle", where: "last_seen", until: rule.idleSince)
      ).rows
      let sessions = try (ended + idle).compactMap { PublicSessionID(bytes: try $0.bytes(0)) }
      removed += ended.count + idle.count + (try PostgreSQLAccessRow.removeExpired(rule, in: connection))
      removed += try Self.forgetChanges(rule, in: connection)
      return Removal(rows: removed, sessions: sessions)
    }
  }

  private static func forgetChanges(_ rule: RemovalRule, in connection: Connection) throws -> Int {
    let rows = try connection.run(
      "SELECT lane, number FROM cordon.changes WHERE at <= $1 ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED",
      [.integer(rule.changesUntil.stored), .integer(Int64(max(rule.limit, 1)))]
    ).rows
    if rows.isEmpty { return 0 }
    let (lanes, numbers) = (try rows.map { try $0.integer(0) }, try rows.map { try $0.integer(1) })
    try connection.run(
      """
      DELETE FROM cordon.changes USING unnest($1, $2) AS old (lane, number)
      WHERE changes.lane = old.lane AND changes.number = old.number
      """, [.integers(lanes), .integers(numbers)])
    // In the same order as every other transaction, so that there is no deadlock.
    for (lane, highest) in Dictionary(zip(lanes, numbers), uniquingKeysWith: max).sorted(by: { $0.key < $1.key }) {
      try connection.run(
        "UPDATE cordon.change_lanes SET forgotten = greatest(forgotten, $2) WHERE lane = $1",
        [.integer(lane), .integer(highest)])
    }
    return rows.count
  }
}
