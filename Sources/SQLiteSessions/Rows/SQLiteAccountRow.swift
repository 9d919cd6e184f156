import FoundationEssentials
import Sessions

/// An account as its row holds it, with what only the store knows.
struct SQLiteAccountRow {
  /// The columns of `source` that make up a row.
  static let columns = """
    accounts.subject, accounts.name, accounts.claims, accounts.latest_authorization, accounts.last_verified, \
    accounts.last_asked, accounts.last_answer, accounts.claim_number, accounts.check_failing_since, \
    accounts.apple_authorized, accounts.token_discarded, (SELECT group_concat(group_members.group_name, ' ') \
    FROM group_members WHERE group_members.subject = accounts.subject), bans.until, bans.reason, bans.since, \
    bans.made_by
    """
  static let columnCount = 16
  /// Accounts with their bans.
  static let source = "accounts LEFT JOIN bans ON bans.subject = accounts.subject"

  var account: Account
  var claimNumber: Int64

  /// From `columns`, of which the first is at `start`.
  init(_ row: SQLiteRow, from start: Int = 0) throws {
    account = try Account(stored: row, from: start)
    claimNumber = try row.integer(start + 7)
  }

  init(account: Account, claimNumber: Int64) {
    self.account = account
    self.claimNumber = claimNumber
  }

  /// From `columns`, in a list of accounts.
  static func listed(_ row: SQLiteRow) throws -> Listed<Account> {
    try Listed(name: row.text(0)) { try SQLiteAccountRow(row).account }
  }

  static func find(_ subject: Subject, in database: Database) throws -> SQLiteAccountRow? {
    try database.row("SELECT \(columns) FROM \(source) WHERE accounts.subject = ?", [subject.text]).map {
      try SQLiteAccountRow($0)
    }
  }

  /// Inserts it or puts it in the place of the old. Groups and ban have rows of their own and stay as they are.
  func save(in database: Database) throws {
    try database.run(
      """
      INSERT INTO accounts (subject, name, email, claims, latest_authorization, last_verified, last_asked, last_answer,
        claim_number, check_failing_since, apple_authorized, token_discarded)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (subject) DO UPDATE SET name = excluded.name, email = excluded.email, claims = excluded.claims,
        latest_authorization = excluded.latest_authorization, last_verified = excluded.last_verified,
        last_asked = excluded.last_asked, last_answer = excluded.last_answer, claim_number = excluded.claim_number,
        check_failing_since = excluded.check_failing_since, apple_authorized = excluded.apple_authorized,
        token_discarded = excluded.token_discarded
      """,
      [
        account.subject.text, try account.name.map { try RecordText.encode($0) },
        account.claims.email.flatMap { $0.isEmpty ? nil : $0 }, try RecordText.encode(account.claims),
        account.latestAuthorization.stored, account.lastVerified.stored, account.lastAsked?.stored,
        account.lastAnswer?.rawValue, claimNumber, account.checkFailingSince?.stored, account.appleAuthorized?.stored,
        account.access.isTokenDiscarded ? 1 : 0,
      ])
  }

  /// Removes everything known of a user but memberships of these groups; of a ban the hash stays.
  static func forget(
    _ subject: Subject, keeping groups: Set<GroupName>, at now: Date, in database: Database
  ) throws -> [PublicSessionID] {
    let ended = try SQLiteSessionRow.end(
      where: "subject = ?", [subject.text], because: .accountRemoved, at: now, in: database)
    try database.run("DELETE FROM submitted_names WHERE subject = ?", [subject.text])
    // No name of a group contains a space.
    try database.run(
      "DELETE FROM group_members WHERE subject = ? AND instr(?, ' ' || group_name || ' ') = 0",
      [subject.text, " " + groups.map(\.text).joined(separator: " ") + " "])
    try database.run("UPDATE bans SET subject = NULL WHERE subject = ?", [subject.text])
    try SQLiteTransferRow.forget(subject, in: database)
    // Tokens and the request for access go with it.
    try database.run("DELETE FROM accounts WHERE subject = ?", [subject.text])
    // Whether there was an account or not: the store may have lost one that gateways have in their caches.
    try SQLiteSessionRow.noteChange(of: subject, at: now, in: database)
    return ended
  }
}
