package import FoundationEssentials
package import Sessions

extension SQLiteSessionStore {
  /// The replay guard, the change and the message are one transaction: a crash leaves all of them or none.
  package func carryOut(
    _ notification: AccountNotification, at now: Date
  ) async throws(StoreError) -> NotificationOutcome {
    try await write { database in
      let isFirst = try database.run(
        "INSERT INTO single_use_marks (mark, until) VALUES (?, ?) ON CONFLICT (mark) DO NOTHING",
        [notification.replayGuard.bytes, now.stored + AccountNotification.remembered.milliseconds])
      guard isFirst == 1 else { return .repeated }
      let row = try SQLiteAccountRow.find(notification.subject, in: database)
      if let row, row.account.isNewer(than: notification) { return .outdated }
      if let message = notification.message {
        try database.run(
          """
          INSERT INTO messages (identifier, text, queued, due, attempts) VALUES (?1, ?2, ?3, ?3, 0)
          ON CONFLICT (identifier) DO NOTHING
          """, [notification.identifier, message, now.stored])
      }
      guard let row else {
        switch notification.change {
        // The store may have lost a sign-in of the user that gateways have in their caches.
        case .consentRevoked: try SQLiteSessionRow.noteChange(of: notification.subject, at: now, in: database)
        // The user may have been added to a group, or have a name here from a sign-in that was never completed.
        case .accountDeleted(let kept):
          _ = try SQLiteAccountRow.forget(notification.subject, keeping: kept, at: now, in: database)
        case .mailForwarding, .unknown: break
        }
        return .unknownSubject
      }
      return .carriedOut(ended: try Self.change(row, by: notification, at: now, in: database))
    }
  }

  private static func change(
    _ row: SQLiteAccountRow, by notification: AccountNotification, at now: Date, in database: Database
  ) throws -> [PublicSessionID] {
    let subject = notification.subject
    switch notification.change {
    case .consentRevoked:
      try database.run("DELETE FROM refresh_tokens WHERE subject = ?", [subject.text])
      let ended = try SQLiteSessionRow.end(
        where: "subject = ?", [subject.text], because: .consentRevoked, at: now, in: database)
      // For sessions that the store has lost.
      try SQLiteSessionRow.noteChange(of: subject, at: now, in: database)
      return ended
    case .accountDeleted(let kept):
      return try SQLiteAccountRow.forget(subject, keeping: kept, at: now, in: database)
    case .mailForwarding:
      var after = row
      after.account.claims = row.account.afterForwarding(notification)
      try after.save(in: database)
      try SQLiteSessionRow.noteChange(of: subject, at: now, in: database)
      return []
    case .unknown: return []
    }
  }

  /// Reads the message and moves its moment under the write lock, so that each caller gets a different one.
  package func nextMessage(
    leasedUntil lease: Date, at now: Date
  ) async throws(StoreError) -> Listed<OutgoingMessage>? {
    try await write { database in
      let row = try database.row(
        """
        SELECT identifier, text, queued, attempts + 1 FROM messages
        WHERE identifier = (SELECT identifier FROM messages WHERE due <= ? ORDER BY due LIMIT 1)
        """, [now.stored])
      guard let row else { return nil }
      let message: Listed<OutgoingMessage> = try Listed(name: row.text(0)) {
        OutgoingMessage(
          identifier: try row.text(0), text: try row.text(1), queued: try row.date(2), attempts: try row.count(3))
      }
      let due = message.record == nil ? now.advanced(by: OutgoingMessage.damagedPause) : lease
      // Found as before: the identifier may be what is damaged.
      try database.run(
        """
        UPDATE messages SET due = ?1, attempts = coalesce(?3, attempts)
        WHERE identifier = (SELECT identifier FROM messages WHERE due <= ?2 ORDER BY due LIMIT 1)
        """, [due.stored, now.stored, message.record?.attempts])
      return message
    }
  }

  /// Deletes by the identifier; a message that is gone already is no error.
  package func discard(_ message: OutgoingMessage) async throws(StoreError) {
    try await write { try $0.run("DELETE FROM messages WHERE identifier = ?", [message.identifier]) }
  }

  /// Sets the moment by the identifier; a message that is gone has no effect.
  package func postpone(_ message: OutgoingMessage, until moment: Date) async throws(StoreError) {
    try await write {
      try $0.run("UPDATE messages SET due = ? WHERE identifier = ?", [moment.stored, message.identifier])
    }
  }
}
