import Foundation
import Sessions
import TemporaryDirectoryTesting
import Testing

@testable import SQLiteSessions

@Suite("The database file", .timeLimit(.minutes(5)))
struct DatabaseFileTests {
  private func code(_ body: () async throws -> Void) async -> StoreError.Code? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? StoreError)?.code
    }
  }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test("A database file and its log are for one user alone, also if the file was open to others before")
  func isPrivate() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("cordon.db")
    let store = try SQLiteSessionStore(path: path)
    _ = try await store.complete(try signIn())
    for suffix in ["", "-wal", "-shm"] {
      #expect(try mode(path + suffix) == 0o600)
    }
    try await store.close()
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    let reopened = try SQLiteSessionStore(path: path)
    #expect(try mode(path) == 0o600)
    #expect(try await reopened.counts().sessions == 1)
  }

  @Test("A missing folder is named with the remedy, and is not created")
  func wantsItsFolder() async throws {
    let folder = try TemporaryDirectory()
    let error = #expect(throws: StoreError.self) {
      _ = try SQLiteSessionStore(path: folder.file("missing/cordon.db"))
    }
    #expect(error?.code == .missingDirectory)
    #expect(error?.fault == .operator)
    #expect(error?.message.contains(folder.file("missing")) == true)
    #expect(error?.message.contains("store.url") == true)
    #expect(!FileManager.default.fileExists(atPath: folder.file("missing")))
  }

  @Test("A store at a symbolic link is the file that the link leads to, which need not be there yet")
  func symbolicLink() async throws {
    let folder = try TemporaryDirectory()
    let (real, relative, absolute) = (folder.file("real.db"), folder.file("relative.db"), folder.file("absolute.db"))
    try FileManager.default.createSymbolicLink(atPath: relative, withDestinationPath: "real.db")
    try FileManager.default.createSymbolicLink(atPath: absolute, withDestinationPath: relative)
    for path in [relative, absolute, real] {
      let store = try SQLiteSessionStore(path: path)
      #expect(store.place == "SQLite at \(real)")
      #expect(store.isNew == (path == relative))
      _ = try await store.complete(try signIn())
      #expect(try await store.counts().sessions > 0)
      try await store.close()
    }
  }

  @Test("Looking for a store at a symbolic link looks for the file that the link leads to, and for a log beside that")
  func looksBehindLinks() async throws {
    let folder = try TemporaryDirectory()
    let (data, link, real) = (folder.file("data"), folder.file("cordon.db"), folder.file("data/cordon.db"))
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "data/cordon.db")
    let missing = #expect(throws: StoreError.self) { _ = try SQLiteSessionStore.existing(path: link) }
    #expect(missing?.code == .missingDirectory && missing?.message.contains(real) == true)
    try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: false)
    guard case .nothing(let place) = try SQLiteSessionStore.existing(path: link) else {
      Issue.record("there is no store")
      return
    }
    #expect(place == real && !FileManager.default.fileExists(atPath: real))

    try Data("log".utf8).write(to: URL(fileURLWithPath: real + "-wal"))
    let lost = #expect(throws: StoreError.self) { _ = try SQLiteSessionStore.existing(path: link) }
    #expect(lost?.code == .unavailable && lost?.message.contains("its log \(real)-wal is still there") == true)
    #expect(!FileManager.default.fileExists(atPath: real), "SQLite would delete the log")
    try FileManager.default.removeItem(atPath: real + "-wal")

    try await SQLiteSessionStore(path: real).close()
    guard case .store(let store) = try SQLiteSessionStore.existing(path: link) else {
      Issue.record("the store was not found")
      return
    }
    #expect(!store.isNew && store.place == "SQLite at \(real)")
    try await store.close()
  }

  @Test("A link that leads to itself is an error")
  func circularLink() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("cordon.db")
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "cordon.db")
    #expect(await code { _ = try SQLiteSessionStore(path: path) } != nil)
  }

  @Test("A store that is opened on a thread of its own is the same, and so are the errors")
  func opensElsewhere() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("cordon.db")
    let known = try await SQLiteSessionStore(path: path).complete(try signIn()).snapshot
    let store = try await SQLiteSessionStore.open(path: path)
    #expect(!store.isNew)
    #expect(try await store.find(known.session.handle) == known)
    #expect(await code { _ = try await SQLiteSessionStore.open(path: folder.path) } == .misconfigured)
  }

  @Test("A file that is not a database, or another program's, is refused and left as it was")
  func refusesForeignFiles() async throws {
    let folder = try TemporaryDirectory()
    let text = folder.file("text")
    try Data(String(repeating: "this is no database\n", count: 200).utf8).write(to: URL(fileURLWithPath: text))
    #expect(await code { _ = try SQLiteSessionStore(path: text) } == .corrupt)
    #expect(try Data(contentsOf: URL(fileURLWithPath: text)).count == 4_000)
    #expect(await code { _ = try SQLiteSessionStore(path: folder.path) } == .misconfigured)
    for identifier in [0, 77] {
      let path = folder.file("foreign-\(identifier)")
      let store = try SQLiteSessionStore(path: path)
      _ = try await store.complete(try signIn())
      try await store.write { try $0.run("PRAGMA application_id = \(identifier)") }
      try await store.close()
      #expect(await code { _ = try SQLiteSessionStore(path: path) } == .corrupt)
    }
  }

  @Test("A store that is made of an empty file is told from one whose file did not exist, and from one with a schema")
  func emptyFile() async throws {
    let folder = try TemporaryDirectory()
    let (missing, empty) = (folder.file("missing.db"), folder.file("empty.db"))
    try Data().write(to: URL(fileURLWithPath: empty))
    let stores = [try SQLiteSessionStore(path: missing), try SQLiteSessionStore(path: empty)]
    #expect(stores.map(\.isNew) == [true, true] && stores.map(\.wasEmptied) == [false, true])
    _ = try await stores[1].complete(try signIn())
    for store in stores { try await store.close() }
    let reopened = try SQLiteSessionStore(path: empty)
    #expect(!reopened.isNew && !reopened.wasEmptied)
    try await reopened.close()
  }

  @Test(
    "A store whose file is missing or empty beside its log is not made again, and is opened when the file is back",
    arguments: [true, false])
  func orphanedLog(isEmpty: Bool) async throws {
    let folder = try TemporaryDirectory()
    let (source, path) = (folder.file("source.db"), folder.file("cordon.db"))
    let store = try SQLiteSessionStore(path: source)
    let handle = try await store.complete(try signIn()).snapshot.session.handle
    // As a kill leaves it: the sign-in is in the log alone.
    try FileManager.default.copyItem(atPath: source + "-wal", toPath: path + "-wal")
    if isEmpty { try Data().write(to: URL(fileURLWithPath: path)) }
    let error = #expect(throws: StoreError.self) { _ = try SQLiteSessionStore(path: path) }
    #expect(error?.code == .unavailable, "it is retried")
    #expect(error?.message.contains("\(path)-wal is still there") == true)
    #expect(error?.message.contains("a backup, which the log would damage") == true, "SQLite applies it to any file")
    if isEmpty { try FileManager.default.removeItem(atPath: path) }
    try FileManager.default.copyItem(atPath: source, toPath: path)
    let written = Date(timeIntervalSince1970: 1_790_000_000)
    try FileManager.default.setAttributes([.modificationDate: written], ofItemAtPath: path)
    #expect(throws: StoreError.self, "it may be half of a copy") {
      _ = try DatabaseFile.prepare(path, at: 1_790_000_001)
    }
    let again = try SQLiteSessionStore(path: path)
    #expect(!again.isNew)
    #expect(try await again.find(handle) != nil)
    try await again.close()
    try await store.close()
  }

  @Test("Several processes may start on one fresh file at the same time")
  func startsTogether() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("cordon.db")
    let stores = try await withThrowingTaskGroup(of: SQLiteSessionStore.self) { group in
      for _ in 0..<8 { group.addTask { try SQLiteSessionStore(path: path) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    _ = try await stores[0].complete(try signIn())
    for store in stores { #expect(try await store.counts().sessions == 1) }
  }

  @Test("A file that another process is just making ours is not taken for one of another program")
  func looksWhileOthersCreate() async throws {
    let folder = try TemporaryDirectory()
    for number in 0..<100 {
      let path = folder.file("\(number).db")
      let creator = try RawDatabase.open(path)
      async let looks: Void = {
        let database = try RawDatabase.open(path)
        while try database.row("PRAGMA application_id")?.integer(0) != SQLiteMigrations.applicationID {
          for _ in 0..<20 { try SQLiteMigrations.requireOurs(database) }
          // If the creation fails, it has no end otherwise.
          try Task.checkCancellation()
        }
      }()
      try SQLiteMigrator(migrations: Array(SQLiteMigrations.migrator.migrations.prefix(1))).migrate(creator)
      try await looks
    }
  }

  @Test("A process that loses each migration to another one goes on after it, until all are applied")
  func goesOnBehindOthers() throws {
    let folder = try TemporaryDirectory()
    let database = try RawDatabase.open(folder.file("cordon.db"))
    let other = try RawDatabase.open(folder.file("cordon.db"))
    let migrations = SQLiteMigrations.migrator.migrations
    var lost = 0
    try SQLiteMigrations.bringUp(database) { database in
      guard lost < migrations.count - 1 else { return try SQLiteMigrations.migrator.migrate(database) }
      lost += 1
      try SQLiteMigrator(migrations: Array(migrations.prefix(lost))).migrate(other)
      throw SQLiteError(code: ResultCode.error, message: "table already exists")
    }
    #expect(lost == SQLiteMigrations.version - 1)
    #expect(try SQLiteMigrations.migrator.appliedIdentifiers(database) == Set(migrations.map(\.identifier)))
  }

  @Test("A migration that fails by itself is not tried again")
  func failsOnce() throws {
    let folder = try TemporaryDirectory()
    let database = try RawDatabase.open(folder.file("cordon.db"))
    var attempts = 0
    #expect(throws: SQLiteError.self) {
      try SQLiteMigrations.bringUp(database) { _ in
        attempts += 1
        throw SQLiteError(code: ResultCode.full, message: "the disk is full")
      }
    }
    #expect(attempts == 1)
  }

  @Test("A file that was deleted or replaced under the store fails the ping, every write and the change feed")
  func noticesDeletion() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("cordon.db")
    let store = try SQLiteSessionStore(path: path)
    try await store.ping()
    let signedIn = try await store.complete(try signIn()).snapshot
    try FileManager.default.removeItem(atPath: path)
    #expect(await code { try await store.ping() } == .unavailable)
    #expect(await code { _ = try await store.complete(try signIn()) } == .unavailable)
    #expect(await code { _ = try await store.changes(since: nil, limit: 10) } == .unavailable)
    #expect(await store.mayHaveChanged)
    #expect(try await store.find(signedIn.session.handle) != nil, "what is there can be read on")
    let error = await #expect(throws: StoreError.self) { try await store.ping() }
    #expect(error?.message.contains("remove \(path)-wal and \(path)-shm") == true, "they would undo a restoration")
    try Data().write(to: URL(fileURLWithPath: path))
    #expect(await code { try await store.ping() } == .unavailable)
    #expect(await code { _ = try await store.complete(try signIn()) } == .unavailable)
    #expect(await code { _ = try await store.changes(since: nil, limit: 10) } == .unavailable)
  }

  @Test("A file that was moved away and back fails the change feed meanwhile only")
  func movedAwayAndBack() async throws {
    let folder = try TemporaryDirectory()
    let (path, aside) = (folder.file("cordon.db"), folder.file("aside.db"))
    let store = try SQLiteSessionStore(path: path)
    let before = try await store.changes(since: nil, limit: 10).cursor
    let handle = try await store.complete(try signIn()).snapshot.session.handle
    try await store.end(.one(handle), because: .signedOut, at: noon)
    try FileManager.default.moveItem(atPath: path, toPath: aside)
    #expect(await code { _ = try await store.changes(since: before, limit: 10) } == .unavailable)
    try FileManager.default.moveItem(atPath: aside, toPath: path)
    #expect(try await !store.changes(since: before, limit: 10).changes.isEmpty)
  }

  @Test("A folder that cannot be entered is not taken for a deleted store, which goes on when it can be entered again")
  func unreachableFolder() async throws {
    let folder = try TemporaryDirectory()
    let (data, aside) = (folder.file("data"), folder.file("aside"))
    try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: false)
    let store = try SQLiteSessionStore(path: data + "/cordon.db")
    try await store.ping()
    try FileManager.default.moveItem(atPath: data, toPath: aside)
    // As root, which may enter every folder: a link to itself.
    try FileManager.default.createSymbolicLink(atPath: data, withDestinationPath: data)
    let error = await #expect(throws: StoreError.self) { try await store.ping() }
    #expect(error?.code == .unavailable && error?.message.contains("cannot be reached") == true)
    try FileManager.default.removeItem(atPath: data)
    try FileManager.default.moveItem(atPath: aside, toPath: data)
    try await store.ping()
  }

  @Test(
    "A log that was deleted or replaced under the store fails writes and the feed, and closing keeps what is in it",
    arguments: ["-wal", "-shm"], [true, false])
  func noticesDeletionOfLog(suffix: String, isReplaced: Bool) async throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("cordon.db")
    let store = try SQLiteSessionStore(path: path)
    let signedIn = try await store.complete(try signIn()).snapshot
    try await store.ping()
    try FileManager.default.removeItem(atPath: path + suffix)
    if isReplaced { try Data().write(to: URL(fileURLWithPath: path + suffix)) }
    #expect(await code { try await store.ping() } == .unavailable)
    #expect(await code { _ = try await store.complete(try signIn()) } == .unavailable)
    #expect(await code { _ = try await store.changes(since: nil, limit: 10) } == .unavailable)
    #expect(try await store.find(signedIn.session.handle) != nil, "what is there can be read on")
    try await store.close()
    let again = try SQLiteSessionStore(path: path)
    #expect(try await again.find(signedIn.session.handle) != nil)
    try await again.ping()
  }

  @Test("Acknowledged changes are in the files at once: copies of them, as a kill would leave them, hold them")
  func survivesKills() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("cordon.db")
    let store = try SQLiteSessionStore(path: path)
    for number in 0..<10 {
      let handle = try await store.complete(try signIn()).snapshot.session.handle
      let kept = try await store.complete(try signIn()).snapshot.session.handle
      try await store.end(.one(handle), because: .signedOut, at: noon)
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: path + suffix, toPath: folder.file("copy-\(number)\(suffix)"))
      }
      let copy = try SQLiteSessionStore(path: folder.file("copy-\(number)"))
      #expect(try await copy.find(handle) == nil)
      #expect(try await copy.find(kept) != nil)
    }
  }

  @Test("Every commit is on the disk before it is acknowledged")
  func synchronizesFully() async throws {
    let folder = try TemporaryDirectory()
    let store = try SQLiteSessionStore(path: folder.file("cordon.db"))
    let (synchronous, journal, foreignKeys) = try await store.write { database in
      (
        try database.row("PRAGMA synchronous")?.integer(0), try database.row("PRAGMA journal_mode")?.text(0),
        try database.row("PRAGMA foreign_keys")?.integer(0)
      )
    }
    #expect(synchronous == 2)
    #expect(journal == "wal")
    #expect(foreignKeys == 1)
  }

  @Test("The folder of a file is found, of one without a folder in its path and of one at the root, too")
  func folders() throws {
    #expect(FolderOwner.folder(of: "cordon.db") == ".")
    #expect(FolderOwner.folder(of: "/cordon.db") == "/")
    #expect(FolderOwner.folder(of: "data/cordon.db") == "data")
    #expect(FolderOwner(of: "/proc/self/status")?.isRoot == (geteuid() == 0))
    let folder = try TemporaryDirectory()
    #expect(FolderOwner(of: folder.file("missing/cordon.db")) == nil)
    let link = folder.file("cordon.db")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/proc/self/status")
    #expect(FolderOwner(of: link)?.folder == "/proc/self", "of the file, not of the link")
  }
}
