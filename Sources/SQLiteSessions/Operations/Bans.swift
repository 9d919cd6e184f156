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

  /// Deletes by the keyed hash, which is there for unknown users, too; of one who has moved, also by that of the new
  /// subject.
  package func unban(
    _ subject: Subject, by author: AccessAuthor, at now: Date
  ) async throws(StoreError) -> UnbanOutcome {
    try await write { database in
      let hash = try SQLiteAccessRow.key(in: database).banHash(of: subject)
      let newHash = try SQLiteTransferRow.newHash(of: hash, in: database)
      var found: [(hash: [UInt8], ban: Ban)] = []
      for hash in [hash, newHash].compactMap({ $0 }) {
        if let ban = try SQLiteAccessRow.ban(hash, in: database) { found.append((hash: hash, ban: ban)) }
      }
      if found.isEmpty { return .notBanned }
      if author.isManager, found.contains(where: { $0.ban.isProtected(at: now) }) { return .protected }
      let lifted = try found.flatMap { found in
        try database.rows("DELETE FROM bans WHERE hash = ? RETURNING subject", [found.hash])
      }
      try SQLiteTransferRow.hideSubject(subject, in: database)
      try SQLiteSessionRow.noteChange(of: subject, at: now, in: database)
      for row in lifted {
        if let present = try row.optionalText(0).flatMap({ Subject($0) }), present != subject {
          try SQLiteSessionRow.noteChange(of: present, at: now, in: database)
        }
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
