import PostgreSQLServerTesting
import PostgreSQLSessions
import SessionStoreTesting
import Sessions
import Testing

@Suite("The PostgreSQL store", .postgreSQL("max_connections=1000"))
struct ContractTests {
  /// Each case makes a database and opens a dozen connections.
  private static let turns = Turns(8)

  @Test("The store keeps the contract", arguments: StoreContract.all)
  func contract(_ contract: StoreContract) async throws {
    try await Self.turns.withTurn { try await keep(contract) }
  }

  private func keep(_ contract: StoreContract) async throws {
    let url = try PostgreSQLServer.current.makeDatabase()
    let opened = OpenedStores()
    let first = try await opened.open(url)
    let second = try await opened.open(url)
    do {
      try await contract.run(
        on: StoreUnderTest(
          first: first, second: second, reopen: { try await opened.open(url) },
          change: { change in
            switch change {
            case .newerVersion:
              try PostgreSQLServer.current.query(
                """
                ALTER TABLE cordon.accounts ADD COLUMN of_the_future text;
                UPDATE cordon.schema_version SET version = 99
                """, at: url)
            case .minimumReader(let version):
              try PostgreSQLServer.current.query("UPDATE cordon.store SET minimum_reader = \(version)", at: url)
            }
          },
          fill: { count, asked in
            try PostgreSQLServer.current.query(
              """
              INSERT INTO cordon.accounts (subject, claims, latest_authorization, last_verified, claim_number)
              SELECT 'filler.' || n, '\(RecordText.encode(AccountClaims()))', \(asked.stored), \(asked.stored), 0
              FROM generate_series(1, \(count)) AS n;
              INSERT INTO cordon.access_requests (code, subject, asked)
              SELECT lpad((n / 10000)::text, 4, '0') || '-' || lpad((n % 10000)::text, 4, '0'), 'filler.' || n,
                \(asked.stored)
              FROM generate_series(1, \(count)) AS n
              """, at: url)
          },
          damage: { message in
            try PostgreSQLServer.current.query(
              """
              ALTER TABLE cordon.messages ALTER COLUMN attempts DROP NOT NULL;
              UPDATE cordon.messages SET attempts = NULL WHERE identifier = '\(message)'
              """, at: url)
          }))
    } catch {
      await opened.close()
      throw error
    }
    await opened.close()
  }
}

/// The stores of a test, so that none of them keeps a connection behind it.
actor OpenedStores {
  private var stores: [PostgreSQLSessionStore] = []

  func open(_ url: String) async throws -> PostgreSQLSessionStore {
    let store = try await openStore(url, connections: 4)
    stores.append(store)
    return store
  }

  func close() async {
    for store in stores { try? await store.close() }
  }
}

/// Lets a number of tests run at a time.
actor Turns {
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ count: Int) { free = count }

  nonisolated func withTurn<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    await take()
    do {
      let result = try await body()
      await giveBack()
      return result
    } catch {
      await giveBack()
      throw error
    }
  }

  private func take() async {
    if free > 0 { free -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
  }

  private func giveBack() { if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() } }
}
