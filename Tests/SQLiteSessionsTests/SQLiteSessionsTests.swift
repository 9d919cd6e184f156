import SQLiteSessions
import SessionStoreTesting
import Sessions
import Testing

@Suite("The SQLite store")
struct SQLiteSessionsTests {
  @Test("The store keeps the contract", arguments: StoreContract.all)
  func contract(_ contract: StoreContract) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("cordon.db")
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
}
