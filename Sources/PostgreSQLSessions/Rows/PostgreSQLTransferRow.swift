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

  /// Keeps only hashes of a user who has moved.
  /// - Parameters:
  ///   - hash: of the previous subject.
  ///   - newHash: of the new one.
  static func notingMove(of hash: [UInt8], to newHash: [UInt8]) -> Statement {
    Statement(
      "UPDATE cordon.prepared_transfers SET subject = NULL, moved = $1 WHERE hash = $2",
      [.bytes(newHash), .bytes(hash)])
  }

  /// The hash of the subject that a user has moved to; nil for one who has not.
  static func newHash(of hash: [UInt8], in connection: Connection) throws -> [UInt8]? {
    try connection.run(
      "SELECT moved FROM cordon.prepared_transfers WHERE hash = $1 AND moved IS NOT NULL", [.bytes(hash)]
    ).first?.bytes(0)
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

  /// Removes the identifier of a user who is forgotten, also of one who has moved to this subject, whose hash this is,
  /// except for what refuses the user: the hash if there is a ban, and the subject if memberships are left.
  static func forgetting(_ subject: Subject, _ hash: [UInt8]) -> [Statement] {
    let hasNoMembership: SQL = "NOT EXISTS (SELECT 1 FROM cordon.group_members WHERE group_members.subject = $1)"
    return [
      Statement(
        """
        DELETE FROM cordon.prepared_transfers
        WHERE moved = $1 AND NOT EXISTS (SELECT 1 FROM cordon.bans WHERE bans.hash = prepared_transfers.moved)
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
