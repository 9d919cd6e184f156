import CSQLite

/// A step of the schema. It is applied at most once to a file, in one transaction.
struct SQLiteMigration: Sendable {
  /// The enforcement of foreign keys.
  enum ForeignKeyChecks {
    /// Each statement is checked.
    case immediate
    /// The whole file is checked before the commit: tables may be replaced meanwhile (sqlite.org/lang_altertable.html,
    /// section 7).
    case deferred
  }

  /// The name under which the file records it. Never changed.
  let identifier: String
  var foreignKeyChecks = ForeignKeyChecks.deferred
  let body: @Sendable (Database) throws -> Void

  /// Applies it and records it.
  fileprivate func apply(to database: Database) throws {
    switch foreignKeyChecks {
    case .immediate: try database.transaction(.immediate) { try change(database) }
    case .deferred:
      // Without effect within a transaction.
      try database.execute("PRAGMA foreign_keys = OFF")
      let result = Result {
        try database.transaction(.immediate) {
          try change(database)
          try Self.requireForeignKeys(database)
        }
      }
      try database.execute("PRAGMA foreign_keys = ON")
      try result.get()
    }
  }

  private func change(_ database: Database) throws {
    try body(database)
    try database.run("INSERT INTO grdb_migrations (identifier) VALUES (?)", [identifier])
  }

  private static func requireForeignKeys(_ database: Database) throws {
    guard let violation = try database.row("PRAGMA foreign_key_check") else { return }
    throw SQLiteError(
      code: cordon_SQLITE_CONSTRAINT_FOREIGNKEY, message: "a row of \(try violation.text(0)) refers to none")
  }
}

/// The steps of the schema in their order, and which of them a file has. They are recorded in the table that GRDB, with
/// which earlier versions of cordon were built, has for it.
struct SQLiteMigrator: Sendable {
  let migrations: [SQLiteMigration]

  /// Applies what was not applied yet.
  func migrate(_ database: Database) throws {
    try database.execute("CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
    let applied = try appliedIdentifiers(database)
    for migration in migrations where !applied.contains(migration.identifier) {
      try migration.apply(to: database)
    }
  }

  /// The migrations that were applied to a file, also those of a newer version.
  func appliedIdentifiers(_ database: Database) throws -> Set<String> {
    let table = try database.row("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'grdb_migrations'")
    guard table != nil else { return [] }
    return Set(try database.rows("SELECT identifier FROM grdb_migrations").map { try $0.text(0) })
  }

  /// Whether a newer version has migrated the file.
  func hasBeenSuperseded(_ database: Database) throws -> Bool {
    try !appliedIdentifiers(database).isSubset(of: migrations.map(\.identifier))
  }
}
