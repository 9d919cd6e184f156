import Sessions
import TemporaryDirectoryTesting
import Testing

@testable import SQLiteSessions

/// Names a long value by its length: the log of a test run has the arguments of each case.
extension SQLiteValue: CustomTestStringConvertible {
  var testDescription: String {
    switch self {
    case .text(let text) where text.utf8.count > 40: "text of \(text.utf8.count) bytes"
    case .bytes(let bytes) where bytes.count > 40: "\(bytes.count) bytes"
    default: "\(self)"
    }
  }
}

@Suite("Statements and their values")
struct DatabaseTests {
  private let folder: TemporaryDirectory
  private let database: Database

  init() throws {
    folder = try TemporaryDirectory()
    database = try RawDatabase.open(folder.file("test.db"))
    try database.execute("CREATE TABLE numbers (number INTEGER PRIMARY KEY) STRICT")
  }

  @Test(
    "A value comes back as it was bound",
    arguments: [
      .null, .integer(.min), .integer(-1), .integer(0), .integer(.max), .real(0.5), .text(""), .text("a\u{0}b"),
      .text("\u{0}"), .text("Grüße, \u{1F600}"), .text(String(repeating: "long", count: 100_000)), .bytes([]),
      .bytes([0]), .bytes([UInt8](0...255)), .bytes([UInt8](repeating: 7, count: 1_000_000)),
    ] as [SQLiteValue])
  func roundTrip(value: SQLiteValue) throws {
    try database.execute("CREATE TABLE kept (value ANY) STRICT")
    try database.run("INSERT INTO kept VALUES (?)", SQLiteArguments([value]))
    #expect(try database.row("SELECT value FROM kept")?.values == [value])
    #expect(try database.row("SELECT ?", SQLiteArguments([value]))?.values == [value])
  }

