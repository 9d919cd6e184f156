package import FoundationEssentials
package import Sessions

extension SQLiteSessionStore {
  /// Reads the only row of `store`, where a migration has put it.
  package func storeKey() async throws(StoreError) -> StoreKey {
    try await read { try SQLiteAccessRow.key(in: $0) }
  }

  /// Writes the ban under the keyed hash of the subject, and ends the sessions in the same transaction: no sign-in can
  /// come between.
  @discardableResult
  package func ban(_ subject: Subject, _ ban: Ban) async throws(StoreError) -> [PublicSessionID]? {
    try await write { database in
      if try SQLiteAccessRow.isBanProtected(of: subject, from: ban.by, at: ban.since, in: database) { return nil }
      try SQLiteAccessRow.save(ban, of: subject, in: database)
      try database.run("DELETE FROM access_requests WHERE subject = ?", [subject.text])
      try SQLiteSessionRow.noteChange(of: subject, at: ban.since, in: database)
      return try SQLiteSessionRow.end(
        where: "subject = ?", [subject.text], because: .byOperator, at: ban.since, in: database)
    }
  }

  /// Deletes by the keyed hash, which is there for unknown users, too; of one who has moved, by that of the new
  /// subject.
  package func unban(
    _ subject: Subject, by author: AccessAuthor, at now: Date
  ) async throws(StoreError) -> UnbanOutcome {
    try await write { database in
      var hash = try SQLiteAccessRow.key(in: database).banHash(of: subject)
      var found = try SQLiteAccessRow.ban(hash, in: database)
      if found == nil, let newHash = try SQLiteTransferRow.newHash(of: hash, in: database) {
        hash = newHash
        found = try SQLiteAccessRow.ban(hash, in: database)
      }
      guard let ban = found else { return .notBanned }
      if author.isManager, ban.isProtected(at: now) { return .protected }
      let lifted = try database.rows("DELETE FROM bans WHERE hash = ? RETURNING subject", [hash])
      try SQLiteTransferRow.hideSubject(subject, in: database)
      try SQLiteSessionRow.noteChange(of: subject, at: now, in: database)
      if let present = try lifted.first?.optionalText(0).flatMap({ Subject($0) }), present != subject {
        try SQLiteSessionRow.noteChange(of: present, at: now, in: database)
      }
      return .lifted
    }
  }

  /// Reads the key first: bans are found by the keyed hash of the subject.
  package func ban(of subject: Subject) async throws(StoreError) -> Ban? {
    try await read { try SQLiteAccessRow.ban(of: subject, in: $0) }
  }

  /// Compares the end with `now`, because a ban stays for a while after it has expired.
  package func banCount(at now: Date) async throws(StoreError) -> Int {
    try await read { try Self.banCount(at: now, in: $0) }
  }

  static func banCount(at now: Date, in database: Database) throws -> Int {
    try database.row("SELECT count(*) FROM bans WHERE until IS NULL OR until > ?", [now.stored])?.count(0) ?? 0
  }
}
