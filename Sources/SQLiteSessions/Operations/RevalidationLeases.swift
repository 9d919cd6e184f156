package import FoundationEssentials
package import Sessions

extension SQLiteSessionStore {
  /// Decides under the write lock. Of several tokens the preferred client's is taken, or else the newest.
  package func recordLease(
    of subject: Subject, preferring clientID: String, interval: Duration, now: Date
  ) async throws(StoreError) -> LeaseOutcome<StoredLease> {
    try await write { database in
      guard let before = try SQLiteAccountRow.find(subject, in: database) else { return .nothingToAskWith }
      let found = try database.row(
        """
        SELECT client_id, sealed, version FROM refresh_tokens WHERE subject = ?1
        ORDER BY client_id != ?2, version DESC LIMIT 1
        """, [subject.text, clientID])
      guard let token = found else {
        if let account = before.account.withoutToken(at: now, interval: interval) {
          try SQLiteAccountRow(account: account, claimNumber: before.claimNumber).save(in: database)
        }
        return .nothingToAskWith
      }
      guard before.account.mayBeAsked(at: now, interval: interval) else { return .notYet(before.account) }
      let number = before.claimNumber &+ 1
      try SQLiteAccountRow(account: before.account.afterAcquiringLease(at: now), claimNumber: number).save(in: database)
      return .granted(
        StoredLease(
          subject: subject, clientID: try token.text(0), token: EncryptedToken(stored: try token.bytes(1)),
          acquiredAt: now, number: number, tokenVersion: try token.integer(2),
          previouslyAsked: before.account.lastAsked, previousAnswer: before.account.lastAnswer))
    }
  }

  /// Compares the number of the lease, so that it cannot undo a later one.
  package func releaseLease(_ lease: RevalidationLease) async throws(StoreError) {
    try await write { database in
      try database.run(
        "UPDATE accounts SET last_asked = ?, last_answer = ? WHERE subject = ? AND claim_number = ?",
        [lease.previouslyAsked?.stored, lease.previousAnswer?.rawValue, lease.subject.text, lease.number])
    }
  }

  /// Changes the token only if its version is still that of the lease.
  package func record(
    _ answer: RevalidationRecord, of lease: RevalidationLease, at now: Date
  ) async throws(StoreError) -> RecordedRevalidation {
    try await write { database in
      guard let before = try SQLiteAccountRow.find(lease.subject, in: database) else {
        return RecordedRevalidation(account: nil, ended: [])
      }
      let standing = before.account.standing(of: lease, latest: before.claimNumber)
      if standing == .outdated { return RecordedRevalidation(account: before.account, ended: []) }
      var after = before
      if standing == .latest { after.account = before.account.after(answer, at: now) }
      var ended: [PublicSessionID] = []
      switch answer {
      case .good(_, let token):
        if let token {
          try database.run(
            """
            UPDATE refresh_tokens SET sealed = ?, key = ? WHERE subject = ? AND client_id = ? AND version = ?
            """,
            [token.bytes, Int64(token.key.number), lease.subject.text, lease.clientID, lease.tokenVersion])
        }
      case .revoked:
        let deleted = try database.run(
          "DELETE FROM refresh_tokens WHERE subject = ? AND client_id = ? AND version = ?",
          [lease.subject.text, lease.clientID, lease.tokenVersion])
        if deleted == 1 {
          ended = try SQLiteSessionRow.end(
            where: "subject = ? AND client_id = ?", [lease.subject.text, lease.clientID], because: .revoked, at: now,
            in: database)
        }
      case .noGoodAnswer:
        break
      }
      try after.save(in: database)
      if after.account.hasNewClaims(since: before.account) {
        try SQLiteSessionRow.noteChange(of: lease.subject, at: now, in: database)
      }
      return RecordedRevalidation(account: after.account, ended: ended)
    }
  }
}
