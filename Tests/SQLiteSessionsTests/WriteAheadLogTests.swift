import TemporaryDirectoryTesting
import Testing

@testable import SQLiteSessions

@Suite("The write-ahead log")
struct WriteAheadLogTests {
  @Test("While a program keeps a transaction open the log grows, which is seen, and it shrinks when that has ended")
  func openTransaction() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("cordon.db")
    let store = try SQLiteSessionStore(path: path)
    #expect(store.logBytes == nil, "nobody has looked yet")
    try await store.ping()
    let small = try #require(store.logBytes)
    #expect(small < SQLiteSessionStore.restingLogBytes)
    let reader = try RawDatabase.open(path)
    try reader.execute("BEGIN; SELECT count(*) FROM accounts")
    try await store.write { try $0.execute("CREATE TABLE filler (bytes BLOB)") }
    for _ in 0..<5 { try await store.write { try $0.run("INSERT INTO filler VALUES (zeroblob(8388608))") } }
    try await store.ping()
    let grown = try #require(store.logBytes)
    #expect(grown > 40 << 20)
    try reader.execute("COMMIT")
    // One commit moves the log into the file, and the next begins it again.
    for _ in 0..<2 { try await store.ping() }
    let shrunk = try #require(store.logBytes)
    #expect(shrunk <= SQLiteSessionStore.restingLogBytes)
    try await store.close()
  }
}
