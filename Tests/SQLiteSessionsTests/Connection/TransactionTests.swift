import TemporaryDirectoryTesting
import Testing

@testable import SQLiteSessions

@Suite("Transactions of a connection")
struct TransactionTests {
  private let folder: TemporaryDirectory
  private let database: Database

  init() throws {
    folder = try TemporaryDirectory()
    database = try RawDatabase.open(folder.file("test.db"))
    _ = try database.row("PRAGMA journal_mode = WAL")
    try database.execute(
      """
      CREATE TABLE parents (id INTEGER PRIMARY KEY) STRICT;
      CREATE TABLE children (parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED) STRICT
      """)
  }

  private struct Refusal: Error {}

  private func parents() throws -> Int? { try database.row("SELECT count(*) FROM parents")?.count(0) }

  @Test("A body that throws undoes what it did, and its own error is the one that is thrown")
  func rollsBack() throws {
    for _ in 1...2 {
      var seen: Int?
      #expect(throws: Refusal.self) {
        try database.transaction(.immediate) {
          try database.run("INSERT INTO parents VALUES (1)")
          seen = try parents()
          throw Refusal()
        }
      }
      #expect(seen == 1)
      #expect(!database.isInTransaction)
      #expect(try parents() == 0)
    }
    let value = try database.transaction(.immediate) { try database.run("INSERT INTO parents VALUES (1)") }
    #expect(value == 1)
    #expect(try parents() == 1)
  }

  @Test("A commit that fails undoes everything, and the connection can be used again")
  func failedCommit() throws {
    for _ in 1...2 {
      let error = #expect(throws: SQLiteError.self) {
        try database.transaction(.immediate) {
          try database.run("INSERT INTO parents VALUES (1)")
          // Its parent is looked for at the commit only.
          try database.run("INSERT INTO children VALUES (77)")
        }
      }
      #expect(error?.code == ResultCode.foreignKey)
      #expect(!database.isInTransaction)
      #expect(try parents() == 0)
    }
    try database.transaction(.immediate) { try database.run("INSERT INTO parents VALUES (1)") }
    #expect(try parents() == 1)
  }

  @Test("A transaction that SQLite has undone after an error takes no further statements")
  func undoneBySQLite() throws {
    var refused: [Int32] = []
    let error = #expect(throws: SQLiteError.self) {
      try database.transaction(.immediate) {
        try database.run("INSERT INTO parents VALUES (1)")
        for sql in ["INSERT OR ROLLBACK INTO parents VALUES (1)", "INSERT INTO parents VALUES (2)"] {
          do { try database.execute(sql) } catch let error as SQLiteError { refused.append(error.primaryCode) }
        }
        try database.run("INSERT INTO parents VALUES (3)")
      }
    }
    #expect(refused == [ResultCode.constraint, ResultCode.abort])
    #expect(error?.code == ResultCode.abort)
    let swallowed = #expect(throws: SQLiteError.self) {
      try database.transaction(.immediate) {
        try database.run("INSERT INTO parents VALUES (1)")
        _ = try? database.run("INSERT OR ROLLBACK INTO parents VALUES (1)")
      }
    }
    #expect(swallowed?.code == ResultCode.abort)
    #expect(try parents() == 0)
    try database.transaction(.immediate) { try database.run("INSERT INTO parents VALUES (4)") }
    #expect(try parents() == 1)
  }

  @Test("A transaction that somebody left open is undone by the next one")
  func leftOpen() throws {
    try database.run("BEGIN IMMEDIATE")
    try database.run("INSERT INTO parents VALUES (1)")
    try database.transaction(.immediate) { try database.run("INSERT INTO parents VALUES (2)") }
    #expect(try database.rows("SELECT id FROM parents").map { try $0.integer(0) } == [2])
  }

  @Test("A transaction that writes takes the lock at its beginning, and one that reads takes none")
  func locks() throws {
    let other = try Database(path: folder.file("test.db"), access: .readWrite, busyTimeout: .zero)
    try database.transaction(.immediate) {
      let busy = #expect(throws: SQLiteError.self) { try other.transaction(.immediate) {} }
      #expect(busy?.primaryCode == ResultCode.busy)
      #expect(!other.isInTransaction)
      let seen = try other.transaction(.deferred) { try other.row("SELECT count(*) FROM parents")?.count(0) }
      #expect(seen == 0)
    }
    try database.transaction(.deferred) {
      #expect(try parents() == 0)
      try other.transaction(.immediate) { try other.run("INSERT INTO parents VALUES (1)") }
      #expect(try parents() == 0, "it sees the snapshot of its first statement")
    }
    #expect(try parents() == 1)
  }
}
