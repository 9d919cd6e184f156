import FoundationEssentials
import Sessions

/// Rows of transfer identifiers.
enum SQLiteTransferRow {
  /// Whether a ban or a membership names the user.
  static func isNamed(_ subject: Subject, in database: Database) throws -> Bool {
    try database.row(
      "SELECT 1 FROM bans WHERE hash = ? UNION ALL SELECT 1 FROM group_members WHERE subject = ?",
      [try SQLiteAccessRow.key(in: database).banHash(of: subject), subject.text]) != nil
  }

  /// Inserts the identifier of a user, or puts it in the place of the old.
  static func save(
    _ transfer: PreparedTransfer, of subject: Subject, at now: Date, in database: Database
  ) throws {
    let hash = try SQLiteAccessRow.key(in: database).banHash(of: subject)
    try database.run("DELETE FROM prepared_transfers WHERE hash = ?", [hash])
    try database.run(
      """
      INSERT INTO prepared_transfers (transfer, hash, subject, team, prepared) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (transfer) DO UPDATE SET hash = excluded.hash, subject = excluded.subject, team = excluded.team,
        prepared = excluded.prepared, moved = NULL
      """, [transfer.subject.text, hash, subject.text, transfer.team, now.stored])
  }

  /// The user of an identifier: the hash, and the previous subject while it is known.
  static func find(
    _ identifier: Subject, in database: Database
  ) throws -> (hash: [UInt8], subject: Subject?)? {
    guard
      let row = try database.row(
        "SELECT hash, subject FROM prepared_transfers WHERE transfer = ?", [identifier.text])
    else { return nil }
    return (try row.bytes(0), try row.optionalText(1).flatMap { Subject($0) })
  }

  /// Keeps only hashes of a user who has moved. The way from the new subject to the previous one, of a user who comes
  /// back, no longer counts: it would lead away from the latest subject.
  /// - Parameters:
  ///   - hash: of the previous subject.
  ///   - newHash: of the new one.
  static func noteMove(of hash: [UInt8], to newHash: [UInt8], in database: Database) throws {
    try database.run(
      """
      WITH RECURSIVE earlier (hash) AS (
        SELECT ?1
        UNION
        SELECT prepared_transfers.hash FROM prepared_transfers JOIN earlier ON prepared_transfers.moved = earlier.hash)
      DELETE FROM prepared_transfers WHERE hash = ?2 AND hash IN (SELECT hash FROM earlier)
      """, [hash, newHash])
    try database.run("UPDATE prepared_transfers SET subject = NULL, moved = ? WHERE hash = ?", [newHash, hash])
  }

  /// The hash of the latest subject of a user who has moved; nil for one who has not. One who has moved back is not
  /// followed in a circle.
  static func latestHash(of hash: [UInt8], in database: Database) throws -> [UInt8]? {
    var (seen, latest): ([[UInt8]], [UInt8]?) = ([hash], nil)
    while seen.count <= MovedUser.mostMoves,
      let next = try database.row(
        "SELECT moved FROM prepared_transfers WHERE hash = ? AND moved IS NOT NULL", [latest ?? hash])?.bytes(0),
      !seen.contains(next)
    {
      seen.append(next)
      latest = next
    }
    return latest
  }

  /// The hashes of all subjects of a user, of earlier and later ones, of this one first.
  static func hashes(of hash: [UInt8], in database: Database) throws -> [[UInt8]] {
    var (hashes, next) = ([hash], 0)
    while next < hashes.count, hashes.count <= MovedUser.mostMoves {
      let others = try database.rows(
        """
        SELECT moved FROM prepared_transfers WHERE hash = ?1 AND moved IS NOT NULL
        UNION SELECT hash FROM prepared_transfers WHERE moved = ?1
        """, [hashes[next]])
      for row in others {
        let other = try row.bytes(0)
        if !hashes.contains(other) { hashes.append(other) }
      }
      next += 1
    }
    return hashes
  }

  /// Removes the subject of a user as soon as neither an account nor a ban nor a membership contains it.
  static func hideSubject(_ subject: Subject, in database: Database) throws {
    try database.run(
      """
      UPDATE prepared_transfers SET subject = NULL WHERE subject = ?1
        AND NOT EXISTS (SELECT 1 FROM accounts WHERE accounts.subject = ?1)
        AND NOT EXISTS (SELECT 1 FROM bans WHERE bans.subject = ?1)
        AND NOT EXISTS (SELECT 1 FROM group_members WHERE group_members.subject = ?1)
      """, [subject.text])
  }

  /// Removes the identifiers of a user who is forgotten, also those by which the user has moved to this subject, except
  /// for what refuses the user: the hashes if there is a ban, and the subject if memberships are left.
  static func forget(_ subject: Subject, in database: Database) throws {
    try database.run(
      """
      WITH RECURSIVE earlier (hash) AS (
        SELECT ?1
        UNION
        SELECT prepared_transfers.hash FROM prepared_transfers JOIN earlier ON prepared_transfers.moved = earlier.hash)
      DELETE FROM prepared_transfers
      WHERE moved IN (SELECT hash FROM earlier) AND NOT EXISTS (SELECT 1 FROM bans WHERE bans.hash = ?1)
      """, [try SQLiteAccessRow.key(in: database).banHash(of: subject)])
    guard try database.row("SELECT 1 FROM group_members WHERE subject = ?", [subject.text]) == nil else { return }
    try database.run(
      """
      DELETE FROM prepared_transfers
      WHERE subject = ? AND NOT EXISTS (SELECT 1 FROM bans WHERE bans.hash = prepared_transfers.hash)
      """, [subject.text])
    try database.run("UPDATE prepared_transfers SET subject = NULL WHERE subject = ?", [subject.text])
  }
}
