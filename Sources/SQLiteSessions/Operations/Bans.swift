package import FoundationEssentials
package import Sessions

extension SQLiteSessionStore {
  /// Reads the only row of `store`, where a migration has put it.
  package func storeKey() async throws(StoreError) -> StoreKey {
    try await read { try SQLiteAccessRow.key(in: $0) }
  }

  /// Writes the ban under the keyed hash of the subject, and ends the sessions in the same transaction: no sign-in can
  /// come between. The latest subject of a user who has moved is searched for before, without the write lock.
  @discardableResult
  package func ban(_ subject: Subject, _ ban: Ban) async throws(StoreError) -> [Subject: [PublicSessionID]]? {
    var ended: [Subject: [PublicSessionID]] = [:]
    for _ in 0..<MovedUser.mostMoves {
      let moved = ban.by.isManager ? nil : try await movedUser(subject)
      let outcome = try await write { try Self.record(ban, of: subject, moved, in: $0) }
      guard case .done(let handles) = outcome else { continue }
      guard let handles else { return nil }
      ended.merge(handles) { $0 + $1 }
      // The user may have signed in since the search, and has an account without the ban then. Later sign-ins find it.
      guard let moved, moved.subject == nil, try await movedUser(subject)?.subject != nil else { return ended }
    }
    throw StoreError(code: .conflict, message: "the user moves to other teams again and again: try again")
  }

  private static func record(
    _ ban: Ban, of subject: Subject, _ moved: MovedUser?, in database: Database
  ) throws -> BanOutcome {
    if try SQLiteAccessRow.isBanProtected(of: subject, from: ban.by, at: ban.since, in: database) {
      return .done(ended: nil)
    }
    if !ban.by.isManager {
      let hash = try SQLiteAccessRow.key(in: database).banHash(of: subject)
      if try SQLiteTransferRow.latestHash(of: hash, in: database) != moved?.hash { return .hasMoved }
    }
    try SQLiteAccessRow.save(ban, of: subject, in: database)
    if let moved { try SQLiteAccessRow.save(ban, of: moved.subject, moved.hash, in: database) }
    var ended: [Subject: [PublicSessionID]] = [:]
    for subject in [subject, moved?.subject].compactMap(\.self) {
      try database.run("DELETE FROM access_requests WHERE subject = ?", [subject.text])
      try SQLiteSessionRow.noteChange(of: subject, at: ban.since, in: database)
      ended[subject] = try SQLiteSessionRow.end(
        where: "subject = ?", [subject.text], because: .byOperator, at: ban.since, in: database)
    }
    return .done(ended: ended)
  }

  /// Looks through all accounts for the hash of the latest subject.
  package func latestSubject(of subject: Subject) async throws(StoreError) -> Subject? {
    try await movedUser(subject)?.subject
  }

  /// The latest identity of a user who has moved; nil for one who has not. Reads the subjects of accounts by the
  /// primary key, a limited number at a time.
  private func movedUser(_ subject: Subject) async throws(StoreError) -> MovedUser? {
    let (key, found) = try await read { database in
      let key = try SQLiteAccessRow.key(in: database)
      return (key, try SQLiteTransferRow.latestHash(of: key.banHash(of: subject), in: database))
    }
    guard let hash = found else { return nil }
    var last = ""
    while true {
      let after = last
      let page = try await read { database in
        try database.rows(
          "SELECT subject FROM accounts WHERE subject > ? ORDER BY subject LIMIT ?", [after, MovedUser.searchSize]
        ).map { try $0.text(0) }
      }
      for text in page {
        if let candidate = Subject(text), key.banHash(of: candidate) == hash {
          return MovedUser(hash: hash, subject: candidate)
        }
      }
      guard page.count == MovedUser.searchSize, let end = page.last else { return MovedUser(hash: hash, subject: nil) }
      last = end
    }
  }

  /// Deletes by the keyed hash, which is there for unknown users, too; of one who has moved, also by those of the other
  /// subjects.
  package func unban(
    _ subject: Subject, by author: AccessAuthor, at now: Date
  ) async throws(StoreError) -> UnbanOutcome {
    try await write { database in
      let hash = try SQLiteAccessRow.key(in: database).banHash(of: subject)
      var found: [(hash: [UInt8], ban: Ban)] = []
      for hash in try SQLiteTransferRow.hashes(of: hash, in: database) {
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
        if let other = try row.optionalText(0).flatMap({ Subject($0) }), other != subject {
          try SQLiteTransferRow.hideSubject(other, in: database)
          try SQLiteSessionRow.noteChange(of: other, at: now, in: database)
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
