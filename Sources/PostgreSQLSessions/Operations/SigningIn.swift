package import FoundationEssentials
package import Sessions

extension PostgreSQLSessionStore {
  /// Inserts the guard; the primary key decides between concurrent calls.
  package func consume(_ replayGuard: ReplayGuard, until: Date) async throws(StoreError) -> Bool {
    // In a transaction: if the connection breaks before COMMIT, it is certain that nothing was consumed.
    try await run(isRetryable: false) { connection in
      try connection.transaction { try Self.consume(replayGuard, until: until, in: connection) }
    }
  }

  /// One read by the primary key.
  package func isConsumed(_ replayGuard: ReplayGuard) async throws(StoreError) -> Bool {
    try await read { connection in
      try connection.run(
        "SELECT 1 FROM cordon.single_use_marks WHERE mark = $1", [.bytes(replayGuard.bytes)]
      ).first != nil
    }
  }

  static func consume(_ replayGuard: ReplayGuard, until: Date, in connection: Connection) throws -> Bool {
    try connection.run(
      "INSERT INTO cordon.single_use_marks (mark, until) VALUES ($1, $2) ON CONFLICT (mark) DO NOTHING",
      [.bytes(replayGuard.bytes), .integer(until.stored)]
    ).affected == 1
  }

  /// Inserts the name, or replaces an earlier one of this user. Idempotent, and so retried when the connection breaks.
  package func savePendingName(_ name: PersonName, submittedBy subject: Subject, at now: Date) async throws(StoreError)
  {
    try await write(isRetryable: true) { connection in
      try connection.run(
        """
        INSERT INTO cordon.submitted_names (subject, name, submitted) VALUES ($1, $2, $3)
        ON CONFLICT (subject) DO UPDATE SET name = excluded.name, submitted = excluded.submitted
        """, [.text(subject.text), .text(try RecordText.encode(name)), .integer(now.stored)]
      ).affected
    }
  }

  /// Takes five round trips: reading, writing, two for the change, and the commit.
  package func complete(_ signIn: SignIn) async throws(StoreError) -> CompletedSignIn {
    let session = signIn.session
    return try await write(at: session.began) { connection, changes in
      let found = try connection.run(together: [
        PostgreSQLAccountRow.locking(session.subject), PostgreSQLAccountRow.finding(session.subject),
        Statement(
          "DELETE FROM cordon.submitted_names WHERE subject = $1 RETURNING name", [.text(session.subject.text)]),
        Statement(
          "SELECT 1 FROM cordon.refresh_tokens WHERE subject = $1 AND client_id = $2",
          [.text(session.subject.text), .text(session.clientID)]),
        PostgreSQLAccessRow.findingKey,
      ])
      let before = try found[1].first.map { try PostgreSQLAccountRow($0) }
      let submitted = try found[2].first.map { try RecordText.decode(PersonName.self, $0.text(0)) }
      let written = PostgreSQLAccountRow(
        account: signIn.account(after: before?.account, submitted: submitted, hasToken: found[3].first != nil),
        claimNumber: before.map { $0.claimNumber &+ 1 } ?? session.began.stored)
      // Two first sign-ins of one user at once: the later one waits for the earlier, collides, and then finds an
      // account.
      var statements = [
        try before == nil ? written.inserting() : written.updating(), PostgreSQLSessionRow.inserting(session),
        PostgreSQLAccessRow.showingBan(of: session.subject, try PostgreSQLAccessRow.key(found[4])),
        // With groups and ban, of which there may be some from before the account.
        PostgreSQLAccountRow.finding(session.subject),
      ]
      if let token = signIn.token { statements.append(Self.saving(token, of: session, version: written.claimNumber)) }
      if let replacing = signIn.replacing {
        statements.append(PostgreSQLSessionRow.ending(where: "handle = $1", [.bytes(replacing.bytes)]))
      }
      let results = try connection.run(together: statements)
      guard results[1].affected == 1 else {
        throw StoreError(
          code: .conflict, message: "a session began twice; please report this", cause: "session \(session.handle)")
      }
      guard let after = try results[3].first.map({ try PostgreSQLAccountRow($0) }) else {
        throw DamagedRowError(what: "account")
      }
      var ended: [PublicSessionID] = []
      if signIn.replacing != nil, let last = results.last { ended = try PostgreSQLSessionRow.handles(last) }
      changes += ended.map { .ended($0, .replaced) }
      changes.append(signIn.change(from: before?.account, to: after.account))
      return CompletedSignIn(
        snapshot: SessionSnapshot(session: session, account: after.account), ended: ended, isNewAccount: before == nil)
    }
  }

  private static func saving(_ token: EncryptedToken, of session: Session, version: Int64) -> Statement {
    Statement(
      """
      INSERT INTO cordon.refresh_tokens (subject, client_id, sealed, key, version) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (subject, client_id) DO UPDATE SET sealed = excluded.sealed, key = excluded.key,
        version = excluded.version
      """,
      [
        .text(session.subject.text), .text(session.clientID), .bytes(token.bytes), .integer(Int64(token.key.number)),
        .integer(version),
      ])
  }
}
