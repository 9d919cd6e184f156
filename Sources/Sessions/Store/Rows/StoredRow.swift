package import FoundationEssentials

/// A row of a store, its columns by index. Reading a column as another type throws ``DamagedRowError``; it never traps.
package protocol StoredRow {
  /// Reads a text.
  func text(_ column: Int) throws -> String
  /// Reads a text; nil for NULL.
  func optionalText(_ column: Int) throws -> String?
  /// Reads bytes.
  func bytes(_ column: Int) throws -> [UInt8]
  /// Reads a whole number.
  func integer(_ column: Int) throws -> Int64
  /// Reads a whole number that counts something.
  func count(_ column: Int) throws -> Int
  /// Reads an instant.
  func date(_ column: Int) throws -> Date
  /// Reads an instant; nil for NULL.
  func optionalDate(_ column: Int) throws -> Date?
}

extension Session {
  /// From the first seven columns: handle, subject, client, beginning, end, last use and user agent.
  /// - Throws: ``DamagedRowError``.
  package init(stored row: some StoredRow) throws {
    let handle = try Self.handle(row)
    guard let subject = Subject(try row.text(1)) else { throw DamagedRowError(what: "session") }
    self.init(
      handle: handle, subject: subject, clientID: try row.text(2), began: try row.date(3), ends: try row.date(4),
      lastSeen: try row.date(5), userAgent: try row.optionalText(6).flatMap { UserAgentSummary($0.utf8) })
  }

  private static func handle(_ row: some StoredRow) throws -> PublicSessionID {
    guard let handle = PublicSessionID(bytes: try row.bytes(0)) else { throw DamagedRowError(what: "session") }
    return handle
  }

  /// From the same columns, in a list of sessions.
  package static func listed(_ row: some StoredRow) throws -> Listed<Session> {
    try Listed(name: handle(row).text) { try Session(stored: row) }
  }
}

extension Account {
  /// From sixteen columns: subject, name, claims, the latest authorization, the last verification, the last attempt and
  /// its answer, the number of the claim (which an account does not have), the beginning of failures, the time of
  /// Apple's authorization, whether the token was discarded, groups, and end, reason, beginning and maker of the ban.
  ///
  /// - Parameter start: the place of the first of them.
  /// - Throws: ``DamagedRowError``.
  package init(stored row: some StoredRow, from start: Int) throws {
    guard let subject = Subject(try row.text(start)) else { throw DamagedRowError(what: "subject") }
    self.init(
      subject: subject,
      name: try row.optionalText(start + 1).map { try RecordText.decode(PersonName.self, $0) },
      claims: try RecordText.decode(AccountClaims.self, row.text(start + 2)),
      latestAuthorization: try row.date(start + 3), lastVerified: try row.date(start + 4),
      lastAsked: try row.optionalDate(start + 5),
      lastAnswer: try row.optionalText(start + 6).flatMap { RevalidationRecord.Kind(rawValue: $0) },
      checkFailingSince: try row.optionalDate(start + 8), appleAuthorized: try row.optionalDate(start + 9),
      access: try AccountAccess(
        isTokenDiscarded: row.integer(start + 10) == 1, groups: row.optionalText(start + 11),
        until: row.optionalDate(start + 12), reason: row.optionalText(start + 13),
        since: row.optionalDate(start + 14), by: row.optionalText(start + 15)))
  }
}

extension Ban {
  /// From four columns: end, reason, beginning and maker.
  /// - Throws: ``DamagedRowError``.
  package init(stored row: some StoredRow) throws {
    self.init(
      until: try row.optionalDate(0), reason: try row.optionalText(1), since: try row.date(2),
      by: AccessAuthor(stored: try row.text(3)))
  }
}

extension Invitation {
  /// From eight columns: ID, group, uses, used, end, note, beginning and maker.
  /// - Throws: ``DamagedRowError``.
  package init(stored row: some StoredRow) throws {
    self.init(
      id: try row.text(0), group: try GroupName(stored: row.text(1)), uses: try row.count(2), used: try row.count(3),
      expires: try row.date(4), note: try row.optionalText(5), created: try row.date(6), by: try row.text(7))
  }
}

extension MachineToken {
  /// From six columns: name, handle, group, beginning, end and maker.
  /// - Throws: ``DamagedRowError``.
  package init(stored row: some StoredRow) throws {
    guard let handle = PublicSessionID(bytes: try row.bytes(1)) else { throw DamagedRowError(what: "machine token") }
    self.init(
      name: try GroupName(stored: row.text(0)), handle: handle, group: try GroupName(stored: row.text(2)),
      created: try row.date(3), expires: try row.optionalDate(4), by: try row.text(5))
  }
}