  @Test("A list of arguments holds numbers, text, bytes, and nil as NULL")
  func literals() throws {
    let (none, number): (String?, Int64?) = (nil, 3)
    let arguments: SQLiteArguments = [1, Int64(2), number, "text", [UInt8]("bytes".utf8), none, nil]
    #expect(
      arguments.values == [
        .integer(1), .integer(2), .integer(3), .text("text"), .bytes([UInt8]("bytes".utf8)), .null, .null,
      ])
    let row = try #require(try database.row("SELECT ?3, ?1, ?3, ?2", [1, "two", nil]))
    #expect(row.values == [.null, .integer(1), .null, .text("two")])
  }

  @Test("A column of another type than the one asked for is a damaged row")
  func wrongTypes() throws {
    let row = try #require(try database.row("SELECT 1, 'text', x'00', NULL, 1.0"))
    for column in [1, 2, 3, 4, 5, -1] {
      #expect(throws: DamagedRowError.self) { try row.integer(column) }
      #expect(throws: DamagedRowError.self) { try row.count(column) }
      #expect(throws: DamagedRowError.self) { try row.date(column) }
    }
    for column in [0, 2, 3, 4, 5, -1] { #expect(throws: DamagedRowError.self) { try row.text(column) } }
    for column in [0, 1, 3, 4, 5, -1] { #expect(throws: DamagedRowError.self) { try row.bytes(column) } }
    for column in [0, 2, 4, 5, -1] { #expect(throws: DamagedRowError.self) { try row.optionalText(column) } }
    for column in [1, 2, 4, 5, -1] { #expect(throws: DamagedRowError.self) { try row.optionalDate(column) } }
    for column in [5, -1] { #expect(throws: DamagedRowError.self) { try row.isNull(column) } }
    #expect(try row.optionalText(3) == nil && row.optionalDate(3) == nil && row.isNull(3))
  }

  @Test(
    "Text that is not UTF-8 cannot be read, and the columns and rows beside it can",
    arguments: ["ff", "c0af", "eda080", "f0908080c3"])
  func invalidText(bytes: String) throws {
    let rows = try database.rows("SELECT CAST(x'\(bytes)' AS TEXT), 1 UNION ALL SELECT 'text', 2")
    #expect(rows.map(\.values) == [[.malformedText, .integer(1)], [.text("text"), .integer(2)]])
    let row = try #require(rows.first)
    #expect(throws: DamagedRowError.self) { try row.text(0) }
    #expect(throws: DamagedRowError.self) { try row.optionalText(0) }
    #expect(throws: DamagedRowError.self) { try row.bytes(0) }
    #expect(try !row.isNull(0) && row.count(1) == 1)
    let error = #expect(throws: SQLiteError.self) { try database.rows("SELECT ?", SQLiteArguments([.malformedText])) }
    #expect(error?.code == ResultCode.mismatch)
  }

  @Test("A statement that failed in the middle is reset, and forgets its parameters")
  func resetAfterErrors() throws {
    // Fails at its third row.
    let sql = "SELECT abs(value) FROM (SELECT ?1 AS value UNION ALL SELECT 2 UNION ALL SELECT ?2)"
    for _ in 1...3 {
      let error = #expect(throws: SQLiteError.self) { try database.rows(sql, [1, Int64.min]) }
      #expect(error?.primaryCode == ResultCode.error && error?.message == "integer overflow")
      #expect(try database.rows(sql, [-1, -3]).map { try $0.integer(0) } == [1, 2, 3])
    }
    try database.run("INSERT INTO numbers VALUES (?)", [1])
    for _ in 1...2 {
      let error = #expect(throws: SQLiteError.self) { try database.run("INSERT INTO numbers VALUES (?)", [1]) }
      #expect(error?.code == ResultCode.primaryKey && error?.primaryCode == ResultCode.constraint)
    }
    #expect(try database.run("INSERT INTO numbers VALUES (?)", [2]) == 1)
    // No statement is left that would hold the file: another connection may write.
    try RawDatabase.execute("INSERT INTO numbers VALUES (3)", at: folder.file("test.db"))
    #expect(try database.row("SELECT count(*) FROM numbers")?.count(0) == 3)
  }

  @Test("A wrong number of parameters, several statements or none are refused, and nothing is carried out")
  func misuse() throws {
    for arguments in [[], [1, 2]] as [SQLiteArguments] {
      let error = #expect(throws: SQLiteError.self) { try database.run("INSERT INTO numbers VALUES (?)", arguments) }
      #expect(error?.code == ResultCode.misuse)
    }
    for sql in ["", " -- nothing", "INSERT INTO numbers VALUES (1); INSERT INTO numbers VALUES (2)"] {
      #expect(throws: SQLiteError.self) { try database.run(sql) }
    }
    #expect(throws: SQLiteError.self) { try database.run("INSERT INTO numbers VALUES (\"1\")") }
    #expect(try database.rows("SELECT number FROM numbers").isEmpty)
    #expect(try database.run(" INSERT INTO numbers VALUES (1) ;\n") == 1)
  }

  @Test("A script is carried out statement by statement, up to the first that fails")
  func scripts() throws {
    try database.execute(
      """
      INSERT INTO numbers VALUES (1); -- one; and
      ;
      INSERT INTO numbers VALUES (2)
      """)
    #expect(throws: SQLiteError.self) {
      try database.execute("INSERT INTO numbers VALUES (3); INSERT INTO numbers VALUES (3); DELETE FROM numbers")
    }
    #expect(try database.rows("SELECT number FROM numbers").map { try $0.integer(0) } == [1, 2, 3])
  }

  @Test("A statement with RETURNING is complete, also where only its first row is asked for")
  func returning() throws {
    try database.run("INSERT INTO numbers VALUES (1), (2), (3)")
    #expect(try database.row("DELETE FROM numbers WHERE number > ? RETURNING number", [1])?.integer(0) == 2)
    #expect(try database.rows("SELECT number FROM numbers").map { try $0.integer(0) } == [1])
  }

  @Test("A statement goes on where another connection has changed the schema")
  func schemaChanges() throws {
    #expect(try database.rows("SELECT * FROM numbers").isEmpty)
    try RawDatabase.execute(
      "ALTER TABLE numbers ADD COLUMN name TEXT; INSERT INTO numbers VALUES (1, 'one')", at: folder.file("test.db"))
    #expect(try database.row("SELECT * FROM numbers")?.values == [.integer(1), .text("one")])
  }

  @Test("A file that is missing is not created, and one that may only be read is not written")
  func access() throws {
    let missing = folder.file("missing.db")
    let error = #expect(throws: SQLiteError.self) {
      try Database(path: missing, access: .readWrite, busyTimeout: .zero)
    }
    #expect(error?.primaryCode == ResultCode.cannotOpen)
    #expect(error?.message.isEmpty == false)
    let reader = try Database(path: folder.file("test.db"), access: .readOnly, busyTimeout: .zero)
    let refused = #expect(throws: SQLiteError.self) { try reader.run("INSERT INTO numbers VALUES (1)") }
    #expect(refused?.primaryCode == ResultCode.readOnly)
    #expect(try reader.rows("SELECT * FROM numbers").isEmpty)
  }
}
