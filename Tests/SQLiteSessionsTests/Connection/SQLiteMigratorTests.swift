import TemporaryDirectoryTesting
import Testing

@testable import SQLiteSessions

@Suite("Migrations")
struct SQLiteMigratorTests {
  private let folder: TemporaryDirectory
  private let database: Database

  init() throws {
    folder = try TemporaryDirectory()
    database = try RawDatabase.open(folder.file("test.db"))
  }

  private static let first = SQLiteMigration(identifier: "first") {
    try $0.execute(
      """
      CREATE TABLE parents (id INTEGER PRIMARY KEY) STRICT;
      CREATE TABLE children (parent INTEGER REFERENCES parents (id) ON DELETE CASCADE) STRICT;
      INSERT INTO parents VALUES (1);
      INSERT INTO children VALUES (1);
      """)
  }

  /// Leaves a child without its parent.
  private static func orphaning(_ checks: SQLiteMigration.ForeignKeyChecks) -> SQLiteMigration {
    SQLiteMigration(identifier: "orphaning", foreignKeyChecks: checks) { try $0.run("INSERT INTO children VALUES (7)") }
  }

  private func enforcesForeignKeys() throws -> Bool { try database.row("PRAGMA foreign_keys")?.integer(0) == 1 }

  @Test("The table in which migrations are recorded is the one of GRDB, byte for byte")
  func table() throws {
    try SQLiteMigrator(migrations: [Self.first]).migrate(database)
    let row = try database.row("SELECT sql FROM sqlite_master WHERE name = 'grdb_migrations'")
    #expect(try row?.text(0) == "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
    #expect(
      SQLiteMigrations.migrator.migrations.map(\.identifier) == [
        "1: accounts, sessions, tokens, marks, changes", "2: messages",
        "3: minimum reader, failing checks, Apple's time", "4: access",
        "5: prepared transfers",
      ])
  }

  @Test("Each migration is applied once, in order, and what a newer version has applied is left alone")
  func order() throws {
    let second = SQLiteMigration(identifier: "second", foreignKeyChecks: .immediate) {
      try $0.run("INSERT INTO parents VALUES (2)")
    }
    #expect(try SQLiteMigrator(migrations: []).appliedIdentifiers(database).isEmpty)
    for _ in 1...2 {
      try SQLiteMigrator(migrations: [Self.first]).migrate(database)
      #expect(try !SQLiteMigrator(migrations: [Self.first]).hasBeenSuperseded(database))
    }
    for _ in 1...2 { try SQLiteMigrator(migrations: [Self.first, second]).migrate(database) }
    #expect(try database.row("SELECT count(*) FROM parents")?.count(0) == 2)
    #expect(try SQLiteMigrator(migrations: [Self.first]).hasBeenSuperseded(database))
    #expect(try SQLiteMigrator(migrations: [Self.first]).appliedIdentifiers(database) == ["first", "second"])
    try SQLiteMigrator(migrations: [Self.first]).migrate(database)
    #expect(try enforcesForeignKeys())
  }

  @Test(
    "A migration that breaks a foreign key leaves nothing behind, and foreign keys are enforced afterwards",
    arguments: [SQLiteMigration.ForeignKeyChecks.immediate, .deferred])
  func brokenReferences(checks: SQLiteMigration.ForeignKeyChecks) throws {
    let migrator = SQLiteMigrator(migrations: [Self.first, Self.orphaning(checks)])
    for _ in 1...2 {
      let error = #expect(throws: SQLiteError.self) { try migrator.migrate(database) }
      #expect(error?.code == ResultCode.foreignKey)
      #expect(try migrator.appliedIdentifiers(database) == ["first"])
      #expect(try database.row("SELECT count(*) FROM children")?.count(0) == 1)
      #expect(try enforcesForeignKeys())
    }
  }

  @Test("A migration with deferred checks may replace a table that others refer to")
  func replacedTable() throws {
    let replacing = SQLiteMigration(identifier: "replacing") {
      try $0.execute(
        """
        CREATE TABLE copy (id INTEGER PRIMARY KEY, name TEXT) STRICT;
        INSERT INTO copy (id) SELECT id FROM parents;
        DROP TABLE parents;
        ALTER TABLE copy RENAME TO parents;
        """)
    }
    try SQLiteMigrator(migrations: [Self.first, replacing]).migrate(database)
    #expect(try database.row("SELECT count(*) FROM children JOIN parents ON id = parent")?.count(0) == 1)
    try database.run("DELETE FROM parents")
    #expect(try database.row("SELECT count(*) FROM children")?.count(0) == 0)
  }
}
