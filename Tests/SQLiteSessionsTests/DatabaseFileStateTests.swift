import Foundation
import Sessions
import TemporaryDirectoryTesting
import Testing

@testable import SQLiteSessions

@Suite("The state of the database's file")
struct DatabaseFileStateTests {
  /// Reads changes until the store says that nothing has changed: the files' times must be a moment old.
  private func settle(_ store: SQLiteSessionStore) async throws {
    let deadline = ContinuousClock.now + .seconds(300)
    _ = try await store.changes(since: nil, limit: 10)
    while await store.mayHaveChanged {
      guard ContinuousClock.now < deadline else { throw NeverSettled() }
      // Other tests are to have the processor meanwhile.
      try await Task.sleep(for: .milliseconds(50))
      _ = try await store.changes(since: nil, limit: 10)
    }
  }

  private struct NeverSettled: Error {}

  @Test("A store whose changes were not read may have changed")
  func unread() async throws {
    let folder = try TemporaryDirectory()
    let store = try SQLiteSessionStore(path: folder.file("cordon.db"))
    #expect(await store.mayHaveChanged)
  }

  /// A store that the system gives events for, or one without.
  private func open(_ path: String, isWatched: Bool) throws -> SQLiteSessionStore {
    try SQLiteSessionStore(path: path, busyTimeout: SQLiteSessionStore.busyTimeout, isWatched: isWatched)
  }

  @Test("A commit is noticed at once, whichever process made it", arguments: [true, false])
  func commit(isWatched: Bool) async throws {
    let folder = try TemporaryDirectory()
    let store = try open(folder.file("cordon.db"), isWatched: isWatched)
    let other = try SQLiteSessionStore(path: folder.file("cordon.db"))
    for writer in [other, store] {
      try await settle(store)
      #expect(await !store.mayHaveChanged)
      _ = try await writer.complete(try signIn("user\(writer === store ? 1 : 2)"))
      #expect(await store.mayHaveChanged)
      // It is so until the changes are read.
      #expect(await store.mayHaveChanged)
    }
  }

  @Test("A log that was moved into the file, and a file that is gone, are noticed", arguments: [true, false])
  func replaced(isWatched: Bool) async throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("cordon.db")
    let store = try open(path, isWatched: isWatched)
    _ = try await store.complete(try signIn())
    try await settle(store)
    try RawDatabase.execute("PRAGMA wal_checkpoint(TRUNCATE)", at: path)
    #expect(await store.mayHaveChanged)
    try await settle(store)
    try FileManager.default.removeItem(atPath: path)
    #expect(await store.mayHaveChanged)
  }

  @Test("A store is read again when the system has an event of its files, which are not looked at before")
  func looksAfterEvents() async throws {
    let folder = try TemporaryDirectory()
    let (place, away) = (folder.file("store"), folder.file("away"))
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
    let store = try SQLiteSessionStore(path: place + "/cordon.db")
    let other = try SQLiteSessionStore(path: place + "/cordon.db")
    try await settle(store)
    // A look would not find them.
    try FileManager.default.moveItem(atPath: place, toPath: away)
    #expect(await !store.mayHaveChanged)
    try FileManager.default.moveItem(atPath: away, toPath: place)
    #expect(await !store.mayHaveChanged)
    _ = try await other.complete(try signIn())
    try FileManager.default.moveItem(atPath: place, toPath: away)
    #expect(await store.mayHaveChanged)
    try FileManager.default.moveItem(atPath: away, toPath: place)
    try await settle(store)
    #expect(await !store.mayHaveChanged)
  }
}
