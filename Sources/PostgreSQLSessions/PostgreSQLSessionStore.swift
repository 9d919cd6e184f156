package import FoundationEssentials
package import Sessions
import Synchronization

/// Accounts and sessions in PostgreSQL, or in an engine that speaks its protocol: the store for several gateways.
///
/// Every acknowledged change is committed. Rows that must not change meanwhile are locked, so correctness needs nothing
/// stricter than READ COMMITTED, no advisory lock and no notification; notifications only make changes visible sooner.
///
/// An operation that has begun is always finished, whether or not its caller was cancelled meanwhile. If the connection
/// breaks, an operation that is known to have changed nothing is retried on another connection; any other fails.
package final class PostgreSQLSessionStore: SessionStore {
  let pool: ConnectionPool
  private let changeSignal = ChangeSignal()
  private let notifier: Notifier?
  private let listener: ChangeListener?
  private let compatibility: StoreCompatibility
  /// The time from which a ping checks the permissions on tables again.
  private let permissionsDue = Mutex(ContinuousClock.now)
  private static let permissionsInterval = Duration.seconds(60)

  /// The hosts and the database, without user and password.
  package var place: String { pool.address.description }
  /// Whether the schema `cordon` did not exist before this process made it.
  package let isNew: Bool

  /// Connects, and migrates the database to the schema of this program.
  ///
  /// - Parameters:
  ///   - url: `postgresql://…`, as libpq takes it.
  ///   - connections: the largest number of connections; each is opened when it is needed.
  ///   - notifies: whether changes are announced to other gateways by `NOTIFY`, with one more connection to listen
  ///   on.
  ///   - isCopyTarget: whether it is opened to be copied to: only then may it be a copy that is not complete.
  /// - Throws: `StoreError` with the remedy.
  package convenience init(
    url: String, connections: Int = 8, notifies: Bool = true, isCopyTarget: Bool = false
  ) async throws(StoreError) {
    try await self.init(
      url: url, connections: connections, notifies: notifies, isCopyTarget: isCopyTarget, limits: TimeLimits())
  }

  init(
    url: String, connections: Int, notifies: Bool, isCopyTarget: Bool = false, limits: TimeLimits
  ) async throws(StoreError) {
    let address = try ServerAddress(url)
    let pool = ConnectionPool(address, size: connections, limits: limits)
    let schema = try await Self.migrate(pool)
    compatibility = StoreCompatibility(known: Tables.versions.count, admitsUnfinishedCopies: isCopyTarget)
    do throws(StoreError) {
      try compatibility.note(schema.condition, of: address.description)
    } catch {
      await pool.close()
      throw error
    }
    self.pool = pool
    isNew = schema.isNew
    notifier = notifies ? Notifier(pool) : nil
    listener = notifies ? try ChangeListener.start(beside: pool, limits: limits, changeSignal: changeSignal) : nil
  }

  /// The result of looking for a store in a database.
  package enum Presence: Sendable {
    /// The store, opened with two connections and without notifications. The caller closes it.
    case store(PostgreSQLSessionStore)
    /// The database has no store yet; its place.
    case nothing(String)
  }

  /// Opens the store if the database has one, and leaves the database as it is if not.
  package static func existing(url: String) async throws(StoreError) -> Presence {
    let pool = ConnectionPool(try ServerAddress(url), size: 1, limits: TimeLimits())
    let exists: Bool
    do throws(StoreError) {
      exists = try await pool.run(isRetryable: true) {
        try PostgreSQLMigrations($0, at: pool.address).knownVersion() != nil
      }
    } catch {
      await pool.close()
      throw error
    }
    await pool.close()
    guard exists else { return .nothing(pool.address.description) }
    return .store(try await PostgreSQLSessionStore(url: url, connections: 2, notifies: false))
  }

  /// - Returns: whether the database had no schema, and its condition.
  private static func migrate(
    _ pool: ConnectionPool
  ) async throws(StoreError) -> (isNew: Bool, condition: StoreCondition) {
    do throws(StoreError) {
      return try await pool.run(isRetryable: true) {
        let isNew = try PostgreSQLMigrations($0, at: pool.address).migrate()
        return (isNew, try StoreCondition($0))
      }
    } catch {
      await pool.close()
      throw error
    }
  }

  /// Stops the listener for changes, waits for operations in progress, and closes every connection.
  package func close() async throws(StoreError) {
    await listener?.stop()
    await pool.close()
  }

  /// Has `report` called when a connection is older than 15 minutes or so and kept, because no other one can be opened.
  /// It may lead to a server that was left, and is lost if the server ends it. Once, until a connection is renewed.
  package func onKeptConnection(_ report: @escaping @Sendable (StoreError) -> Void) { pool.onKeptConnection(report) }

  /// Has `report` called when the changes of other gateways are no longer announced and have to be polled, and when
  /// they are announced again: each once. An outage is not reported here.
  package func onChangeDelivery(_ report: @escaping @Sendable (ChangeDelivery) -> Void) {
    listener?.onChangeDelivery(report)
  }

  /// Returns at the next notification of another gateway, or of this one, and at once if there was one since the last
  /// call. Without notifications it waits for all of `limit`.
  package func waitForChanges(atMost limit: Duration) async { await changeSignal.wait(atMost: limit) }

  /// Runs `body` on a connection.
  func run<Value: Sendable>(
    isRetryable: Bool, _ body: @escaping @Sendable (Connection) throws -> Value
  ) async throws(StoreError) -> Value {
    try compatibility.require(place)
    return try await pool.run(isRetryable: isRetryable, body)
  }

  /// Runs `body`, which calls `requireCompatibility` itself and is idempotent, on a connection.
  func runAnySchema<Value: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Value
  ) async throws(StoreError) -> Value {
    try await pool.run(isRetryable: true, body)
  }

  /// Records which programs may use the store.
  /// - Throws: `StoreError.Code.newerSchema` or `unfinishedCopy` if this one may not; so does every other operation
  ///   from then on, until this returns again.
  func requireCompatibility(with condition: StoreCondition) throws(StoreError) {
    try compatibility.note(condition, of: place)
  }

  /// Reads, by one statement or by several that need not agree.
  func read<Value: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Value
  ) async throws(StoreError) -> Value {
    try await run(isRetryable: true, body)
  }

  /// Writes by one statement, which is a transaction of its own.
  ///
  /// - Parameter isRetryable: whether it is idempotent.
  @discardableResult
  func write<Value: Sendable>(
    isRetryable: Bool, _ body: @escaping @Sendable (Connection) throws -> Value
  ) async throws(StoreError) -> Value {
    try await run(isRetryable: isRetryable, body)
  }

  /// Writes in one transaction, which also holds the changes that `body` leaves for other gateways.
  func write<Value: Sendable>(
    at now: Date, _ body: @escaping @Sendable (Connection, inout [StoreChange]) throws -> Value
  ) async throws(StoreError) -> Value {
    let notifier = notifier
    return try await run(isRetryable: false) { connection in
      var changes: [StoreChange] = []
      let value = try connection.transaction {
        changes = []
        let value = try body(connection, &changes)
        try ShardedSequence.write(changes, at: now, lane: .random(in: 0..<Int64(Tables.lanes)), in: connection)
        return value
      }
      if !changes.isEmpty { notifier?.notify() }
      return value
    }
  }
}

