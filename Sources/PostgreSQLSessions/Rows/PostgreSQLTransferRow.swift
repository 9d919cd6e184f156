import FoundationEssentials
import Sessions

/// Rows of transfer identifiers.
enum PostgreSQLTransferRow {
  /// Whether a ban or a membership names the user, whose hash this is.
  static func isNamed(_ subject: Subject, _ hash: [UInt8], in connection: Connection) throws -> Bool {
    try connection.run(
      "SELECT 1 FROM cordon.bans WHERE hash = $1 UNION ALL SELECT 1 FROM cordon.group_members WHERE subject = $2",
      [.bytes(hash), .text(subject.text)]
    ).first != nil
  }

  /// Inserts the identifier of a user, whose hash this is, or replaces an earlier one.
  static func save(
    _ transfer: PreparedTransfer, of subject: Subject, _ hash: [UInt8], at now: Date, in connection: Connection
  ) throws {
    try connection.run(together: [
      Statement("DELETE FROM cordon.prepared_transfers WHERE hash = $1", [.bytes(hash)]),
      Statement(
        """
        INSERT INTO cordon.prepared_transfers (transfer, hash, subject, team, prepared) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (transfer) DO UPDATE SET hash = excluded.hash, subject = excluded.subject, team = excluded.team,
          prepared = excluded.prepared, moved = NULL
        """,
        [
          .text(transfer.subject.text), .bytes(hash), .text(subject.text), .text(transfer.team), .integer(now.stored),
        ]),
    ])
  }

  /// The query for the user of an identifier: the hash, and the previous subject while it is known.
  static func finding(_ identifier: Subject) -> Statement {
    Statement("SELECT hash, subject FROM cordon.prepared_transfers WHERE transfer = $1", [.text(identifier.text)])
  }

  /// Keeps only hashes of a user who has moved. The way from the new subject to the previous one, of a user who comes
  /// back, no longer counts: it would lead away from the latest subject.
  /// - Parameters:
  ///   - hash: of the previous subject.
  ///   - newHash: of the new one.
  static func noteMove(of hash: [UInt8], to newHash: [UInt8], in connection: Connection) throws {
    try connection.run(together: [
      Statement(
        """
        WITH RECURSIVE earlier (hash) AS (
          SELECT CAST($1 AS bytea)
          UNION
          SELECT prepared_transfers.hash FROM cordon.prepared_transfers
            JOIN earlier ON prepared_transfers.moved = earlier.hash)
        DELETE FROM cordon.prepared_transfers WHERE hash = $2 AND hash IN (SELECT hash FROM earlier)
        """, [.bytes(hash), .bytes(newHash)]),
      Statement(
        "UPDATE cordon.prepared_transfers SET subject = NULL, moved = $1 WHERE hash = $2",
        [.bytes(newHash), .bytes(hash)]),
    ])
  }

  /// The hash of the latest subject of a user who has moved; nil for one who has not. One who has moved back is not
  /// followed in a circle.
  static func latestHash(of hash: [UInt8], in connection: Connection) throws -> [UInt8]? {
    var (seen, latest): ([[UInt8]], [UInt8]?) = ([hash], nil)
    while seen.count <= MovedUser.mostMoves,
      let next = try connection.run(
        "SELECT moved FROM cordon.prepared_transfers WHERE hash = $1 AND moved IS NOT NULL", [.bytes(latest ?? hash)]
      ).first?.bytes(0),
      !seen.contains(next)
    {
      seen.append(next)
      latest = next
    }
    return latest
  }

  /// The hashes of all subjects of a user, of earlier and later ones, of this one first.
  static func hashes(of hash: [UInt8], in connection: Connection) throws -> [[UInt8]] {
    var (hashes, next) = ([hash], 0)
    while next < hashes.count, hashes.count <= MovedUser.mostMoves {
      let others = try connection.run(
        """
        SELECT moved FROM cordon.prepared_transfers WHERE hash = $1 AND moved IS NOT NULL
        UNION SELECT hash FROM cordon.prepared_transfers WHERE moved = $1
        """, [.bytes(hashes[next])])
      for row in others.rows {
        let other = try row.bytes(0)
        if !hashes.contains(other) { hashes.append(other) }
      }
      next += 1
    }
    return hashes
  }

  /// Removes the subject of a user as soon as neither an account nor a ban nor a membership contains it.
  static func hidingSubject(_ subject: Subject) -> Statement {
    Statement(
      """
      UPDATE cordon.prepared_transfers SET subject = NULL WHERE subject = $1
        AND NOT EXISTS (SELECT 1 FROM cordon.accounts WHERE accounts.subject = $1)
        AND NOT EXISTS (SELECT 1 FROM cordon.bans WHERE bans.subject = $1)
        AND NOT EXISTS (SELECT 1 FROM cordon.group_members WHERE group_members.subject = $1)
      """, [.text(subject.text)])
  }

  /// Removes the identifiers of a user who is forgotten, also those by which the user has moved to this subject, whose
  /// hash this is, except for what refuses the user: the hashes if there is a ban, and the subject if memberships are
  /// left.
  static func forgetting(_ subject: Subject, _ hash: [UInt8]) -> [Statement] {
    let hasNoMembership: SQL = "NOT EXISTS (SELECT 1 FROM cordon.group_members WHERE group_members.subject = $1)"
    return [
      Statement(
        """
        WITH RECURSIVE earlier (hash) AS (
          SELECT CAST($1 AS bytea)
          UNION
          SELECT prepared_transfers.hash FROM cordon.prepared_transfers
            JOIN earlier ON prepared_transfers.moved = earlier.hash)
        DELETE FROM cordon.prepared_transfers
        WHERE moved IN (SELECT hash FROM earlier) AND NOT EXISTS (SELECT 1 FROM cordon.bans WHERE bans.hash = $1)
        """, [.bytes(hash)]),
      Statement(
        """
        DELETE FROM cordon.prepared_transfers WHERE subject = $1 AND \(hasNoMembership)
          AND NOT EXISTS (SELECT 1 FROM cordon.bans WHERE bans.hash = prepared_transfers.hash)
        """, [.text(subject.text)]),
      Statement(
        "UPDATE cordon.prepared_transfers SET subject = NULL WHERE subject = $1 AND \(hasNoMembership)",
        [.text(subject.text)]),
    ]
  }
}
