import SQLiteSessions
import SessionStoreTesting
import Sessions
import TemporaryDirectoryTesting
import Testing

@Suite("The SQLite store")
struct SQLiteSessionsTests {
  @Test("The store keeps the contract", arguments: StoreContract.all)
  func contract(_ contract: StoreContract) async throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("cordon.db")
    try await contract.run(
      on: StoreUnderTest(
        first: try SQLiteSessionStore(path: path), second: try SQLiteSessionStore(path: path),
        reopen: { try SQLiteSessionStore(path: path) },
        change: { change in
          switch change {
          case .newerVersion:
            try RawDatabase.execute(
              """
              ALTER TABLE accounts ADD COLUMN of_the_future TEXT;
              INSERT INTO grdb_migrations (identifier) VALUES ('99: of the future')
              """, at: path)
          case .minimumReader(let version):
            try RawDatabase.execute("UPDATE store SET minimum_reader = \(version)", at: path)
          }
        },
        fill: { count, asked in
          let numbers =
            "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(count))"
          try RawDatabase.execute(
            """
            \(numbers) INSERT INTO accounts (subject, claims, latest_authorization, last_verified, claim_number)
            SELECT 'filler.' || n, '\(RecordText.encode(AccountClaims()))', \(asked.stored), \(asked.stored), 0
            FROM numbers;
            \(numbers) INSERT INTO access_requests (code, subject, asked)
            SELECT printf('%04d-%04d', n / 10000, n % 10000), 'filler.' || n, \(asked.stored) FROM numbers;
            """, at: path)
        },
        damage: { message in
          try RawDatabase.execute(
            "UPDATE messages SET text = CAST(x'ff' AS TEXT) WHERE identifier = '\(message)'", at: path)
        }))
    withExtendedLifetime(folder) {}
  }

  @Test("A ban by the previous subject holds for a user who signs in while the present one is searched for")
  func banDuringSignIn() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("cordon.db")
    let store = try SQLiteSessionStore(path: path)
    let stranger = try await store.complete(try signIn()).snapshot.account.subject
    let (old, new) = (try signIn("old").session.subject, try signIn("new").session.subject)
    let transfer = PreparedTransfer(subject: try signIn("transfer").session.subject, team: "NEWTEAM123")
    let ban = Ban(until: nil, reason: nil, since: noon, by: "cli")
    try await store.ban(old, ban)
    _ = try await store.prepare(transfer, of: old, at: noon)
    #expect(try await store.follow(transfer.subject, to: new, at: noon) == .moved)
    #expect(try await store.unban(new, by: "cli", at: noon) == .lifted)
    // The account comes after the search, and before the ban.
    try RawDatabase.execute(
      """
      CREATE TRIGGER sign_in BEFORE INSERT ON bans BEGIN
        INSERT INTO accounts (subject, claims, latest_authorization, last_verified, claim_number)
        SELECT '\(new)', claims, latest_authorization, last_verified, claim_number FROM accounts
        WHERE subject = '\(stranger)' AND NOT EXISTS (SELECT 1 FROM accounts WHERE subject = '\(new)');
      END
      """, at: path)
    try await store.ban(old, ban)
    #expect(try await store.account(new)?.access.ban == ban)
    withExtendedLifetime(folder) {}
  }
}
