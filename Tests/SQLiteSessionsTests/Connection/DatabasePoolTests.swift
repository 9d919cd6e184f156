import Dispatch
import Foundation
import Synchronization
import TemporaryDirectoryTesting
import Testing
import WaitingTesting

@testable import SQLiteSessions

@Suite("The connections to one file", .timeLimit(.minutes(5)))
struct DatabasePoolTests {
  private let folder: TemporaryDirectory
  private var path: String { folder.file("test.db") }

  init() throws {
    folder = try TemporaryDirectory()
    let database = try RawDatabase.open(path)
    _ = try database.row("PRAGMA journal_mode = WAL")
    try database.execute("CREATE TABLE numbers (number INTEGER PRIMARY KEY) STRICT")
  }

  private func pool(
    readers: Int = 2, busyTimeout: Duration = .seconds(5), lockTimeout: Duration = .seconds(5),
    answerLimit: Duration? = nil
  ) throws -> DatabasePool {
    let path = path
    let writer = try Database(path: path, access: .readWrite, busyTimeout: busyTimeout)
    return DatabasePool(writer: writer, readers: readers, lockTimeout: lockTimeout, answerLimit: answerLimit) {
      try Database(path: path, access: .readOnly, busyTimeout: .seconds(5))
    }
  }

  private static func count(_ database: Database) throws -> Int? {
    try database.row("SELECT count(*) FROM numbers")?.count(0)
  }

  /// A number that several threads change.
  private final class Counter: Sendable {
    private let counts = Mutex((now: 0, most: 0))

    var now: Int { counts.withLock { $0.now } }
    var most: Int { counts.withLock { $0.most } }

    @discardableResult
    func add(_ number: Int) -> Int {
      counts.withLock { counts in
        counts.now += number
        counts.most = max(counts.most, counts.now)
        return counts.now
      }
    }
  }

  /// Work that has begun and goes on when the test says so.
  private final class Hold: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let entered = AsyncStream.makeStream(of: Void.self)

    func enter() {
      entered.continuation.finish()
      semaphore.wait()
    }

    func begun() async { for await _ in entered.stream {} }

