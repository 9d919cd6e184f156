package import FoundationEssentials
package import Sessions

extension PostgreSQLSessionStore {
  /// The replay guard is inserted first: a concurrent repetition waits for this transaction, and then finds the guard.
  /// The account is locked after it.
  package func carryOut(
    _ notification: AccountNotification, at now: Date
  ) async throws(StoreError) -> NotificationOutcome {
    let until = now.advanced(by: AccountNotification.remembered)
    return try await write(at: now) { connection, changes in
      guard try Self.consume(notification.replayGuard, until: until, in: connection) else { return .repeated }
      let row = try PostgreSQLAccountRow.lock(notification.subject, in: connection)
      if let row, row.account.isNewer(than: notification) { return .outdated }
      if let message = notification.message {
        try connection.run(
          """
          INSERT INTO cordon.messages (identifier, text, queued, due, attempts) VALUES ($1, $2, $3, $3, 0)
          ON CONFLICT (identifier) DO NOTHING
          """, [.text(notification.identifier), .text(message), .integer(now.stored)])
      }
      guard let row else {
        switch notification.change {
        // The store may have lost a sign-in of the user that gateways have in their caches.
        case .consentRevoked: changes.append(.accountChanged(notification.subject))
        // The user may have been added to a group, or have a name here from a sign-in that was never completed.
        case .accountDeleted(let kept):
          _ = try PostgreSQLAccountRow.forget(notification.subject, keeping: kept, in: connection, &changes)
        case .mailForwarding, .unknown: break
        }
        return .unknownSubject
      }
      return .carriedOut(ended: try Self.change(row, by: notification, in: connection, &changes))
    }
  }

  private static func change(
    _ row: PostgreSQLAccountRow, by notification: AccountNotification, in connection: Connection,
    _ changes: inout [StoreChange]
  ) throws -> [PublicSessionID] {
    let subject = notification.subject
    switch notification.change {
    case .consentRevoked:
      try connection.run("DELETE FROM cordon.refresh_tokens WHERE subject = $1", [.text(subject.text)])
      let ended = try PostgreSQLSessionRow.end(where: "subject = $1", [.text(subject.text)], in: connection)
      changes += ended.map { .ended($0, .consentRevoked) }
      // For sessions that the store has lost.
      changes.append(.accountChanged(subject))
      return ended
    case .accountDeleted(let kept):
      return try PostgreSQLAccountRow.forget(subject, keeping: kept, in: connection, &changes)
    case .mailForwarding:
      var after = row
      after.account.claims = row.account.afterForwarding(notification)
      try after.update(in: connection)
      changes.append(.accountChanged(subject))
      return []
    case .unknown: return []
    }
  }

  /// `FOR UPDATE SKIP LOCKED` gives concurrent callers different messages. Not retried when the connection breaks: a
  /// message that was leased then comes again when the lease ends.
  package func nextMessage(
    leasedUntil lease: Date, at now: Date
  ) async throws(StoreError) -> Listed<OutgoingMessage>? {
    try await write(isRetryable: false) { connection in
      let row = try connection.run(
        """
        UPDATE cordon.messages SET due = $1, attempts = attempts + 1
        WHERE identifier = (
          SELECT identifier FROM cordon.messages WHERE due <= $2 ORDER BY due LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING identifier, text, queued, attempts
        """, [.integer(lease.stored), .integer(now.stored)]
      ).first
      guard let row else { return nil }
      let message: Listed<OutgoingMessage> = try Listed(name: row.text(0)) {
        OutgoingMessage(
          identifier: try row.text(0), text: try row.text(1), queued: try row.date(2), attempts: try row.count(3))
      }
      if let damaged = message.damage?.name {
        try connection.run(
          "UPDATE cordon.messages SET due = $1 WHERE identifier = $2",
          [.integer(now.advanced(by: OutgoingMessage.damagedPause).stored), .text(damaged)])
      }
      return message
    }
  }

  /// Deletes by the identifier; a message that is gone already is no error.
  package func discard(_ message: OutgoingMessage) async throws(StoreError) {
    try await write(isRetryable: true) { connection in
      try connection.run(
        "DELETE FROM cordon.messages WHERE identifier = $1", [.text(message.identifier)]
      ).affected
    }
  }

  /// Sets the moment by the identifier; a message that is gone has no effect.
  package func postpone(_ message: OutgoingMessage, until moment: Date) async throws(StoreError) {
    try await write(isRetryable: true) { connection in
      try connection.run(
        "UPDATE cordon.messages SET due = $1 WHERE identifier = $2",
        [.integer(moment.stored), .text(message.identifier)]
      ).affected
    }
  }
}
