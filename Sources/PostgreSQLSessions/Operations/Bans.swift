package import FoundationEssentials
package import Sessions

extension PostgreSQLSessionStore {
  /// Reads the only row of `cordon.store`, where a migration has put it.
  package func storeKey() async throws(StoreError) -> StoreKey {
    try await read { try PostgreSQLAccessRow.key($0.run(PostgreSQLAccessRow.findingKey)) }
  }

  /// Locks the account first: that puts the ban before or after a concurrent sign-in, whose session is ended here, or
  /// whose account shows the ban. The latest subject of a user who has moved is searched for before, without a lock.
  @discardableResult
  package func ban(_ subject: Subject, _ ban: Ban) async throws(StoreError) -> [Subject: [PublicSessionID]]? {
    var ended: [Subject: [PublicSessionID]] = [:]
    for _ in 0..<MovedUser.mostMoves {
      let moved = ban.by.isManager ? nil : try await movedUser(subject)
      let outcome = try await write(at: ban.since) { connection, changes in
        try Self.record(ban, of: subject, moved, in: connection, &changes)
      }
      guard case .done(let handles) = outcome else { continue }
      guard let handles else { return nil }
      ended.merge(handles) { $0 + $1 }
      // The user may have signed in since the search, and has an account without the ban then. Later sign-ins find it.
      guard let moved, moved.subject == nil, try await movedUser(subject)?.subject != nil else { return ended }
    }
    throw StoreError(code: .conflict, message: "the user moves to other teams again and again: try again")
  }

  private static func record(
    _ ban: Ban, of subject: Subject, _ moved: MovedUser?, in connection: Connection, _ changes: inout [StoreChange]
  ) throws -> BanOutcome {
    let subjects = [subject, moved?.subject].compactMap(\.self)
    // In the order in which a move locks them.
    let locks = subjects.sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }.map {
      PostgreSQLAccountRow.locking($0)
    }
    let found = try connection.run(together: [PostgreSQLAccessRow.findingKey] + locks)
    let hash = try PostgreSQLAccessRow.key(found[0]).banHash(of: subject)
    if ban.by.isManager {
      let earlier = try PostgreSQLAccessRow.lockBan(hash, in: connection)
      if earlier?.isProtected(at: ban.since) == true { return .done(ended: nil) }
      try PostgreSQLAccessRow.save(ban, of: subject, hash, replaces: earlier != nil, in: connection)
    } else {
      // Read only now: a move may have been waited for.
      if try PostgreSQLTransferRow.latestHash(of: hash, in: connection) != moved?.hash { return .hasMoved }
      let users = [MovedUser(hash: hash, subject: subject), moved].compactMap(\.self)
      // In the order in which `unban` locks them.
      for user in users.sorted(by: { $0.hash.lexicographicallyPrecedes($1.hash) }) {
        try PostgreSQLAccessRow.save(ban, of: user.subject, user.hash, in: connection)
      }
    }
    var ended: [Subject: [PublicSessionID]] = [:]
    for subject in subjects {
      let results = try connection.run(together: [
        PostgreSQLAccessRow.deletingRequest(of: subject),
        PostgreSQLSessionRow.ending(where: "subject = $1", [.text(subject.text)]),
      ])
      let handles = try PostgreSQLSessionRow.handles(results[1])
      changes.append(.accountChanged(subject))
      changes += handles.map { .ended($0, .byOperator) }
      ended[subject] = handles
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
    let (key, found) = try await read { connection in
      let key = try PostgreSQLAccessRow.key(connection.run(PostgreSQLAccessRow.findingKey))
      return (key, try PostgreSQLTransferRow.latestHash(of: key.banHash(of: subject), in: connection))
    }
    guard let hash = found else { return nil }
    var last = ""
    while true {
      let after = last
      let page = try await read { connection in
        try connection.run(
          "SELECT subject FROM cordon.accounts WHERE subject > $1 ORDER BY subject LIMIT $2",
          [.text(after), .integer(Int64(MovedUser.searchSize))]
        ).rows.map { try $0.text(0) }
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

  /// Locks the account if it is known, and deletes by the keyed hash, which is there for unknown users, too; of one who
  /// has moved, also by those of the other subjects.
  package func unban(
    _ subject: Subject, by author: AccessAuthor, at now: Date
  ) async throws(StoreError) -> UnbanOutcome {
    try await write(at: now) { connection, changes in
      let results = try connection.run(together: [
        PostgreSQLAccountRow.locking(subject), PostgreSQLAccessRow.findingKey,
      ])
      let hash = try PostgreSQLAccessRow.key(results[1]).banHash(of: subject)
      // Read only now: a move may have been waited for. All of them are locked in one order.
      let hashes = try PostgreSQLTransferRow.hashes(of: hash, in: connection).sorted {
        $0.lexicographicallyPrecedes($1)
      }
      // One that is not there yet is not deleted below either: an operator may make it meanwhile.
      var found: [(hash: [UInt8], ban: Ban)] = []
      for hash in hashes {
        if let ban = try PostgreSQLAccessRow.lockBan(hash, in: connection) { found.append((hash: hash, ban: ban)) }
      }
      if found.isEmpty { return .notBanned }
      if author.isManager, found.contains(where: { $0.ban.isProtected(at: now) }) { return .protected }
      let lifted = try found.flatMap { found in
        try connection.run("DELETE FROM cordon.bans WHERE hash = $1 RETURNING subject", [.bytes(found.hash)]).rows
      }
      try connection.run(PostgreSQLTransferRow.hidingSubject(subject))
      changes.append(.accountChanged(subject))
      for row in lifted {
        if let other = try row.optionalText(0).flatMap({ Subject($0) }), other != subject {
          try connection.run(PostgreSQLTransferRow.hidingSubject(other))
          changes.append(.accountChanged(other))
        }
      }
      return .lifted
    }
  }

  /// Reads the key first: bans are found by the keyed hash of the subject.
  package func ban(of subject: Subject) async throws(StoreError) -> Ban? {
    try await read { connection in
      let key = try PostgreSQLAccessRow.key(connection.run(PostgreSQLAccessRow.findingKey))
      return try PostgreSQLAccessRow.ban(key.banHash(of: subject), in: connection)
    }
  }

  /// Compares the end with `now`, because a ban stays for a while after it has expired.
  package func banCount(at now: Date) async throws(StoreError) -> Int {
    try await read { connection in
      try connection.run(
        "SELECT count(*) FROM cordon.bans WHERE until IS NULL OR until > $1", [.integer(now.stored)]
      ).first?.count(0) ?? 0
    }
  }
}
