public import FoundationEssentials
public import Sessions

extension PostgreSQLSessionStore {
  public func useUp(_ mark: SingleUseMark, until: Date) async throws(StoreError) -> Bool {
    try await write(isRepeatable: false) { try Self.useUp(mark, until: until, in: $0) }
  }

  static func useUp(_ mark: SingleUseMark, until: Date, in connection: Connection) throws -> Bool {
    try connection.run(
      "INSERT INTO cordon.single_use_marks (mark, until) VALUES ($1, $2) ON CONFLICT (mark) DO NOTHING",
      [.bytes(mark.bytes), .integer(until.stored)]
    ).affected == 1
  }

  public func keepName(_ name: PersonName, submittedBy subject: Subject, at now: Date) async throws(StoreError) {
    try await write(isRepeatable: true) { connection in
      try connection.run(
        """
        INSERT INTO cordon.submitted_names (subject, name, submitted) VALUES ($1, $2, $3)
        ON CONFLICT (subject) DO UPDATE SET name = excluded.name, submitted = excluded.submitted
        """, [.text(subject.text), .text(try RecordText.encode(name)), .integer(now.stored)]
      ).affected
    }
  }

  public func complete(_ signIn: SignIn) async throws(StoreError) -> CompletedSignIn {
    let session = signIn.session
    return try await write(at: session.began) { connection, changes in
      let (before, after) = try Self.saveAccount(signIn, in: connection)
      if let token = signIn.token {
        try Self.save(token, of: session, version: after.claimNumber, in: connection)
      }
      guard try SessionRow.insert(session, in: connection) else {
        throw StoreError(
          code: .conflict, message: "a session began twice; please report this", cause: "handle \(session.handle)")
      }
      var ended: [SessionHandle] = []
      if let replacing = signIn.replacing {
        ended = try SessionRow.end(where: "handle = $1", [.bytes(replacing.bytes)], in: connection)
      }
      changes += ended.map { .ended($0, .replaced) }
      if let before, before.name != after.account.name || before.claims != after.account.claims {
        changes.append(.accountChanged(session.subject))
      }
      return CompletedSignIn(
        snapshot: SessionSnapshot(session: session, account: after.account), ended: ended, isNewAccount: before == nil)
    }
  }

  /// Two first sign-ins of one user at once: the later one waits for the earlier and then finds an account.
  private static func saveAccount(
    _ signIn: SignIn, in connection: Connection
  ) throws -> (before: Account?, after: AccountRow) {
    let subject = signIn.session.subject
    var submitted: PersonName?
    while true {
      let before = try AccountRow.lock(subject, in: connection)
      if submitted == nil {
        submitted = try connection.run(
          "DELETE FROM cordon.submitted_names WHERE subject = $1 RETURNING name", [.text(subject.text)]
        ).first.map { try RecordText.decode(PersonName.self, $0.text(0)) }
      }
      let after = AccountRow(
        account: signIn.account(after: before?.account, submitted: submitted),
        claimNumber: before.map { $0.claimNumber &+ 1 } ?? signIn.session.began.stored)
      if before != nil {
        try after.update(in: connection)
        return (before?.account, after)
      }
      if try after.insert(in: connection) { return (nil, after) }
    }
  }

  private static func save(
    _ token: SealedToken, of session: Session, version: Int64, in connection: Connection
  ) throws {
    try connection.run(
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
