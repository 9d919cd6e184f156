import Sessions

/// Migrates the database to the schema of this program; a newer schema stays as it is. Any number of gateways may do so
/// at once: the row that holds the version is locked while the tables are made, because every engine of this protocol
/// has row locks.
struct PostgreSQLMigrations {
  private let connection: Connection
  private let address: ServerAddress

  /// The time limit of one statement of a migration: it may have to read whole tables.
  private static let limit = Duration.seconds(600)
  /// The longest wait for the lock of a table, behind which everything else waits that uses the table. Shorter than the
  /// time limit of a statement, so that what running gateways do is delayed and does not fail; longer than the
  /// `deadlock_timeout` of one second after which the server cancels a vacuum that is in the way.
  private static let lockLimit = Duration.seconds(2)
  /// The number of attempts if other processes migrate at the same time.
  private static let mostAttempts = 50

  init(_ connection: Connection, at address: ServerAddress) {
    self.connection = connection
    self.address = address
  }

  /// - Returns: whether the database had no schema.
  /// - Throws: `StoreError` with the remedy if the database is not in UTF-8, or may not be changed by us.
  func migrate() throws -> Bool {
    try requireEncoding()
    var attempt = 1
    var isNew = false
    while true {
      do {
        let version = try knownVersion()
        if let version, version >= Tables.versions.count { return isNew }
        if version == nil {
          try makeVersionTable()
          isNew = true
        }
        try step()
      } catch let failure as DatabaseError where failure.isCreatedConcurrently && attempt < Self.mostAttempts {
        attempt += 1
        connection.pause(milliseconds: .random(in: 10...100))
      }
    }
  }

  /// Nil if there is no store yet.
  func knownVersion() throws -> Int? {
    do {
      return try connection.run("SELECT version FROM cordon.schema_version WHERE id = 1").first?.count(0)
    } catch DatabaseError.refused(let state, _) where ["42P01", "3F000"].contains(state.text) {
      return nil
    }
  }

  private func makeVersionTable() throws {
    // Making a schema wants a right that a user who was given one does not need.
    let exists = try connection.run("SELECT 1 FROM information_schema.schemata WHERE schema_name = 'cordon'").first
    if exists == nil { try connection.run("CREATE SCHEMA IF NOT EXISTS cordon") }
    try connection.run(
      """
      CREATE TABLE IF NOT EXISTS cordon.schema_version (id bigint PRIMARY KEY CHECK (id = 1), version bigint NOT NULL)
      """)
    try connection.run(
      "INSERT INTO cordon.schema_version (id, version) VALUES (1, 0) ON CONFLICT (id) DO NOTHING")
  }

  /// Migrates from the present version to the next.
  /// - Throws: `StoreError.Code.busy` if a long transaction keeps a table from being changed. Nothing is changed then.
  private func step() throws {
    try connection.transaction {
      try connection.run("SELECT set_config('statement_timeout', '0', true)")
      let row = try connection.run(
        "SELECT version FROM cordon.schema_version WHERE id = 1 FOR UPDATE", limit: Self.limit
      ).first
      // The process that had the lock before may have done it.
      guard let version = try row?.count(0), version < Tables.versions.count else { return }
      // Only now: the row is waited for, for as long as another process migrates.
      try connection.run(
        "SELECT set_config('lock_timeout', $1, true)", [.text(String(Self.lockLimit.milliseconds))])
      do {
        for statement in Tables.versions[version] { try connection.run(statement, limit: Self.limit) }
      } catch DatabaseError.refused(let state, let message) where state == .lockNotAvailable {
        throw StoreError.tablesInUse(address, message)
      }
      if version == 0 { try fill() }
      if version == 3 { try makeAccessKey() }
      try connection.run(
        "UPDATE cordon.schema_version SET version = $1 WHERE id = 1", [.integer(Int64(version) + 1)])
    }
  }

  private func fill() throws {
    var generator = SystemRandomNumberGenerator()
    try connection.run(
      "INSERT INTO cordon.store (id, identity, pings) VALUES (1, $1, 0) ON CONFLICT (id) DO NOTHING",
      [.text(String(generator.next() as UInt64, radix: 16))])
    try connection.run(
      """
      INSERT INTO cordon.change_lanes (lane, last, forgotten, written) SELECT lane, 0, 0, 0 FROM unnest($1) AS lane
      ON CONFLICT (lane) DO NOTHING
      """, [.integers((0..<Int64(Tables.lanes)).map { $0 })])
  }

  /// Version 4.
  private func makeAccessKey() throws {
    try connection.run(
      """
      UPDATE cordon.store SET access_key = coalesce(access_key, $1), minimum_reader = greatest(minimum_reader, 4)
      WHERE id = 1
      """, [.bytes(StoreKey.random().exposedBytes)])
  }

  private func requireEncoding() throws {
    let encoding = try connection.run("SELECT current_setting('server_encoding')").first?.text(0) ?? ""
    guard ["UTF8", "UTF-8", "SQL_ASCII"].contains(encoding.uppercased()) else {
      throw StoreError(
        code: .denied,
        message:
          "\(address) keeps text as \(encoding), which has no room for every name; make a database for cordon with "
          + "ENCODING 'UTF8' TEMPLATE template0")
    }
  }
}

extension DatabaseError {
  /// The error when two processes create the same thing at once, though each says IF NOT EXISTS: the later one finds
  /// it made when it tries again.
  fileprivate var isCreatedConcurrently: Bool {
    guard case .refused(let state, _) = self else { return false }
    return isCollision || ["23505", "42P06", "42P07", "42710", "XX000"].contains(state.text)
  }
}
