import FoundationEssentials
import Sessions
import WebFormats

/// An account as its row holds it, with what only the store knows.
struct PostgreSQLAccountRow {
  /// The columns of `source`.
  static let columns: SQL = """
    accounts.subject, accounts.name, accounts.claims, accounts.latest_authorization, accounts.last_verified, \
    accounts.last_asked, accounts.last_answer, accounts.claim_number, accounts.check_failing_since, \
    accounts.apple_authorized, accounts.token_discarded, \
    (SELECT string_agg(group_members.group_name, ' ') FROM cordon.group_members \
    WHERE group_members.subject = accounts.subject), bans.until, bans.reason, bans.since, bans.made_by
    """
  static let columnCount = 16
  /// Accounts with their bans.
  static let source: SQL = "cordon.accounts LEFT JOIN cordon.bans ON bans.subject = accounts.subject"

  var account: Account
  var claimNumber: Int64

  init(account: Account, claimNumber: Int64) {
    self.account = account
    self.claimNumber = claimNumber
  }

  /// Reads `columns`, the first of which is at `start`.
  init(_ row: Row, from start: Int = 0) throws {
    account = try Account(stored: row, from: start)
    claimNumber = try row.integer(start + 7)
  }

  /// Reads `columns`, in a list of accounts.
  static func listed(_ row: Row) throws -> Listed<Account> {
    try Listed(name: row.text(0)) { try PostgreSQLAccountRow(row).account }
  }

  static func find(_ subject: Subject, in connection: Connection) throws -> PostgreSQLAccountRow? {
    try connection.run(finding(subject)).first.map { try PostgreSQLAccountRow($0) }
  }

  /// The query of `find`.
  static func finding(_ subject: Subject) -> Statement {
    Statement("SELECT \(columns) FROM \(source) WHERE accounts.subject = $1", [.text(subject.text)])
  }

  /// Reads an account as `find` does, and locks it with its groups and its ban until the end of the transaction.
  static func lock(_ subject: Subject, in connection: Connection) throws -> PostgreSQLAccountRow? {
    try connection.run(together: [locking(subject), finding(subject)])[1].first.map { try PostgreSQLAccountRow($0) }
  }

  /// Locks an account, if it is known. It is read by a statement of its own (`finding`): the one that waited for the
  /// lock sees groups and bans as they were before it waited.
  static func locking(_ subject: Subject) -> Statement {
    Statement("SELECT 1 FROM cordon.accounts WHERE subject = $1 FOR UPDATE", [.text(subject.text)])
  }

  /// Inserts the account. Fails as a conflict if there is one already; then the whole transaction is retried.
  func inserting() throws -> Statement {
    Statement(
      """
      INSERT INTO cordon.accounts (subject, name, email_key, claims, latest_authorization, last_verified, last_asked,
        last_answer, claim_number, check_failing_since, apple_authorized, token_discarded)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
      """, try parameters)
  }

  /// Replaces the stored account, which is locked.
  func updating() throws -> Statement {
    Statement(
      """
      UPDATE cordon.accounts SET name = $2, email_key = $3, claims = $4, latest_authorization = $5, last_verified = $6,
        last_asked = $7, last_answer = $8, claim_number = $9, check_failing_since = $10, apple_authorized = $11,
        token_discarded = $12
      WHERE subject = $1
      """, try parameters)
  }

  /// Replaces the stored account, which is locked.
  func update(in connection: Connection) throws { try connection.run(updating()) }

  /// Removes all data of a user but memberships of these groups; the hash of a ban stays.
  static func forget(
    _ subject: Subject, keeping groups: Set<GroupName>, in connection: Connection, _ changes: inout [StoreChange]
  ) throws -> [PublicSessionID] {
    // In the order in which a sign-in locks: the account first. It is not read, because it may be damaged.
    let found = try connection.run(together: [locking(subject), PostgreSQLAccessRow.findingKey])
    let hash = try PostgreSQLAccessRow.key(found[1]).banHash(of: subject)
    let ended = try PostgreSQLSessionRow.end(where: "subject = $1", [.text(subject.text)], in: connection)
    try connection.run(
      together: [
        Statement("DELETE FROM cordon.submitted_names WHERE subject = $1", [.text(subject.text)]),
        Statement(
          "DELETE FROM cordon.group_members WHERE subject = $1 AND group_name <> ALL ($2)",
          [.text(subject.text), .texts(groups.map(\.text))]),
        Statement("UPDATE cordon.bans SET subject = NULL WHERE subject = $1", [.text(subject.text)]),
      ] + PostgreSQLTransferRow.forgetting(subject, hash))
    changes += ended.map { .ended($0, .accountRemoved) }
    // Tokens and the request for access go with it.
    try connection.run("DELETE FROM cordon.accounts WHERE subject = $1", [.text(subject.text)])
    // Whether there was an account or not: the store may have lost one that gateways have in their caches.
    changes.append(.accountChanged(subject))
    return ended
  }

  /// The lookup key of an address: its first bytes, upper and lower case ASCII being the same. As bytes, because
  /// text of PostgreSQL holds no NUL, and not all of them, because an index takes only so many.
  static func emailKey(_ email: String) -> [UInt8] {
    email.utf8.prefix(320).map(\.asciiLowercased)
  }

  private var parameters: [Parameter] {
    get throws {
      let email = account.claims.email.flatMap { $0.isEmpty ? nil : $0 }
      return [
        .text(account.subject.text), .text(try account.name.map { try RecordText.encode($0) }),
        .bytes(email.map(Self.emailKey)), .text(try RecordText.encode(account.claims)),
        .integer(account.latestAuthorization.stored), .integer(account.lastVerified.stored),
        .integer(account.lastAsked?.stored), .text(account.lastAnswer?.rawValue), .integer(claimNumber),
        .integer(account.checkFailingSince?.stored), .integer(account.appleAuthorized?.stored),
        .integer(account.access.isTokenDiscarded ? 1 : 0),
      ]
    }
  }
}
