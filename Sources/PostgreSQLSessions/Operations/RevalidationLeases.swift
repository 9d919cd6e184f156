package import FoundationEssentials
package import Sessions

extension PostgreSQLSessionStore {
  /// Reads without a lock first, since most calls come too early; one that may succeed looks again under the lock of
  /// the account. Of several tokens the preferred client's is taken, or else the newest.
  package func recordLease(
    of subject: Subject, preferring clientID: String, interval: Duration, now: Date
  ) async throws(StoreError) -> LeaseOutcome<StoredLease> {
    return try await run(isRetryable: false) { connection in
      // Fast path: most calls are too early and need no row lock.
      let early = try Self.candidate(subject, preferring: clientID, in: connection, isLocked: false)
      guard let early else { return .nothingToAskWith }
      if early.question == nil, early.row.account.withoutToken(at: now, interval: interval) == nil {
        return .nothingToAskWith
      }
      if early.question != nil, !early.row.account.mayBeAsked(at: now, interval: interval) {
        return .notYet(early.row.account)
      }
      return try connection.transaction {
        guard let found = try Self.candidate(subject, preferring: clientID, in: connection, isLocked: true) else {
          return .nothingToAskWith
        }
        let before = found.row.account
        guard let question = found.question else {
          if let account = before.withoutToken(at: now, interval: interval) {
            try PostgreSQLAccountRow(account: account, claimNumber: found.row.claimNumber).update(in: connection)
          }
          return .nothingToAskWith
        }
        guard before.mayBeAsked(at: now, interval: interval) else { return .notYet(before) }
        let number = found.row.claimNumber &+ 1
        try PostgreSQLAccountRow(account: before.afterAcquiringLease(at: now), claimNumber: number).update(
          in: connection)
        return .granted(
          StoredLease(
            subject: subject, clientID: question.clientID, token: question.token, acquiredAt: now, number: number,
            tokenVersion: question.tokenVersion, previouslyAsked: before.lastAsked,
            previousAnswer: before.lastAnswer))
      }
    }
  }

  /// An account, and the token to ask Apple with.
  private struct Candidate {
    let row: PostgreSQLAccountRow
    /// Nil where there is no token.
    let question: Question?
  }

  private struct Question {
    let clientID: String
    let token: EncryptedToken
    let tokenVersion: Int64
  }

  private static func candidate(
    _ subject: Subject, preferring clientID: String, in connection: Connection, isLocked: Bool
  ) throws -> Candidate? {
    let row =
      isLocked
      ? try PostgreSQLAccountRow.lock(subject, in: connection) : try PostgreSQLAccountRow.find(subject, in: connection)
    guard let row else { return nil }
    let token = try connection.run(
      """
      SELECT client_id, sealed, version FROM cordon.refresh_tokens WHERE subject = $1
      ORDER BY client_id != $2, version DESC LIMIT 1
      """, [.text(subject.text), .text(clientID)]
    ).first
    guard let token else { return Candidate(row: row, question: nil) }
    return Candidate(
      row: row,
      question: Question(
        clientID: try token.text(0), token: EncryptedToken(stored: try token.bytes(1)),
        tokenVersion: try token.integer(2)))
  }

  /// One statement that compares the number of the lease, so that it is idempotent and cannot undo a later one.
  package func releaseLease(_ lease: RevalidationLease) async throws(StoreError) {
    try await write(isRetryable: true) { connection in
      try connection.run(
        "UPDATE cordon.accounts SET last_asked = $1, last_answer = $2 WHERE subject = $3 AND claim_number = $4",
        [
          .integer(lease.previouslyAsked?.stored), .text(lease.previousAnswer?.rawValue), .text(lease.subject.text),
          .integer(lease.number),
        ]
      ).affected
    }
  }

  /// Locks the account, and changes the token only if its version is still that of the lease.
  package func record(
    _ answer: RevalidationRecord, of lease: RevalidationLease, at now: Date
  ) async throws(StoreError) -> RecordedRevalidation {
    try await write(at: now) { connection, changes in
      guard let before = try PostgreSQLAccountRow.lock(lease.subject, in: connection) else {
        return RecordedRevalidation(account: nil, ended: [])
      }
      let standing = before.account.standing(of: lease, latest: before.claimNumber)
      if standing == .outdated { return RecordedRevalidation(account: before.account, ended: []) }
      var after = before
      if standing == .latest { after.account = before.account.after(answer, at: now) }
      var ended: [PublicSessionID] = []
      let token: [Parameter] = [
        .text(lease.subject.text), .text(lease.clientID), .integer(lease.tokenVersion),
      ]
      switch answer {
      case .good(_, let fresh):
        if let fresh {
          try connection.run(
            """
            UPDATE cordon.refresh_tokens SET sealed = $4, key = $5
            WHERE subject = $1 AND client_id = $2 AND version = $3
            """, token + [.bytes(fresh.bytes), .integer(Int64(fresh.key.number))])
        }
      case .revoked:
        let deleted = try connection.run(
          "DELETE FROM cordon.refresh_tokens WHERE subject = $1 AND client_id = $2 AND version = $3", token)
        if deleted.affected == 1 {
          ended = try PostgreSQLSessionRow.end(
            where: "subject = $1 AND client_id = $2", [.text(lease.subject.text), .text(lease.clientID)],
            in: connection)
        }
      case .noGoodAnswer: break
      }
      try after.update(in: connection)
      changes += ended.map { .ended($0, .revoked) }
      if after.account.hasNewClaims(since: before.account) { changes.append(.accountChanged(lease.subject)) }
      return RecordedRevalidation(account: after.account, ended: ended)
    }
  }
}
