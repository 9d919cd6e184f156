package import FoundationEssentials
package import Sessions

extension PostgreSQLSessionStore {
  /// Reads the only row of `cordon.store`, where a migration has put it.
  package func storeKey() async throws(StoreError) -> StoreKey {
    try await read { try PostgreSQLAccessRow.key($0.run(PostgreSQLAccessRow.findingKey)) }
  }

  /// Locks the account first: that puts the ban before or after a concurrent sign-in, whose session is ended here, or
  /// whose account shows the ban.
  @discardableResult
  package func ban(_ subject: Subject, _ ban: Ban) async throws(StoreError) -> [PublicSessionID]? {
    try await write(at: ban.since) { connection, changes in
      let found = try connection.run(together: [
        PostgreSQLAccountRow.locking(subject), PostgreSQLAccessRow.findingKey,
      ])
      let hash = try PostgreSQLAccessRow.key(found[1]).banHash(of: subject)
      if ban.by.isManager {
        let earlier = try PostgreSQLAccessRow.lockBan(hash, in: connection)
        if earlier?.isProtected(at: ban.since) == true { return nil }
        try PostgreSQLAccessRow.save(ban, of: subject, hash, replaces: earlier != nil, in: connection)
      } else {
        try PostgreSQLAccessRow.save(ban, of: subject, hash, in: connection)
      }
      let ended = try connection.run(together: [
        PostgreSQLAccessRow.deletingRequest(of: subject),
        PostgreSQLSessionRow.ending(where: "subject = $1", [.text(subject.text)]),
      ])
      let handles = try PostgreSQLSessionRow.handles(ended[1])
      changes.append(.accountChanged(subject))
      changes += handles.map { .ended($0, .byOperator) }
      return handles
    }
  }

  /// Locks the account if it is known, and deletes by the keyed hash, which is there for unknown users, too; of one who
  /// has moved, also by that of the new subject.
  package func unban(
    _ subject: Subject, by author: AccessAuthor, at now: Date
  ) async throws(StoreError) -> UnbanOutcome {
    try await write(at: now) { connection, changes in
      let results = try connection.run(together: [
        PostgreSQLAccountRow.locking(subject), PostgreSQLAccessRow.findingKey,
      ])
      let hash = try PostgreSQLAccessRow.key(results[1]).banHash(of: subject)
      // One that is not there yet is not deleted below either: an operator may make it meanwhile.
      var found: [(hash: [UInt8], ban: Ban)] = []
      if let ban = try PostgreSQLAccessRow.lockBan(hash, in: connection) { found.append((hash: hash, ban: ban)) }
      // Read only now: a move may have been waited for.
      if let newHash = try PostgreSQLTransferRow.newHash(of: hash, in: connection),
        let ban = try PostgreSQLAccessRow.lockBan(newHash, in: connection)
      {
        found.append((hash: newHash, ban: ban))
      }
      if found.isEmpty { return .notBanned }
      if author.isManager, found.contains(where: { $0.ban.isProtected(at: now) }) { return .protected }
      let lifted = try found.flatMap { found in
        try connection.run("DELETE FROM cordon.bans WHERE hash = $1 RETURNING subject", [.bytes(found.hash)]).rows
      }
      try connection.run(PostgreSQLTransferRow.hidingSubject(subject))
      changes.append(.accountChanged(subject))
      for row in lifted {
        if let present = try row.optionalText(0).flatMap({ Subject($0) }), present != subject {
          changes.append(.accountChanged(present))
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