extension StoreCompatibility {
  fileprivate func note(_ condition: StoreCondition, of place: String) throws(StoreError) {
    try note(
      minimumReader: condition.minimumReader, isUnfinishedCopy: condition.isUnfinishedCopy, of: place)
  }
}

extension PostgreSQLSessionStore {
  /// One read of the index by last use; without sessions, of some accounts and bans.
  package func latestUse() async throws(StoreError) -> Date? {
    try await read { connection in
      try connection.run(
        """
        SELECT coalesce(
          (SELECT max(last_seen) FROM cordon.sessions),
          (SELECT max(moment) FROM (
            SELECT max(latest_authorization) AS moment
            FROM (SELECT latest_authorization FROM cordon.accounts LIMIT 1000) AS some_accounts
            UNION ALL SELECT max(since) FROM (SELECT since FROM cordon.bans LIMIT 1000) AS some_bans) AS moments))
        """
      ).first?.optionalDate(0)
    }
  }

  /// Counts `cordon.store.pings` up, reads from the two large tables, and at most once a minute checks the permissions
  /// on all of them. Works on a store of a newer schema, so as to report that.
  package func ping() async throws(StoreError) {
    try await runAnySchema { [self] connection in
      try requireCompatibility(with: StoreCondition(connection))
      try connection.run("UPDATE cordon.store SET pings = pings + 1 WHERE id = 1")
      // One table may be locked, or not be readable, while others are.
      try connection.run("SELECT (SELECT max(subject) FROM cordon.accounts), EXISTS (SELECT FROM cordon.sessions)")
      try requirePermissions(connection)
    }
  }

  /// Checks the permissions on all tables, at most once a minute; after a failure each time, so that the failure lasts
  /// for as long as its cause.
  private func requirePermissions(_ connection: Connection) throws {
    guard permissionsDue.withLock({ $0 }) <= ContinuousClock.now else { return }
    if let grants = try TablePermissions.missingGrants(connection) {
      throw StoreError.notPermitted(pool.address, grants: grants)
    }
    permissionsDue.withLock { $0 = ContinuousClock.now + Self.permissionsInterval }
  }

  /// Counts each table in full, by one statement and so at one moment. Takes as long as the tables are large.
  package func counts() async throws(StoreError) -> StoreCounts {
    try await read { connection in
      let row = try connection.run(
        """
        SELECT (SELECT count(*) FROM cordon.accounts), (SELECT count(*) FROM cordon.sessions),
          (SELECT count(*) FROM cordon.refresh_tokens), (SELECT count(*) FROM cordon.messages),
          (SELECT count(*) FROM cordon.bans), (SELECT count(*) FROM cordon.group_members),
          (SELECT count(*) FROM cordon.access_requests), (SELECT count(*) FROM cordon.invitations),
          (SELECT count(*) FROM cordon.machine_tokens)
        """
      ).first
      guard let row else { throw DamagedRowError(what: "counts", isOfStore: true) }
      return StoreCounts(
        accounts: try row.count(0), sessions: try row.count(1), refreshTokens: try row.count(2),
        messages: try row.count(3), bans: try row.count(4), groupMembers: try row.count(5),
        accessRequests: try row.count(6), invitations: try row.count(7), machineTokens: try row.count(8))
    }
  }
}
