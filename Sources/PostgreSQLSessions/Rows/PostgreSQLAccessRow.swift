import FoundationEssentials
import Sessions

/// Rows of access: bans, groups, requests, invitations, machine tokens.
///
/// Everything that depends on a known user locks the account first, and only then the row of an invitation, so that
/// there are no deadlocks.
enum PostgreSQLAccessRow {
  static let invitationColumns: SQL = "id, group_name, uses, used, expires, note, created, created_by"
  static let tokenColumns: SQL = "name, handle, group_name, created, expires, created_by"

  // MARK: Bans

  static let findingKey = Statement("SELECT access_key FROM cordon.store WHERE id = 1")

  /// The result of `findingKey`.
  static func key(_ result: QueryResult) throws -> StoreKey {
    guard let row = result.first, let key = StoreKey(bytes: try row.bytes(0)) else {
      throw DamagedRowError(what: "key", isOfStore: true)
    }
    return key
  }

  private static let findingBan: SQL = "SELECT until, reason, since, made_by FROM cordon.bans WHERE hash = $1"

  static func ban(_ hash: [UInt8], in connection: Connection) throws -> Ban? {
    try connection.run(findingBan, [.bytes(hash)]).first.map { try Ban(stored: $0) }
  }

  /// Finds a ban and locks it: another one that is to replace it waits.
  static func lockBan(_ hash: [UInt8], in connection: Connection) throws -> Ban? {
    try connection.run("\(findingBan) FOR UPDATE", [.bytes(hash)]).first.map { try Ban(stored: $0) }
  }

  private static let insertingBan: SQL = """
    INSERT INTO cordon.bans (hash, subject, until, reason, since, made_by) VALUES ($1, $2, $3, $4, $5, $6)
    """
  private static let replacingBan: SQL = """
    \(insertingBan)
    ON CONFLICT (hash) DO UPDATE SET subject = coalesce(excluded.subject, bans.subject), until = excluded.until,
      reason = excluded.reason, since = excluded.since, made_by = excluded.made_by
    """

  /// Inserts or replaces a ban under the hash of the subject.
  /// - Parameters:
  ///   - subject: nil if it is not known.
  ///   - replaces: if not, and there is one, it fails as a conflict; then the whole transaction is retried.
  static func save(
    _ ban: Ban, of subject: Subject?, _ hash: [UInt8], replaces: Bool = true, in connection: Connection
  ) throws {
    try connection.run(
      replaces ? replacingBan : insertingBan,
      [
        .bytes(hash), .text(subject?.text), .integer(ban.until?.stored), .text(ban.reason), .integer(ban.since.stored),
        .text(ban.by.text),
      ])
  }

  /// Gives the ban the subject by which accounts are joined with it, where only the hash was left.
  static func showingBan(of subject: Subject, _ key: StoreKey) -> Statement {
    Statement(
      "UPDATE cordon.bans SET subject = $1 WHERE hash = $2 AND subject IS NULL",
      [.text(subject.text), .bytes(key.banHash(of: subject))])
  }

  // MARK: Groups and requests

  /// Adds a member and deletes the user's open request.
  /// - Returns: false if that one was there already.
  static func add(
    _ subject: Subject, to group: GroupName, by: String, at now: Date, in connection: Connection,
    _ changes: inout [StoreChange]
  ) throws -> Bool {
    let results = try connection.run(together: [
      Statement(
        """
        INSERT INTO cordon.group_members (group_name, subject, added, added_by) VALUES ($1, $2, $3, $4)
        ON CONFLICT (group_name, subject) DO NOTHING
        """, [.text(group.text), .text(subject.text), .integer(now.stored), .text(by)]),
      deletingRequest(of: subject),
    ])
    guard results[0].affected == 1 else { return false }
    changes.append(.accountChanged(subject))
    return true
  }

  static func deletingRequest(of subject: Subject) -> Statement {
    Statement("DELETE FROM cordon.access_requests WHERE subject = $1", [.text(subject.text)])
  }

  // MARK: All access rows

  /// Moves the ban of a hash to another subject, whose hash is `newHash`; of two the longer one stays.
  /// - Returns: false if the hash has no ban, or another process has just moved it.
  @discardableResult
  static func moveBan(
    _ hash: [UInt8], to new: Subject, _ newHash: [UInt8], in connection: Connection
  ) throws -> Bool {
    let deleted = try connection.run(
      "DELETE FROM cordon.bans WHERE hash = $1 RETURNING until, reason, since, made_by", [.bytes(hash)])
    guard let ban = try deleted.first.map({ try Ban(stored: $0) }) else { return false }
    if ban.outlasts(try self.ban(newHash, in: connection)) { try save(ban, of: new, newHash, in: connection) }
    return true
  }

