import FoundationEssentials
import Sessions

/// Rows of access: bans, groups, requests, invitations, machine tokens.
enum SQLiteAccessRow {
  static let banColumns = "until, reason, since, made_by"
  static let invitationColumns = "id, group_name, uses, used, expires, note, created, created_by"
  static let tokenColumns = "name, handle, group_name, created, expires, created_by"

  static func key(in database: Database) throws -> StoreKey {
    guard let row = try database.row("SELECT access_key FROM store WHERE id = 1"),
      let key = StoreKey(bytes: try row.bytes(0))
    else { throw DamagedRowError(what: "key", isOfStore: true) }
    return key
  }

  static func ban(of subject: Subject, in database: Database) throws -> Ban? {
    try ban(key(in: database).banHash(of: subject), in: database)
  }

  static func ban(_ hash: [UInt8], in database: Database) throws -> Ban? {
    try database.row("SELECT \(banColumns) FROM bans WHERE hash = ?", [hash]).map { try Ban(stored: $0) }
  }

  /// Whether this operator or manager may neither lift nor replace the ban of a user.
  static func isBanProtected(
    of subject: Subject, from author: AccessAuthor, at now: Date, in database: Database
  ) throws -> Bool {
    guard author.isManager else { return false }
    return try ban(of: subject, in: database)?.isProtected(at: now) ?? false
  }

  /// Inserts a ban under the hash of the subject, or puts it in the place of the old.
  static func save(_ ban: Ban, of subject: Subject, in database: Database) throws {
    try save(ban, of: subject, key(in: database).banHash(of: subject), in: database)
  }

  /// Inserts a ban under a hash, or puts it in the place of the old.
  /// - Parameter subject: the subject of this hash; nil if it is not known.
  static func save(_ ban: Ban, of subject: Subject?, _ hash: [UInt8], in database: Database) throws {
    try database.run(
      """
      INSERT INTO bans (hash, subject, until, reason, since, made_by) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (hash) DO UPDATE SET subject = coalesce(excluded.subject, bans.subject), until = excluded.until,
        reason = excluded.reason, since = excluded.since, made_by = excluded.made_by
      """, [hash, subject?.text, ban.until?.stored, ban.reason, ban.since.stored, ban.by.text])
  }

  /// Gives the ban the subject by which accounts are joined with it, where only the hash was left.
  static func showBan(of subject: Subject, in database: Database) throws {
    try database.run(
      "UPDATE bans SET subject = ? WHERE hash = ? AND subject IS NULL",
      [subject.text, try key(in: database).banHash(of: subject)])
  }

  static func isMember(_ subject: Subject, of group: GroupName, in database: Database) throws -> Bool {
    try database.row(
      "SELECT 1 FROM group_members WHERE group_name = ? AND subject = ?", [group.text, subject.text]) != nil
  }

  /// Adds a member and deletes the user's open request.
  /// - Returns: false if that one was there already.
  static func add(
    _ subject: Subject, to group: GroupName, by: String, at now: Date, in database: Database
  ) throws -> Bool {
    let isNew =
      try database.run(
        """
        INSERT INTO group_members (group_name, subject, added, added_by) VALUES (?, ?, ?, ?)
        ON CONFLICT (group_name, subject) DO NOTHING
        """, [group.text, subject.text, now.stored, by]) == 1
    try database.run("DELETE FROM access_requests WHERE subject = ?", [subject.text])
    if isNew { try SQLiteSessionRow.noteChange(of: subject, at: now, in: database) }
    return isNew
  }

  /// Moves the ban of a hash to another subject; of two the longer one stays.
  /// - Returns: false if the hash has no ban.
  @discardableResult
  static func moveBan(_ hash: [UInt8], to new: Subject, in database: Database) throws -> Bool {
    let rows = try database.rows("DELETE FROM bans WHERE hash = ? RETURNING \(banColumns)", [hash])
    guard let ban = try rows.first.map({ try Ban(stored: $0) }) else { return false }
    if ban.outlasts(try self.ban(of: new, in: database)) { try save(ban, of: new, in: database) }
    return true
  }

  /// Moves what is known of a user's access to another subject. If the old one has an account, so has the new one
  /// already: a request for access needs it.
  static func move(_ old: Subject, to new: Subject, in database: Database) throws {
    let key = try key(in: database)
    try moveBan(key.banHash(of: old), to: new, in: database)
    try showBan(of: new, in: database)
    for (table, old, new) in [
      ("group_members", old.text, new.text), ("access_requests", old.text, new.text),
      ("invitation_uses", key.guestName(of: old), key.guestName(of: new)),
    ] {
      try database.run("UPDATE OR IGNORE \(table) SET subject = ? WHERE subject = ?", [new, old])
      try database.run("DELETE FROM \(table) WHERE subject = ?", [old])
    }
  }

  /// - Returns: how many rows it removed.
  static func removeExpired(_ rule: RemovalRule, in database: Database) throws -> Int {
    let limit = max(rule.limit, 1)
    var removed = 0
    for (table, key, column, until) in [
      ("access_requests", "code", "asked", rule.requestsUntil), ("invitations", "id", "closes", rule.endedUntil),
      ("machine_tokens", "name", "expires", rule.endedUntil),
      ("submitted_names", "subject", "submitted", rule.endedUntil),
      ("prepared_transfers", "transfer", "prepared", rule.transfersUntil),
    ] {
      removed += try database.run(
        "DELETE FROM \(table) WHERE \(key) IN (SELECT \(key) FROM \(table) WHERE \(column) <= ? LIMIT ?)",
        [until.stored, limit])
    }
    let bans = try database.rows(
      "DELETE FROM bans WHERE hash IN (SELECT hash FROM bans WHERE until <= ? LIMIT ?) RETURNING subject",
      [rule.endedUntil.stored, limit])
    for row in bans {
      if let subject = try row.optionalText(0).flatMap({ Subject($0) }) {
        try SQLiteTransferRow.hideSubject(subject, in: database)
      }
    }
    let strangers = try database.rows(
      """
      DELETE FROM accounts WHERE subject IN (
        SELECT subject FROM accounts AS stranger WHERE token_discarded = 1 AND latest_authorization <= ?
          AND NOT EXISTS (SELECT 1 FROM refresh_tokens WHERE subject = stranger.subject)
          AND NOT EXISTS (SELECT 1 FROM sessions WHERE subject = stranger.subject)
          AND NOT EXISTS (SELECT 1 FROM group_members WHERE subject = stranger.subject)
          AND NOT EXISTS (SELECT 1 FROM access_requests WHERE subject = stranger.subject)
          AND NOT EXISTS (SELECT 1 FROM bans WHERE subject = stranger.subject)
        LIMIT ?)
      RETURNING subject
      """, [rule.endedUntil.stored, limit])
    for row in strangers {
      let subject = try row.text(0)
      try database.run("DELETE FROM submitted_names WHERE subject = ?", [subject])
      try database.run("DELETE FROM prepared_transfers WHERE subject = ?", [subject])
    }
    return removed + bans.count + strangers.count
  }
}
