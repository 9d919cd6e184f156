package import FoundationEssentials
package import Sessions

extension PostgreSQLSessionStore {
  /// Locks the account. Writes it, and notes a change, only if the transfer differs from what was noted before.
  package func prepare(
    _ transfer: PreparedTransfer, of subject: Subject, at now: Date
  ) async throws(StoreError) -> Bool {
    try await write(at: now) { connection, changes in
      let found = try PostgreSQLAccountRow.lock(subject, in: connection)
      let hash = try PostgreSQLAccessRow.key(connection.run(PostgreSQLAccessRow.findingKey)).banHash(of: subject)
      if found == nil {
        guard try PostgreSQLTransferRow.isNamed(subject, hash, in: connection) else { return false }
      }
      try PostgreSQLTransferRow.save(transfer, of: subject, hash, at: now, in: connection)
      guard var row = found, row.account.claims.preparedTransfer != transfer else { return true }
      row.account.claims.preparedTransfer = transfer
      try row.update(in: connection)
      changes.append(.accountChanged(subject))
      return true
    }
  }

  /// Reads the subjects of bans and memberships by their indexes, between both ends. A text that is no subject names
  /// nobody.
  package func namedUsers(
    after subject: Subject?, through last: Subject?, limit: Int
  ) async throws(StoreError) -> [NamedUser] {
    try await read { connection in
      try connection.run(
        """
        SELECT named.subject, prepared_transfers.transfer, prepared_transfers.team, CAST(0 AS bigint)
        FROM (
          (SELECT subject FROM cordon.bans WHERE subject > $1 AND subject <= $2
            AND NOT EXISTS (SELECT 1 FROM cordon.accounts WHERE accounts.subject = bans.subject)
          ORDER BY subject LIMIT $3)
          UNION
          (SELECT DISTINCT subject FROM cordon.group_members WHERE subject > $1 AND subject <= $2
            AND NOT EXISTS (SELECT 1 FROM cordon.accounts WHERE accounts.subject = group_members.subject)
          ORDER BY subject LIMIT $3)) AS named
        LEFT JOIN cordon.prepared_transfers ON prepared_transfers.subject = named.subject
        UNION ALL
        SELECT transfer, transfer, team, CAST(1 AS bigint) FROM cordon.prepared_transfers
        WHERE subject IS NULL AND transfer > $1 AND transfer <= $2
          AND EXISTS (SELECT 1 FROM cordon.bans WHERE bans.hash = prepared_transfers.hash)
        ORDER BY 1 LIMIT $3
        """, [.text(subject?.text ?? ""), .text(last?.text ?? Subject.end), .integer(Int64(max(limit, 0)))]
      ).rows.compactMap { row in
        NamedUser(
          stored: try row.text(0), transfer: try row.optionalText(1), team: try row.optionalText(2),
          isDeleted: try row.integer(3) == 1)
      }
    }
  }

  /// Reads all bans.
  package func unpreparedBanCount(forTeam team: String, at now: Date) async throws(StoreError) -> Int {
    try await read { connection in
      try connection.run(
        """
        SELECT count(*) FROM cordon.bans WHERE subject IS NULL AND (until IS NULL OR until > $1) AND NOT EXISTS (
          SELECT 1 FROM cordon.prepared_transfers
          WHERE prepared_transfers.hash = bans.hash AND prepared_transfers.team = $2)
        """, [.integer(now.stored), .text(team)]
      ).first?.count(0) ?? 0
    }
  }

  /// Reads the identifier by the primary key, and writes only if there is something to move.
  package func follow(
    _ identifier: Subject, to new: Subject, at now: Date
  ) async throws(StoreError) -> FollowOutcome {
    try await write(at: now) { connection, changes in
      let found = try connection.run(together: [
        PostgreSQLTransferRow.finding(identifier), PostgreSQLAccessRow.findingKey,
      ])
      guard let row = found[0].first else { return .nothing }
      let (hash, newHash) = (try row.bytes(0), try PostgreSQLAccessRow.key(found[1]).banHash(of: new))
      if hash == newHash { return .nothing }
      guard let old = try row.optionalText(1).flatMap({ Subject($0) }) else {
        guard try PostgreSQLAccessRow.moveBan(hash, to: new, newHash, in: connection) else { return .nothing }
        try PostgreSQLTransferRow.noteMove(of: hash, to: newHash, in: connection)
        changes.append(.accountChanged(new))
        return .moved
      }
      if try connection.run(PostgreSQLAccountRow.locking(old)).first != nil { return .account(old) }
      try PostgreSQLAccessRow.move(old, to: new, in: connection)
      try PostgreSQLTransferRow.noteMove(of: hash, to: newHash, in: connection)
      changes += [.accountChanged(old), .accountChanged(new)]
      return .moved
    }
  }