    func release() { semaphore.signal() }
  }

  @Test("A body that throws writes nothing, and its error is thrown")
  func failedWrite() async throws {
    struct Refusal: Error {}
    let pool = try pool()
    await #expect(throws: Refusal.self) {
      try await pool.write { database in
        try database.run("INSERT INTO numbers VALUES (1)")
        throw Refusal()
      }
    }
    #expect(try await pool.read { try Self.count($0) } == 0)
    #expect(try await pool.write { try $0.run("INSERT INTO numbers VALUES (1)") } == 1)
    #expect(try await pool.read { try Self.count($0) } == 1)
  }

  @Test("A body that reads sees one snapshot, whatever is written meanwhile")
  func snapshot() async throws {
    let pool = try pool()
    let hold = Hold()
    async let counts = pool.read { database in
      let before = try Self.count(database)
      hold.enter()
      return [before, try Self.count(database)]
    }
    await hold.begun()
    try await pool.write { _ = try $0.run("INSERT INTO numbers VALUES (1)") }
    #expect(try await pool.read { try Self.count($0) } == 1)
    hold.release()
    #expect(try await counts == [0, 0])
  }

  @Test("A connection that reads cannot write")
  func readersDoNotWrite() async throws {
    let pool = try pool()
    for sql in ["INSERT INTO numbers VALUES (1)", "DROP TABLE numbers", "PRAGMA user_version = 7"] {
      let error = await #expect(throws: SQLiteError.self) { try await pool.read { try $0.run(sql) } }
      #expect(error?.primaryCode == ResultCode.readOnly)
    }
    #expect(try await pool.read { try Self.count($0) } == 0)
  }

  @Test("Readers see what was written before them, also with a log that was removed in the meantime")
  func removedLog() async throws {
    let first = try pool()
    try await first.write { _ = try $0.run("INSERT INTO numbers VALUES (1)") }
    try await first.close()
    #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    #expect(!FileManager.default.fileExists(atPath: path + "-shm"))
    let second = try pool()
    #expect(try await second.read { try Self.count($0) } == 1)
    try await second.write { _ = try $0.run("INSERT INTO numbers VALUES (2)") }
    #expect(try await second.read { try Self.count($0) } == 2)
  }

  @Test("A thousand operations at once are all carried out, by no more readers than there are")
  func thousandOperations() async throws {
    let pool = try pool(readers: 3)
    let reading = Counter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<1_000 {
        group.addTask {
          if number % 4 == 0 {
            try await pool.write { _ = try $0.run("INSERT INTO numbers VALUES (?)", [number]) }
            return
          }
          try await pool.read { database in
            reading.add(1)
            defer { reading.add(-1) }
            let before = try Self.count(database)
            #expect(try database.rows("SELECT number FROM numbers").count == before)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(reading.now == 0 && reading.most <= 3)
    #expect(try await pool.read { try Self.count($0) } == 250)
    try await pool.close()
    #expect(try Self.count(RawDatabase.open(path)) == 250)
  }

  @Test("Closing waits for what is under way and in line, moves the log into the file, and refuses what comes later")
  func closing() async throws {
    let pool = try pool(readers: 2)
    let (reading, writing) = (Hold(), Hold())
    async let read = pool.read { database in
      reading.enter()
      return try Self.count(database)
    }
    async let write = pool.write { database in
      writing.enter()
      return try database.run("INSERT INTO numbers VALUES (0)")
    }
    await reading.begun()
    await writing.begun()
    let inLine = (1...20).map { number in
      Task { try await pool.write { try $0.run("INSERT INTO numbers VALUES (?)", [number]) } }
    }
    let ended = Counter()
    let closing = Task {
      try await pool.close()
      ended.add(1)
    }
    await #expect(throws: DatabasePool.ClosedError.self) {
      while true { _ = try await pool.read { try Self.count($0) } }
    }
    #expect(ended.now == 0)
    reading.release()
    #expect(try await read == 0)
    #expect(ended.now == 0)
    writing.release()
    #expect(try await write == 1)
    var written = 1
    for task in inLine {
      switch await task.result {
      case .success(let changed): written += changed
      case .failure(let error): #expect(error is DatabasePool.ClosedError)
      }
    }
    try await closing.value
    await #expect(throws: DatabasePool.ClosedError.self) { try await pool.read { try Self.count($0) } }
    await #expect(throws: DatabasePool.ClosedError.self) { try await pool.write { try Self.count($0) } }
    try await pool.close()
    #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    #expect(try Self.count(RawDatabase.open(path)) == written)
  }

  @Test("An operation that has begun is finished, also where its caller is cancelled")
  func cancellation() async throws {
    let pool = try pool()
    let hold = Hold()
    let caller = Task {
      try await pool.write { database in
        hold.enter()
        return try database.run("INSERT INTO numbers VALUES (1)")
      }
    }
    await hold.begun()
    caller.cancel()
    hold.release()
    #expect(try await caller.value == 1)
    #expect(try await pool.read { try Self.count($0) } == 1)
  }

  @Test("A write that does not return is given up, and so are those behind it, of which none is carried out")
  func hungWriter() async throws {
    let pool = try pool(answerLimit: .seconds(5))
    let hold = Hold()
    defer { hold.release() }
    let stuck = Task {
      try await pool.write { database in
        hold.enter()
        return try database.run("INSERT INTO numbers VALUES (1)")
      }
    }
    await hold.begun()
    let behind = Task { try await pool.write { try $0.run("INSERT INTO numbers VALUES (2)") } }
    for task in [stuck, behind] {
      await #expect(throws: ConnectionGroup.NoAnswerError.self) { try await task.value }
    }
    await #expect(throws: ConnectionGroup.NoAnswerError.self, "refused at once from then on") {
      try await pool.write { try $0.run("INSERT INTO numbers VALUES (3)") }
    }
    #expect(try await pool.read { try Self.count($0) } == 0, "reads go on")
    hold.release()
    try await eventually("a write") {
      (try? await pool.write { try $0.run("INSERT INTO numbers VALUES (4)") }) != nil
    }
    let numbers = try await pool.read { database in
      try database.rows("SELECT number FROM numbers ORDER BY number").map { try $0.count(0) }
    }
    #expect(numbers == [1, 4], "what had begun is finished")
  }

  private static func look(_ pool: DatabasePool) async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      pool.look {
        1
      } then: {
        continuation.resume(with: $0)
      }
    }
  }

  @Test("Reads are refused at once while no connection answers, and go on as soon as one does")
  func hungReaders() async throws {
    let pool = try pool(readers: 2, answerLimit: .seconds(5))
    let holds = [Hold(), Hold()]
    defer { for hold in holds { hold.release() } }
    let stuck = holds.map { hold in
      Task {
        try await pool.read { database in
          hold.enter()
          return try Self.count(database)
        }
      }
    }
    for hold in holds { await hold.begun() }
    let waiting = Task { try await pool.read { try Self.count($0) } }
    for task in stuck + [waiting] {
      await #expect(throws: ConnectionGroup.NoAnswerError.self) { try await task.value }
    }
    await #expect(throws: ConnectionGroup.NoAnswerError.self) { try await Self.look(pool) }
    #expect(try await pool.write { try $0.run("INSERT INTO numbers VALUES (1)") } == 1, "writes go on")
    holds[1].release()
    try await eventually("a read") { (try? await Self.look(pool)) != nil }
    #expect(try await pool.read { try Self.count($0) } == 1)
  }

  @Test("Reads that follow each other have one connection, however soon the next one comes")
  func warmReader() async throws {
    let path = path
    let opened = Counter()
    let pool = DatabasePool(
      writer: try RawDatabase.open(path), readers: 4, lockTimeout: .seconds(5), answerLimit: nil
    ) {
      opened.add(1)
      return try Database(path: path, access: .readOnly, busyTimeout: .seconds(5))
    }
    for _ in 1...2_000 { #expect(try await pool.read { try Self.count($0) } == 0) }
    #expect(opened.now == 1)
  }

  @Test("A reader that cannot be opened fails its operation, and the next one tries again")
  func failedOpening() async throws {
    let path = path
    let attempts = Counter()
    let pool = DatabasePool(
      writer: try RawDatabase.open(path), readers: 1, lockTimeout: .seconds(5), answerLimit: nil
    ) {
      guard attempts.add(1) > 1 else { throw SQLiteError(code: ResultCode.cannotOpen, message: "not yet") }
      return try Database(path: path, access: .readOnly, busyTimeout: .seconds(5))
    }
    await #expect(throws: SQLiteError.self) { try await pool.read { try Self.count($0) } }
    for _ in 1...3 { #expect(try await pool.read { try Self.count($0) } == 0) }
    #expect(attempts.now == 2)
  }

  @Test("A pool that nobody closed closes its connections when nothing refers to it")
  func withoutClosing() async throws {
    for number in 1...3 {
      let pool = try pool()
      try await pool.write { _ = try $0.run("INSERT INTO numbers VALUES (?)", [number]) }
      #expect(try await pool.read { try Self.count($0) } == number)
    }
    // The dispatch queue lets go of its last job a moment after the caller hears of it.
    try await eventually("the end of the last connection") { !FileManager.default.fileExists(atPath: path + "-wal") }
  }

  @Test("A write that the lock of another process refused refuses those in line behind it, and none that comes later")
  func locked() async throws {
    let other = try RawDatabase.open(path)
    // Every write behind has waited for longer than this.
    let pool = try pool(busyTimeout: .milliseconds(1), lockTimeout: .zero)
    try other.execute("BEGIN IMMEDIATE")
    let refusals = await withTaskGroup(of: Int32?.self) { group in
      for number in 1...20 { group.addTask { await self.refusal(of: number, pool) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(refusals.allSatisfy { $0 == ResultCode.busy })
    try other.execute("ROLLBACK")
    #expect(await refusal(of: 1, pool) == nil)
    #expect(try other.row("SELECT count(*) FROM numbers")?.count(0) == 1)
    try await pool.close()
  }

  private func refusal(of number: Int, _ pool: DatabasePool) async -> Int32? {
    do {
      try await pool.write { _ = try $0.run("INSERT INTO numbers VALUES (?)", [number]) }
      return nil
    } catch {
      return (error as? SQLiteError)?.primaryCode
    }
  }
}

@Suite("Writes behind one that waited in vain for a lock")
struct LockRefusalTests {
  // The clock that stands still while the machine sleeps: then nobody has waited.
  private let start = SuspendingClock.now

  private func after(_ seconds: Int) -> SuspendingClock.Instant { start + .seconds(seconds) }

  private func refusals(at seconds: Int) -> LockRefusals {
    var refusals = LockRefusals(lockTimeout: .seconds(5))
    refusals.note(wasLocked: true, at: after(seconds))
    return refusals
  }

  @Test("No write is refused before one has waited in vain for the lock, however long it has waited")
  func none() {
    #expect(!LockRefusals(lockTimeout: .seconds(5)).refuses(accepted: start, at: after(60)))
  }

  @Test("Writes that have waited as long as a refused one are refused with it")
  func behind() {
    #expect(refusals(at: 6).refuses(accepted: after(1), at: after(6)))
    #expect(!refusals(at: 6).refuses(accepted: after(2), at: after(6)))
    #expect(refusals(at: 6).refuses(accepted: after(2), at: after(7)))
  }

  @Test("A write that came after the refusal is tried, however late its turn is")
  func later() {
    #expect(!refusals(at: 6).refuses(accepted: after(6), at: after(60)))
  }

  @Test("Once a write has had the lock, no other is refused")
  func over() {
    var refusals = refusals(at: 6)
    refusals.note(wasLocked: false, at: after(7))
    #expect(!refusals.refuses(accepted: start, at: after(7)))
  }
}
