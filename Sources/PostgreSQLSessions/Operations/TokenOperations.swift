package import Sessions

extension PostgreSQLSessionStore {
  /// Reads by the prefix of the primary key. One damaged row fails the operation.
  package func tokens(of subject: Subject) async throws(StoreError) -> [StoredToken] {
    try await read { connection in
      try connection.run(
        "SELECT subject, client_id, sealed FROM cordon.refresh_tokens WHERE subject = $1 ORDER BY client_id",
        [.text(subject.text)]
      ).rows.map { try Self.storedToken($0) }
    }
  }

  /// Counts at most a million tokens of each key, by the index of keys.
  package func sealingKeys() async throws(StoreError) -> [KeyIdentifier: Int] {
    try await read { connection in
      var counts: [KeyIdentifier: Int] = [:]
      // Skips from key to key by the index, and counts at most a million of each: this runs at every start.
      let rows = try connection.run(
        """
        WITH RECURSIVE keys (key) AS (
          (SELECT key FROM cordon.refresh_tokens ORDER BY key LIMIT 1)
          UNION ALL
          SELECT (SELECT key FROM cordon.refresh_tokens AS next WHERE next.key > keys.key ORDER BY key LIMIT 1)
          FROM keys WHERE keys.key IS NOT NULL)
        SELECT key, (
          SELECT count(*) FROM (SELECT 1 FROM cordon.refresh_tokens AS tokens WHERE tokens.key = keys.key LIMIT 1000000)
            AS counted)
        FROM keys WHERE key IS NOT NULL
        """
      ).rows
      for row in rows {
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
    try await read { connection in
      // Two ranges of the index of keys, so that a batch does not scan rows that earlier batches have re-encrypted.
      try connection.run(
        """
        (SELECT subject, client_id, sealed FROM cordon.refresh_tokens WHERE key < $1 LIMIT $2) UNION ALL
        (SELECT subject, client_id, sealed FROM cordon.refresh_tokens WHERE key > $1 LIMIT $2) LIMIT $2
        """, [.integer(Int64(key.number)), .integer(Int64(max(limit, 0)))]
      ).rows.map { try Self.storedToken($0) }
    }
  }

  /// One statement for the batch. It compares the encrypted bytes: a token that a sign-in has replaced meanwhile
  /// differs.
  package func replace(_ tokens: [ReencryptedToken]) async throws(StoreError) -> Int {
    try await write(isRetryable: false) { connection in
      try connection.run(
        """
        UPDATE cordon.refresh_tokens AS tokens SET sealed = resealed.sealed, key = resealed.key
        FROM unnest($1, $2, $3, $4, $5) AS resealed (subject, client_id, before, sealed, key)
        WHERE tokens.subject = resealed.subject AND tokens.client_id = resealed.client_id
          AND tokens.sealed = resealed.before
        """,
        [
          .texts(tokens.map(\.stored.subject.text)), .texts(tokens.map(\.stored.clientID)),
          .byteStrings(tokens.map(\.stored.token.bytes)), .byteStrings(tokens.map(\.token.bytes)),
          .integers(tokens.map { Int64($0.token.key.number) }),
        ]
      ).affected
    }
  }

  /// One statement for the batch, which compares the encrypted bytes as `replace` does.
  package func delete(_ tokens: [StoredToken]) async throws(StoreError) -> Int {
    try await write(isRetryable: false) { connection in
      try connection.run(
        """
        DELETE FROM cordon.refresh_tokens AS tokens USING unnest($1, $2, $3) AS deleted (subject, client_id, sealed)
        WHERE tokens.subject = deleted.subject AND tokens.client_id = deleted.client_id
          AND tokens.sealed = deleted.sealed
        """,
        [.texts(tokens.map(\.subject.text)), .texts(tokens.map(\.clientID)), .byteStrings(tokens.map(\.token.bytes))]
      ).affected
    }
  }

  private static func storedToken(_ row: Row) throws -> StoredToken {
    guard let subject = Subject(try row.text(0)) else { throw DamagedRowError(what: "token") }
    return StoredToken(
      subject: subject, clientID: try row.text(1), token: EncryptedToken(stored: try row.bytes(2)))
  }
}
