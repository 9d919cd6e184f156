package import FoundationEssentials
package import Sessions

extension PostgreSQLSessionStore {
  /// Inserts an invitation that `closes` when it expires, or earlier, once it was used up. A taken ID or hash is a
  /// conflict.
  package func create(_ invitation: Invitation, hash: [UInt8]) async throws(StoreError) {
    try await write(at: invitation.created) { connection, _ in
      let created = try connection.run(
        """
        INSERT INTO cordon.invitations (id, hash, group_name, uses, used, expires, closes, note, created, created_by)
        VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8, $9) ON CONFLICT DO NOTHING
        """,
        [
          .text(invitation.id), .bytes(hash), .text(invitation.group.text), .integer(Int64(invitation.uses)),
          .integer(Int64(invitation.used)), .integer(invitation.expires.stored), .text(invitation.note),
          .integer(invitation.created.stored), .text(invitation.by),
        ])
      guard created.affected == 1 else { throw StoreError.taken("an invitation of this ID") }
    }
  }

  /// Reads by the unique hash, without a lock: `redeem` looks again.
  package func invitation(hash: [UInt8]) async throws(StoreError) -> Invitation? {
    try await read { connection in
      try connection.run(
        "SELECT \(PostgreSQLAccessRow.invitationColumns) FROM cordon.invitations WHERE hash = $1", [.bytes(hash)]
      ).first.map { try Invitation(stored: $0) }
    }
  }

  /// Takes four round trips: reading the rows, checking for an earlier use, writing, and the commit.
  package func redeem(
    hash: [UInt8], by subject: Subject, isMember: Bool, at now: Date
  ) async throws(StoreError) -> RedemptionOutcome {
    try await write(at: now) { connection, changes in
      // The account is read once both locks are held.
      let found = try connection.run(together: [
        PostgreSQLAccountRow.locking(subject),
        Statement(
          "SELECT \(PostgreSQLAccessRow.invitationColumns) FROM cordon.invitations WHERE hash = $1 FOR UPDATE",
          [.bytes(hash)]),
        PostgreSQLAccountRow.finding(subject), PostgreSQLAccessRow.findingKey,
      ])
      guard let account = try found[2].first.map({ try PostgreSQLAccountRow($0).account }) else {
        throw StoreError.unknownUser
      }
      guard let invitation = try found[1].first.map({ try Invitation(stored: $0) }) else {
        return .closed
      }
      let guest = try PostgreSQLAccessRow.key(found[3]).guestName(of: subject)
      let use: [Parameter] = [.text(invitation.id), .text(guest)]
      let hasUsed =
        try connection.run(
          "SELECT 1 FROM cordon.invitation_uses WHERE invitation = $1 AND subject = $2", use
        ).first != nil
      let outcome = invitation.outcome(
        for: account.access.ban, isMember: isMember || account.access.groups.contains(invitation.group),
        hasUsed: hasUsed, at: now)
      guard case .joined(let group) = outcome else { return outcome }
      let used = invitation.used + 1
      let closes = invitation.closes(used: used, at: now)
      try connection.run(together: [
        Statement(
          "UPDATE cordon.invitations SET used = $2, closes = $3 WHERE id = $1",
          [.text(invitation.id), .integer(Int64(used)), .integer(closes.stored)]),
        Statement(
          "INSERT INTO cordon.invitation_uses (invitation, subject, used) VALUES ($1, $2, $3)",
          use + [.integer(now.stored)]),
      ])
      _ = try PostgreSQLAccessRow.add(
        subject, to: group, by: "invitation \(invitation.id)", at: now, in: connection, &changes)
      return outcome
    }
  }

  /// Reads all rows; there are as many as managers have made within the retention.
  package func invitations() async throws(StoreError) -> [Listed<Invitation>] {
    try await read { connection in
      try connection.run(
        "SELECT \(PostgreSQLAccessRow.invitationColumns) FROM cordon.invitations ORDER BY created DESC, id"
      ).rows.map { row in try Listed(name: row.text(0)) { try Invitation(stored: row) } }
    }
  }

  /// Deletes the row, and its uses by the foreign key. Not retried when the connection breaks: a repetition would
  /// return false.
  package func revokeInvitation(_ id: String) async throws(StoreError) -> Bool {
    try await write(isRetryable: false) { connection in
      try connection.run("DELETE FROM cordon.invitations WHERE id = $1", [.text(id)]).affected == 1
    }
  }
}
