package import FoundationEssentials
package import Sessions

extension PostgreSQLSessionStore {
  /// Reads the account with its groups and its ban, by primary key.
  package func account(_ subject: Subject) async throws(StoreError) -> Account? {
    try await read { try PostgreSQLAccountRow.find(subject, in: $0)?.account }
  }

  /// Reads by the index of addresses, which holds the first 320 bytes in lower case; longer matches are compared by
  /// their length.
  package func accounts(withEmail email: String) async throws(StoreError) -> [Listed<Account>] {
    let key = PostgreSQLAccountRow.emailKey(email)
    return try await read { connection in
      try connection.run(
        """
        SELECT \(PostgreSQLAccountRow.columns) FROM \(PostgreSQLAccountRow.source) WHERE accounts.email_key = $1
        ORDER BY accounts.subject
        """, [.bytes(key)]
      ).rows.map { try PostgreSQLAccountRow.listed($0) }
        // The key is cut off where an address is too long to be one.
        .filter { $0.record.map { $0.claims.email?.utf8.count == email.utf8.count } ?? true }
    }
  }

  /// Pages by primary key. A row that is damaged is listed as such and does not end the page.
  package func accounts(after subject: Subject?, limit: Int) async throws(StoreError) -> [Listed<Account>] {
    try await read { connection in
      try connection.run(
        """
        SELECT \(PostgreSQLAccountRow.columns) FROM \(PostgreSQLAccountRow.source) WHERE accounts.subject > $1
        ORDER BY accounts.subject LIMIT $2
        """, [.text(subject?.text ?? ""), .integer(Int64(max(limit, 0)))]
      ).rows.map { try PostgreSQLAccountRow.listed($0) }
    }
  }

  /// Pages as `accounts(after:limit:)` does, with two subqueries for the sessions of each account: keep `limit` small.
  package func summaries(after subject: Subject?, limit: Int) async throws(StoreError) -> [Listed<AccountSummary>] {
    try await read { connection in
      try connection.run(
        """
        SELECT \(PostgreSQLAccountRow.columns),
          (SELECT count(*) FROM cordon.sessions WHERE sessions.subject = accounts.subject),
          (SELECT max(last_seen) FROM cordon.sessions WHERE sessions.subject = accounts.subject)
        FROM \(PostgreSQLAccountRow.source) WHERE accounts.subject > $1 ORDER BY accounts.subject LIMIT $2
        """, [.text(subject?.text ?? ""), .integer(Int64(max(limit, 0)))]
      ).rows.map { row in
        try Listed(name: row.text(0)) {
          let account = try PostgreSQLAccountRow(row).account
          let seen = try row.optionalDate(PostgreSQLAccountRow.columnCount + 1) ?? .distantPast
          return AccountSummary(
            account: account, sessions: try row.count(PostgreSQLAccountRow.columnCount),
            lastSeen: max(seen, account.latestAuthorization))
        }
      }
    }
  }

  /// Locks the account without reading it, so that a damaged one can be removed, too. Tokens and the request for access
  /// go by the foreign key.
  @discardableResult
  package func forget(
    _ subject: Subject, keeping groups: Set<GroupName>, at now: Date
  ) async throws(StoreError) -> [PublicSessionID] {
    try await write(at: now) { try PostgreSQLAccountRow.forget(subject, keeping: groups, in: $0, &$1) }
  }
}
