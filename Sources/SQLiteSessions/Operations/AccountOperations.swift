package import FoundationEssentials
package import Sessions

extension SQLiteSessionStore {
  /// Reads the account with its groups and its ban, by primary key.
  package func account(_ subject: Subject) async throws(StoreError) -> Account? {
    try await read { try SQLiteAccountRow.find(subject, in: $0)?.account }
  }

  /// Reads by the index of addresses, whose collation `NOCASE` folds the letters of ASCII only.
  package func accounts(withEmail email: String) async throws(StoreError) -> [Listed<Account>] {
    try await read { database in
      try database.rows(
        """
        SELECT \(SQLiteAccountRow.columns) FROM \(SQLiteAccountRow.source) WHERE accounts.email = ?
        ORDER BY accounts.subject
        """, [email]
      ).map { try SQLiteAccountRow.listed($0) }
    }
  }

  /// Pages by primary key. A row that is damaged is listed as such and does not end the page.
  package func accounts(after subject: Subject?, limit: Int) async throws(StoreError) -> [Listed<Account>] {
    try await read { database in
      try database.rows(
        """
        SELECT \(SQLiteAccountRow.columns) FROM \(SQLiteAccountRow.source) WHERE accounts.subject > ?
        ORDER BY accounts.subject LIMIT ?
        """, [subject?.text ?? "", max(limit, 0)]
      ).map { try SQLiteAccountRow.listed($0) }
    }
  }

  /// Pages as `accounts(after:limit:)` does, with two subqueries for the sessions of each account: keep `limit` small.
  package func summaries(after subject: Subject?, limit: Int) async throws(StoreError) -> [Listed<AccountSummary>] {
    try await read { database in
      try database.rows(
        """
        SELECT \(SQLiteAccountRow.columns), (SELECT count(*) FROM sessions WHERE sessions.subject = accounts.subject),
          (SELECT max(last_seen) FROM sessions WHERE sessions.subject = accounts.subject)
        FROM \(SQLiteAccountRow.source) WHERE accounts.subject > ? ORDER BY accounts.subject LIMIT ?
        """, [subject?.text ?? "", max(limit, 0)]
      ).map { row in
        try Listed(name: row.text(0)) {
          let account = try SQLiteAccountRow(row).account
          let seen = try row.optionalDate(SQLiteAccountRow.columnCount + 1) ?? .distantPast
          return AccountSummary(
            account: account, sessions: try row.count(SQLiteAccountRow.columnCount),
            lastSeen: max(seen, account.latestAuthorization))
        }
      }
    }
  }

  /// Does not read the account, so that a damaged one can be removed, too. Tokens and the request for access go by the
  /// foreign key.
  @discardableResult
  package func forget(
    _ subject: Subject, keeping groups: Set<GroupName>, at now: Date
  ) async throws(StoreError) -> [PublicSessionID] {
    try await write { try SQLiteAccountRow.forget(subject, keeping: groups, at: now, in: $0) }
  }

  /// Reads by the prefix of the primary key. One damaged row fails the operation.
  package func tokens(of subject: Subject) async throws(StoreError) -> [StoredToken] {
    try await read { database in
      try database.rows(
        "SELECT subject, client_id, sealed FROM refresh_tokens WHERE subject = ? ORDER BY client_id", [subject.text]
      ).map { try Self.storedToken($0) }
    }
  }

  /// Counts all tokens, by the index of keys: one machine has too few of them to need a limit.
  package func sealingKeys() async throws(StoreError) -> [KeyIdentifier: Int] {
    try await read { database in
      var counts: [KeyIdentifier: Int] = [:]
      for row in try database.rows("SELECT key, count(*) FROM refresh_tokens GROUP BY key") {
        guard let number = UInt32(exactly: try row.integer(0)) else { throw DamagedRowError(what: "key") }
        counts[KeyIdentifier(number: number)] = try row.count(1)
      }
      return counts
    }
  }

  /// Reads in no particular order: replaced tokens leave the range, so that the next call finds others.
  package func storedTokens(
    notSealedBy key: KeyIdentifier, limit: Int
  ) async throws(StoreError) -> [StoredToken] {
    try await read { database in
      // Two ranges of the index of keys, so that a batch does not pass by what was moved before it.
      try database.rows(
        """
        SELECT subject, client_id, sealed FROM refresh_tokens WHERE key < ?1 UNION ALL
        SELECT subject, client_id, sealed FROM refresh_tokens WHERE key > ?1 LIMIT ?2
        """, [Int64(key.number), max(limit, 0)]
      ).map { try Self.storedToken($0) }
    }
  }

  private static func storedToken(_ row: SQLiteRow) throws -> StoredToken {
    guard let subject = Subject(try row.text(0)) else { throw DamagedRowError(what: "token") }
    return StoredToken(
      subject: subject, clientID: try row.text(1), token: EncryptedToken(stored: try row.bytes(2)))
  }

  /// A statement for each token. It compares the encrypted bytes: a token that a sign-in has replaced meanwhile
  /// differs.
  package func replace(_ tokens: [ReencryptedToken]) async throws(StoreError) -> Int {
    try await write { database in
      var replaced = 0
      for token in tokens {
        replaced += try database.run(
          "UPDATE refresh_tokens SET sealed = ?, key = ? WHERE subject = ? AND client_id = ? AND sealed = ?",
          [
            token.token.bytes, Int64(token.token.key.number), token.stored.subject.text, token.stored.clientID,
            token.stored.token.bytes,
          ])
      }
      return replaced
    }
  }

  /// A statement for each token, which compares the encrypted bytes as `replace` does.
  package func delete(_ tokens: [StoredToken]) async throws(StoreError) -> Int {
    try await write { database in
      try tokens.reduce(0) { deleted, stored in
        try deleted
          + database.run(
            "DELETE FROM refresh_tokens WHERE subject = ? AND client_id = ? AND sealed = ?",
            [stored.subject.text, stored.clientID, stored.token.bytes])
      }
    }
  }
}
