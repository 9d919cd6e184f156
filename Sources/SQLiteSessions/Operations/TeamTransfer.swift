package import FoundationEssentials
package import Sessions

extension SQLiteSessionStore {
  /// Writes, and notes a change, only if the transfer differs from what was noted before.
  package func prepare(
    _ transfer: PreparedTransfer, of subject: Subject, at now: Date
  ) async throws(StoreError) -> Bool {
    try await write { database in
      guard var row = try SQLiteAccountRow.find(subject, in: database) else { return false }
      guard row.account.claims.preparedTransfer != transfer else { return true }
      row.account.claims.preparedTransfer = transfer
      try row.save(in: database)
      try SQLiteSessionRow.noteChange(of: subject, at: now, in: database)
      return true
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
