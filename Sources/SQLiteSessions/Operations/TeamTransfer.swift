package import FoundationEssentials
package import Sessions

extension SQLiteSessionStore {
  /// Writes the account, and notes a change, only if the transfer differs from what was noted before.
  package func prepare(
    _ transfer: PreparedTransfer, of subject: Subject, at now: Date
  ) async throws(StoreError) -> Bool {
    try await write { database in
      let found = try SQLiteAccountRow.find(subject, in: database)
      if found == nil {
        guard try SQLiteTransferRow.isNamed(subject, in: database) else { return false }
      }
      try SQLiteTransferRow.save(transfer, of: subject, at: now, in: database)
      guard var row = found, row.account.claims.preparedTransfer != transfer else { return true }
      row.account.claims.preparedTransfer = transfer
      try row.save(in: database)
      try SQLiteSessionRow.noteChange(of: subject, at: now, in: database)
      return true
    }
  }

  /// Reads the subjects of bans and memberships by their indexes, between both ends. A text that is no subject names
  /// nobody.
  package func namedUsers(
    after subject: Subject?, through last: Subject?, limit: Int
  ) async throws(StoreError) -> [NamedUser] {
    try await read { database in
      try database.rows(
        """
        SELECT named.subject, prepared_transfers.transfer, prepared_transfers.team, 0
        FROM (
          SELECT * FROM (
            SELECT subject FROM bans WHERE subject > ?1 AND subject <= ?2
              AND NOT EXISTS (SELECT 1 FROM accounts WHERE accounts.subject = bans.subject)
            ORDER BY subject LIMIT ?3)
          UNION
          SELECT * FROM (
            SELECT DISTINCT subject FROM group_members WHERE subject > ?1 AND subject <= ?2
              AND NOT EXISTS (SELECT 1 FROM accounts WHERE accounts.subject = group_members.subject)
            ORDER BY subject LIMIT ?3)) AS named
        LEFT JOIN prepared_transfers ON prepared_transfers.subject = named.subject
        UNION ALL
        SELECT transfer, transfer, team, 1 FROM prepared_transfers
        WHERE subject IS NULL AND transfer > ?1 AND transfer <= ?2
          AND EXISTS (SELECT 1 FROM bans WHERE bans.hash = prepared_transfers.hash)
        ORDER BY 1 LIMIT ?3
        """, [subject?.text ?? "", last?.text ?? Subject.end, max(limit, 0)]
      ).compactMap { row in
        NamedUser(
          stored: try row.text(0), transfer: try row.optionalText(1), team: try row.optionalText(2),
          isDeleted: try row.integer(3) == 1)
      }
    }
  }

  /// Reads all bans.
  package func unpreparedBanCount(forTeam team: String, at now: Date) async throws(StoreError) -> Int {
    try await read { database in
      try database.row(
        """
        SELECT count(*) FROM bans WHERE subject IS NULL AND (until IS NULL OR until > ?) AND NOT EXISTS (
          SELECT 1 FROM prepared_transfers WHERE prepared_transfers.hash = bans.hash AND prepared_transfers.team = ?)
        """, [now.stored, team]
      )?.count(0) ?? 0
    }
  }

  /// Reads the identifier by the primary key, and writes only if there is something to move.
  package func follow(
    _ identifier: Subject, to new: Subject, at now: Date
  ) async throws(StoreError) -> FollowOutcome {
    try await write { database in
      guard let (hash, old) = try SQLiteTransferRow.find(identifier, in: database) else { return .nothing }
      let newHash = try SQLiteAccessRow.key(in: database).banHash(of: new)
      if hash == newHash { return .nothing }
      guard let old else {
        guard try SQLiteAccessRow.moveBan(hash, to: new, in: database) else { return .nothing }
        try SQLiteTransferRow.noteMove(of: hash, to: newHash, in: database)
        try SQLiteSessionRow.noteChange(of: new, at: now, in: database)
        return .moved
      }
      if try database.row("SELECT 1 FROM accounts WHERE subject = ?", [old.text]) != nil { return .account(old) }
      try SQLiteAccessRow.move(old, to: new, in: database)
      try SQLiteTransferRow.noteMove(of: hash, to: newHash, in: database)
      for subject in [old, new] { try SQLiteSessionRow.noteChange(of: subject, at: now, in: database) }
      return .moved
    }
  }

  /// Returns `.tokensChanged` if a sign-in or a revalidation has replaced a token since the caller re-encrypted it: the
  /// caller starts again.
  package func move(_ move: AccountMove, at now: Date) async throws(StoreError) -> MoveOutcome {
    try await write { database in
      guard let old = try SQLiteAccountRow.find(move.old, in: database) else { return .unknownSubject }
      let isRenamed = move.old != move.new
      let present = isRenamed ? try SQLiteAccountRow.find(move.new, in: database) : nil
      let moved = SQLiteAccountRow(
        account: old.account.moved(by: move, onto: present?.account),
        claimNumber: max(old.claimNumber, present?.claimNumber ?? old.claimNumber) &+ 1)
      if isRenamed {
        guard try Self.areTokens(of: move, in: database) else { return .tokensChanged }
        try moved.save(in: database)
        try SQLiteAccessRow.move(move.old, to: move.new, in: database)
        try Self.moveRows(move, version: moved.claimNumber, in: database)
        let key = try SQLiteAccessRow.key(in: database)
        try SQLiteTransferRow.noteMove(
          of: key.banHash(of: move.old), to: key.banHash(of: move.new), in: database)
        try SQLiteSessionRow.noteChange(of: move.old, at: now, in: database)
      } else {
        try moved.save(in: database)
      }
      try SQLiteSessionRow.noteChange(of: move.new, at: now, in: database)
      return .moved
    }
  }

  /// Whether the re-encrypted tokens are those that the old subject has.
  private static func areTokens(of move: AccountMove, in database: Database) throws -> Bool {
    let rows = try database.rows("SELECT client_id, sealed FROM refresh_tokens WHERE subject = ?", [move.old.text])
    guard rows.count == move.tokens.count else { return false }
    return try rows.allSatisfy { row in
      let (clientID, sealed) = (try row.text(0), try row.bytes(1))
      return move.tokens.contains { $0.old.clientID == clientID && $0.old.token.bytes == sealed }
    }
  }

  private static func moveRows(_ move: AccountMove, version: Int64, in database: Database) throws {
    for (old, resealed) in move.tokens {
      try database.run(
        """
        INSERT INTO refresh_tokens (subject, client_id, sealed, key, version) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (subject, client_id) DO NOTHING
        """, [move.new.text, old.clientID, resealed.bytes, Int64(resealed.key.number), version])
    }
    try database.run("UPDATE sessions SET subject = ? WHERE subject = ?", [move.new.text, move.old.text])
    try database.run(
      "UPDATE OR IGNORE submitted_names SET subject = ? WHERE subject = ?", [move.new.text, move.old.text])
    try database.run("DELETE FROM submitted_names WHERE subject = ?", [move.old.text])
    // Its tokens go with it.
    try database.run("DELETE FROM accounts WHERE subject = ?", [move.old.text])
  }
}
