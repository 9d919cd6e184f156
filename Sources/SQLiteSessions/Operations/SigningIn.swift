package import FoundationEssentials
package import Sessions

extension SQLiteSessionStore {
  /// Inserts the guard; the primary key decides between processes.
  package func consume(_ replayGuard: ReplayGuard, until: Date) async throws(StoreError) -> Bool {
    try await write { database in
      try database.run(
        "INSERT INTO single_use_marks (mark, until) VALUES (?, ?) ON CONFLICT (mark) DO NOTHING",
        [replayGuard.bytes, until.stored]) == 1
    }
  }

  /// One read by the primary key.
  package func isConsumed(_ replayGuard: ReplayGuard) async throws(StoreError) -> Bool {
    try await read { try $0.row("SELECT 1 FROM single_use_marks WHERE mark = ?", [replayGuard.bytes]) != nil }
  }

  /// Inserts the name, or replaces an earlier one of this user.
  package func savePendingName(_ name: PersonName, submittedBy subject: Subject, at now: Date) async throws(StoreError)
  {
    try await write { database in
      try database.run(
        """
        INSERT INTO submitted_names (subject, name, submitted) VALUES (?, ?, ?)
        ON CONFLICT (subject) DO UPDATE SET name = excluded.name, submitted = excluded.submitted
        """, [subject.text, try RecordText.encode(name), now.stored])
    }
  }

  /// Reads and writes under the write lock. A session ID counts as used for as long as the change feed remembers its
  /// end.
  package func complete(_ signIn: SignIn) async throws(StoreError) -> CompletedSignIn {
    try await write { database in
      let session = signIn.session
      try Self.refuseSecondBeginning(of: session.handle, in: database)
      let before = try SQLiteAccountRow.find(session.subject, in: database)
      let submitted = try database.row(
        "DELETE FROM submitted_names WHERE subject = ? RETURNING name", [session.subject.text]
      ).map { try RecordText.decode(PersonName.self, $0.text(0)) }
      let hasToken =
        try database.row(
          "SELECT 1 FROM refresh_tokens WHERE subject = ? AND client_id = ?", [session.subject.text, session.clientID])
        != nil
      try SQLiteAccountRow(
        account: signIn.account(after: before?.account, submitted: submitted, hasToken: hasToken),
        claimNumber: before.map { $0.claimNumber &+ 1 } ?? session.began.stored
      ).save(in: database)
      try SQLiteAccessRow.showBan(of: session.subject, in: database)
      // With groups and ban, of which there may be some from before the account.
      guard let after = try SQLiteAccountRow.find(session.subject, in: database) else {
        throw DamagedRowError(what: "account")
      }
      if let token = signIn.token {
        try Self.save(token, of: session, version: after.claimNumber, in: database)
      }
      try SQLiteSessionRow.insert(session, in: database)
      var ended: [PublicSessionID] = []
      if let replacing = signIn.replacing {
        ended = try SQLiteSessionRow.end(
          where: "handle = ?", [replacing.bytes], because: .replaced, at: session.began, in: database)
      }
      try SQLiteSessionRow.note(
        signIn.change(from: before?.account, to: after.account), at: session.began, in: database)
      return CompletedSignIn(
        snapshot: SessionSnapshot(session: session, account: after.account), ended: ended, isNewAccount: before == nil)
    }
  }

  /// A handle that ended must not come back, by a repeated call say.
  private static func refuseSecondBeginning(of handle: PublicSessionID, in database: Database) throws {
    let known = try database.row(
      """
      SELECT 1 FROM sessions WHERE handle = ?1 UNION ALL SELECT 1 FROM changes WHERE handle = ?1
      """, [handle.bytes])
    guard known == nil else {
      throw StoreError(
        code: .conflict, message: "a session began twice; please report this", cause: "session \(handle)")
    }
  }

  private static func save(
    _ token: EncryptedToken, of session: Session, version: Int64, in database: Database
  ) throws {
    try database.run(
      """
      INSERT INTO refresh_tokens (subject, client_id, sealed, key, version) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (subject, client_id) DO UPDATE SET sealed = excluded.sealed, key = excluded.key,
        version = excluded.version
      """,
      [session.subject.text, session.clientID, token.bytes, Int64(token.key.number), version])
  }
}