  /// Locks both accounts, in the order of their subjects. Returns `.tokensChanged` if a sign-in or a revalidation has
  /// replaced a token since the caller re-encrypted it: the caller starts again.
  package func move(_ move: AccountMove, at now: Date) async throws(StoreError) -> MoveOutcome {
    try await write(at: now) { connection, changes in
      guard let (old, present) = try Self.lockBoth(of: move, in: connection) else { return .unknownSubject }
      let moved = PostgreSQLAccountRow(
        account: old.account.moved(by: move, onto: present?.account),
        claimNumber: max(old.claimNumber, present?.claimNumber ?? old.claimNumber) &+ 1)
      if move.old == move.new {
        try moved.update(in: connection)
      } else {
        guard try Self.areTokens(of: move, in: connection) else { return .tokensChanged }
        // Conflicts with a concurrent sign-in under the new subject, and is retried.
        try connection.run(present == nil ? moved.inserting() : moved.updating())
        try PostgreSQLAccessRow.move(move.old, to: move.new, in: connection)
        try Self.moveRows(move, version: moved.claimNumber, in: connection)
        let key = try PostgreSQLAccessRow.key(connection.run(PostgreSQLAccessRow.findingKey))
        try PostgreSQLTransferRow.noteMove(
          of: key.banHash(of: move.old), to: key.banHash(of: move.new), in: connection)
        changes.append(.accountChanged(move.old))
      }
      changes.append(.accountChanged(move.new))
      return .moved
    }
  }

  /// Locks both accounts, always in the same order. Nil without the old one.
  private static func lockBoth(
    of move: AccountMove, in connection: Connection
  ) throws -> (old: PostgreSQLAccountRow, new: PostgreSQLAccountRow?)? {
    var rows: [Subject: PostgreSQLAccountRow] = [:]
    for subject in Set([move.old, move.new]).sorted(by: { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }) {
      rows[subject] = try PostgreSQLAccountRow.lock(subject, in: connection)
    }
    return rows[move.old].map { ($0, move.old == move.new ? nil : rows[move.new]) }
  }

  /// Whether the re-encrypted tokens are those that the old subject has.
  private static func areTokens(of move: AccountMove, in connection: Connection) throws -> Bool {
    let rows = try connection.run(
      "SELECT client_id, sealed FROM cordon.refresh_tokens WHERE subject = $1", [.text(move.old.text)]
    ).rows
    guard rows.count == move.tokens.count else { return false }
    return try rows.allSatisfy { row in
      let (clientID, sealed) = (try row.text(0), try row.bytes(1))
      return move.tokens.contains { $0.old.clientID == clientID && $0.old.token.bytes == sealed }
    }
  }

  private static func moveRows(_ move: AccountMove, version: Int64, in connection: Connection) throws {
    for (old, resealed) in move.tokens {
      try connection.run(
        """
        INSERT INTO cordon.refresh_tokens (subject, client_id, sealed, key, version) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (subject, client_id) DO NOTHING
        """,
        [
          .text(move.new.text), .text(old.clientID), .bytes(resealed.bytes), .integer(Int64(resealed.key.number)),
          .integer(version),
        ])
    }
    let subjects: [Parameter] = [.text(move.new.text), .text(move.old.text)]
    try connection.run("UPDATE cordon.sessions SET subject = $1 WHERE subject = $2", subjects)
    try connection.run(
      """
      UPDATE cordon.submitted_names SET subject = $1
      WHERE subject = $2 AND NOT EXISTS (SELECT 1 FROM cordon.submitted_names WHERE subject = $1)
      """, subjects)
    try connection.run("DELETE FROM cordon.submitted_names WHERE subject = $1", [.text(move.old.text)])
    // Its tokens go with it.
    try connection.run("DELETE FROM cordon.accounts WHERE subject = $1", [.text(move.old.text)])
  }
}