  /// Moves a user's access to another subject. If the old one has an account, so has the new one already, and both are
  /// locked: a request for access needs the account.
  static func move(_ old: Subject, to new: Subject, in connection: Connection) throws {
    let key = try key(connection.run(findingKey))
    try moveBan(key.banHash(of: old), to: new, key.banHash(of: new), in: connection)
    let subjects: [Parameter] = [.text(new.text), .text(old.text)]
    let guests: [Parameter] = [.text(key.guestName(of: new)), .text(key.guestName(of: old))]
    try connection.run(together: [
      showingBan(of: new, key),
      Statement(
        """
        INSERT INTO cordon.group_members (group_name, subject, added, added_by)
        SELECT group_name, $1, added, added_by FROM cordon.group_members WHERE subject = $2
        ON CONFLICT (group_name, subject) DO NOTHING
        """, subjects),
      Statement("DELETE FROM cordon.group_members WHERE subject = $1", [.text(old.text)]),
      Statement(
        """
        INSERT INTO cordon.invitation_uses (invitation, subject, used)
        SELECT invitation, $1, used FROM cordon.invitation_uses WHERE subject = $2
        ON CONFLICT (invitation, subject) DO NOTHING
        """, guests),
      Statement("DELETE FROM cordon.invitation_uses WHERE subject = $1", [guests[1]]),
      Statement(
        """
        UPDATE cordon.access_requests SET subject = $1
        WHERE subject = $2 AND NOT EXISTS (SELECT 1 FROM cordon.access_requests WHERE subject = $1)
        """, subjects),
      deletingRequest(of: old),
    ])
  }

  /// - Returns: how many rows it removed.
  static func removeExpired(_ rule: RemovalRule, in connection: Connection) throws -> Int {
    let end = rule.endedUntil
    let results = try connection.run(together: [
      rule.deletion(from: "bans", by: "hash", where: "until", until: end, returning: "subject"),
      rule.deletion(from: "access_requests", by: "code", where: "asked", until: rule.requestsUntil),
      rule.deletion(from: "invitations", by: "id", where: "closes", until: end),
      rule.deletion(from: "machine_tokens", by: "name", where: "expires", until: end),
      rule.deletion(from: "submitted_names", by: "subject", where: "submitted", until: end),
      rule.deletion(from: "prepared_transfers", by: "transfer", where: "prepared", until: rule.transfersUntil),
    ])
    let unbanned = try results[0].rows.compactMap { try $0.optionalText(0).flatMap { Subject($0) } }
    if !unbanned.isEmpty { try connection.run(together: unbanned.map(PostgreSQLTransferRow.hidingSubject)) }
    return results.reduce(try removeStrangers(rule, in: connection)) { $0 + $1.affected }
  }

  /// Locks the accounts first, and then reads their rows: while they are locked, nothing is added.
  private static func removeStrangers(_ rule: RemovalRule, in connection: Connection) throws -> Int {
    let strangers = try connection.run(
      """
      SELECT subject FROM cordon.accounts WHERE token_discarded = 1 AND latest_authorization <= $1 AND \(hasNothing)
      LIMIT $2 FOR UPDATE SKIP LOCKED
      """, [.integer(rule.endedUntil.stored), .integer(Int64(max(rule.limit, 1)))]
    ).rows.map { try $0.text(0) }
    if strangers.isEmpty { return 0 }
    let removed = try connection.run(
      "DELETE FROM cordon.accounts WHERE subject = ANY ($1) AND \(hasNothing) RETURNING subject", [.texts(strangers)]
    ).rows.map { try $0.text(0) }
    try connection.run(together: [
      Statement("DELETE FROM cordon.submitted_names WHERE subject = ANY ($1)", [.texts(removed)]),
      Statement("DELETE FROM cordon.prepared_transfers WHERE subject = ANY ($1)", [.texts(removed)]),
    ])
    return removed.count
  }

  private static let hasNothing: SQL = """
    NOT EXISTS (SELECT 1 FROM cordon.refresh_tokens WHERE refresh_tokens.subject = accounts.subject) \
    AND NOT EXISTS (SELECT 1 FROM cordon.sessions WHERE sessions.subject = accounts.subject) \
    AND NOT EXISTS (SELECT 1 FROM cordon.group_members WHERE group_members.subject = accounts.subject) \
    AND NOT EXISTS (SELECT 1 FROM cordon.access_requests WHERE access_requests.subject = accounts.subject) \
    AND NOT EXISTS (SELECT 1 FROM cordon.bans WHERE bans.subject = accounts.subject)
    """
}
