package import FoundationEssentials
package import Sessions

extension PostgreSQLSessionStore {
  /// Locks the account. Writes, and notes a change, only if the transfer differs from what was noted before.
  package func prepare(
    _ transfer: PreparedTransfer, of subject: Subject, at now: Date
  ) async throws(StoreError) -> Bool {
    try await write(at: now) { connection, changes in
      guard var row = try PostgreSQLAccountRow.lock(subject, in: connection) else { return false }
      guard row.account.claims.preparedTransfer != transfer else { return true }
      row.account.claims.preparedTransfer = transfer
      try row.update(in: connection)
      changes.append(.accountChanged(subject))
      return true
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
