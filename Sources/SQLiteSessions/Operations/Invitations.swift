package import FoundationEssentials
package import Sessions

extension SQLiteSessionStore {
  /// Inserts an invitation that `closes` when it expires, or earlier, once it was used up. A taken ID or hash is a
  /// conflict.
  package func create(_ invitation: Invitation, hash: [UInt8]) async throws(StoreError) {
    try await write { database in
      let created = try database.run(
        """
        INSERT INTO invitations (id, hash, group_name, uses, used, expires, closes, note, created, created_by)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
        """,
        [
          invitation.id, hash, invitation.group.text, invitation.uses, invitation.used,
          invitation.expires.stored, invitation.expires.stored, invitation.note, invitation.created.stored,
          invitation.by,
        ])
      guard created == 1 else { throw StoreError.taken("an invitation of this ID") }
    }
  }

  /// Reads by the unique hash.
  package func invitation(hash: [UInt8]) async throws(StoreError) -> Invitation? {
    try await read { try Self.invitation(hash: hash, in: $0) }
  }

  private static func invitation(hash: [UInt8], in database: Database) throws -> Invitation? {
    try database.row(
      "SELECT \(SQLiteAccessRow.invitationColumns) FROM invitations WHERE hash = ?", [hash]
    ).map { try Invitation(stored: $0) }
  }

  /// Decides and writes under the write lock, so that no two users get the last use.
  package func redeem(
    hash: [UInt8], by subject: Subject, isMember: Bool, at now: Date
  ) async throws(StoreError) -> RedemptionOutcome {
    try await write { database in
      guard let account = try SQLiteAccountRow.find(subject, in: database)?.account else {
        throw StoreError.unknownUser
      }
      guard let invitation = try Self.invitation(hash: hash, in: database) else { return .closed }
      let guest = try SQLiteAccessRow.key(in: database).guestName(of: subject)
      let hasUsed = try database.row(
        "SELECT 1 FROM invitation_uses WHERE invitation = ? AND subject = ?", [invitation.id, guest])
      let outcome = invitation.outcome(
        for: account.access.ban, isMember: isMember || account.access.groups.contains(invitation.group),
        hasUsed: hasUsed != nil, at: now)
      guard case .joined(let group) = outcome else { return outcome }
      let used = invitation.used + 1
      try database.run(
        "UPDATE invitations SET used = ?, closes = ? WHERE id = ?",
        [used, invitation.closes(used: used, at: now).stored, invitation.id])
      try database.run(
        "INSERT INTO invitation_uses (invitation, subject, used) VALUES (?, ?, ?)",
        [invitation.id, guest, now.stored])
      _ = try SQLiteAccessRow.add(subject, to: group, by: "invitation \(invitation.id)", at: now, in: database)
      return outcome
    }
  }

  /// Reads all rows; there are as many as managers have made within the retention.
  package func invitations() async throws(StoreError) -> [Listed<Invitation>] {
    try await read { try Self.invitations(in: $0) }
  }

  static func invitations(in database: Database) throws -> [Listed<Invitation>] {
    try database.rows("SELECT \(SQLiteAccessRow.invitationColumns) FROM invitations ORDER BY created DESC, id")
      .map { row in try Listed(name: row.text(0)) { try Invitation(stored: row) } }
  }

  /// Deletes the row, and its uses by the foreign key.
  package func revokeInvitation(_ id: String) async throws(StoreError) -> Bool {
    try await write { try $0.run("DELETE FROM invitations WHERE id = ?", [id]) == 1 }
  }
}
