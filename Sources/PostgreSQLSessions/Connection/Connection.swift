import CPostgreSQL
import Glibc
import Sessions

/// One connection: the only owner of a `PGconn`. It belongs to the thread that opened it, which it blocks, but never
/// for longer than the limits: libpq is used in non-blocking mode with `poll`, so that a server that hangs or is cut
/// off does not block the thread forever.
final class Connection {
  private let handle: OpaquePointer
  private let limits: TimeLimits
  /// The state of the transaction at the server.
  private var phase = Phase.idle
  private let notices = Notices()

  private enum Phase {
    case idle
    /// `BEGIN` is still to be sent: it is sent together with the first statement of the transaction.
    case beginning
    case transaction
    case committing

    /// Whether the server may have carried out a statement for good that was not answered.
    var isInDoubt: Bool {
      switch self {
      case .idle, .committing: true
      case .beginning, .transaction: false
      }
    }
  }

  /// The defaults for libpq, over which the address has precedence: a server that has vanished from the network is
  /// noticed.
  private static let defaults = [
    ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"), ("tcp_user_timeout", "10000"),
    ("fallback_application_name", "cordon"),
  ]

  /// Connects. Blocks for as long as `connect_timeout` says, for each host of the address.
  init(_ address: ServerAddress, limits: TimeLimits) throws {
    self.limits = limits
    let connectTimeout = [("connect_timeout", String(max(2, limits.connect.components.seconds)))]
    let options = connectTimeout + Self.defaults + [("dbname", address.url), ("client_encoding", "UTF8")]
    let keywords = options.map { strdup($0.0) } + [nil]
    let values = options.map { strdup($0.1) } + [nil]
    defer { for text in keywords + values { free(text) } }
    let opened = keywords.map { UnsafePointer($0) }.withUnsafeBufferPointer { keywords in
      values.map { UnsafePointer($0) }.withUnsafeBufferPointer { values in
        pq.PQconnectdbParams(keywords.baseAddress, values.baseAddress, 1)
      }
    }
    guard let opened else { throw DatabaseError.notConnected("out of memory") }
    handle = opened
    notices.receive(from: handle)
    guard pq.PQstatus(handle) == CONNECTION_OK, pq.PQsetnonblocking(handle, 1) == 0 else {
      throw DatabaseError.notConnected(Self.message(of: handle))
    }
    try prepare()
  }

  deinit { pq.PQfinish(handle) }

  /// Whether an idle connection can be used, as far as is known without a round trip. Reads all that was received: an
  /// error message of the server may precede the end of the stream, and either means that the server has ended the
  /// connection and reads nothing that is sent afterwards.
  var isAlive: Bool {
    while pq.PQstatus(handle) == CONNECTION_OK, !notices.haveFarewell {
      var descriptor = pollfd(fd: pq.PQsocket(handle), events: Int16(POLLIN | Self.peerClosed), revents: 0)
      let ready = poll(&descriptor, 1, 0)
      if ready == 0 { return true }
      if ready < 0, errno == EINTR { continue }
      guard ready > 0, Int32(descriptor.revents) == POLLIN, pq.PQconsumeInput(handle) == 1 else { return false }
      // Makes libpq parse what it has read: it passes an unsolicited error to the notices.
      _ = pq.PQisBusy(handle)
    }
    return false
  }

  /// `POLLRDHUP`, which the C library declares with `_GNU_SOURCE` only.
  private static let peerClosed: Int32 = 0x2000

  /// Runs one statement.
  @discardableResult
  func run(_ text: SQL, _ parameters: [Parameter] = [], limit: Duration? = nil) throws -> QueryResult {
    try run(Statement(text, parameters), limit: limit)
  }

  /// Runs one statement.
  @discardableResult
  func run(_ statement: Statement, limit: Duration? = nil) throws -> QueryResult {
    if phase == .beginning { return try run(together: [statement], limit: limit)[0] }
    guard send(statement) else { throw lost() }
    let deadline = deadline(limit)
    try flush(by: deadline)
    return try answer(by: deadline)
  }

  /// Runs several statements in one round trip
  /// (PostgreSQL's manual, "Pipeline Mode").
  ///
  /// - Returns: one result for each statement.
  /// - Throws: the error of the first statement that failed; those after it are not run.
  @discardableResult
  func run(together statements: [Statement], limit: Duration? = nil) throws -> [QueryResult] {
    let beginning = phase == .beginning ? [Statement("BEGIN ISOLATION LEVEL READ COMMITTED")] : []
    guard pq.PQenterPipelineMode(handle) == 1 else { throw lost() }
    if phase == .beginning { phase = .transaction }
    for statement in beginning + statements {
      guard send(statement) else { throw lost() }
    }
    guard pq.PQpipelineSync(handle) == 1 else { throw lost() }
    let deadline = deadline(limit)
    try flush(by: deadline)
    var results: [QueryResult] = []
    var failure: DatabaseError?
    for _ in beginning + statements {
      do {
        results.append(try answer(by: deadline))
      } catch let refused as DatabaseError {
        guard case .refused = refused else { throw refused }
        failure = failure ?? refused
      } catch is SkippedError {
        continue
      }
    }
    guard try next(by: deadline)?.isEndOfPipeline == true, pq.PQexitPipelineMode(handle) == 1 else { throw lost() }
    if let failure { throw failure }
    guard results.count == beginning.count + statements.count else { throw lost() }
    return Array(results.dropFirst(beginning.count))
  }

  private func send(_ statement: Statement) -> Bool {
    let parameters = statement.parameters
    let values = parameters.map(\.value)
    // One buffer for all, each ended by a NUL, as libpq wants text.
    var buffer: [UInt8] = []
    var offsets: [Int] = []
    for value in values {
      offsets.append(buffer.count)
      buffer += value ?? []
      buffer.append(0)
    }
    return buffer.withUnsafeBytes { bytes in
      let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      let pointers = zip(values, offsets).map { value, offset in value == nil ? nil : start.map { $0 + offset } }
      return pq.PQsendQueryParams(
        handle, statement.text.text, Int32(parameters.count), parameters.map(\.type), pointers,
        values.map { Int32($0?.count ?? 0) }, parameters.map { $0.isBinary ? 1 : 0 }, 1) == 1
    }
  }

  /// Runs `body` as one transaction, at the least strict isolation level that every engine has: rows that must not
  /// change meanwhile are locked by `FOR UPDATE`. Stricter levels only conflict more often.
  func transaction<Value>(_ body: () throws -> Value) throws -> Value {
    phase = .beginning
    defer { phase = .idle }
    let value: Value
    do {
      value = try body()
    } catch {
      if phase == .transaction, (error as? DatabaseError)?.endsConnection != true { try run("ROLLBACK") }
      throw error
    }
    // Nothing was asked of the server.
    if phase == .beginning { return value }
    phase = .committing
    let ended = try run("COMMIT")
    // A transaction that had failed is rolled back by COMMIT, without an error.
    guard ended.command == "COMMIT" else { throw DatabaseError.lost("the transaction was undone", isInDoubt: false) }
    return value
  }

  /// Blocks for a moment.
  func pause(milliseconds: Int32) { _ = poll(nil, 0, milliseconds) }

  /// Waits for a notification.
  /// - Returns: whether there was a notification.
  func awaitNotification(milliseconds: Int32) throws -> Bool {
    var descriptor = pollfd(fd: pq.PQsocket(handle), events: Int16(POLLIN), revents: 0)
    if poll(&descriptor, 1, milliseconds) > 0 {
      guard pq.PQconsumeInput(handle) == 1 else { throw lost() }
    }
    var isNotified = false
    while let notification = pq.PQnotifies(handle) {
      pq.PQfreemem(notification)
      isNotified = true
    }
    return isNotified
  }

  // MARK: Implementation

  /// Applies the settings of the session at the server. A transaction that we leave open (because we hang, or are cut
  /// off) must not hold its locks for long.
  private func prepare() throws {
    let statement = max(1, limits.statement.milliseconds)
    try run(
      """
      SELECT set_config('statement_timeout', $1, false),
        set_config('idle_in_transaction_session_timeout', $2, false)
      """, [.text(String(statement)), .text(String(statement * 2))])
  }

  /// A statement was not carried out, because one that travelled before it failed.
  private struct SkippedError: Error {}

  private func deadline(_ limit: Duration?) -> ContinuousClock.Instant {
    .now + (limit ?? limits.statement) + .seconds(1)
  }

  /// The next result of the server; nil after the last one of a statement.
  private func next(by deadline: ContinuousClock.Instant) throws -> QueryResult? {
    while pq.PQisBusy(handle) == 1 {
      try wait(for: POLLIN, by: deadline)
      guard pq.PQconsumeInput(handle) == 1 else { throw lost() }
    }
    return pq.PQgetResult(handle).map { QueryResult($0) }
  }

  /// The answer to one statement.
  private func answer(by deadline: ContinuousClock.Instant) throws -> QueryResult {
    var last: QueryResult?
    var failure: DatabaseError?
    while let result = try next(by: deadline) {
      if result.isSkipped {
        while try next(by: deadline) != nil {}
        throw SkippedError()
      }
      guard result.isAnswer else { throw lost() }
      // The server has ended the connection instead of answering: nothing comes after that.
      if case .refused(let state, let message)? = result.failure, state.isAboutConnection {
        throw DatabaseError.lost("PostgreSQL \(state): \(message)", isInDoubt: phase.isInDoubt)
      }
      failure = failure ?? result.failure
      last = result
    }
    if let failure { throw failure }
    guard let last else { throw lost() }
    return last
  }

  private func flush(by deadline: ContinuousClock.Instant) throws {
    while true {
      switch pq.PQflush(handle) {
      case 0: return
      case 1:
        // The server may want to be read from before it reads on.
        try wait(for: POLLIN | POLLOUT, by: deadline)
        guard pq.PQconsumeInput(handle) == 1 else { throw lost() }
      default: throw lost()
      }
    }
  }

  private func wait(for events: Int32, by deadline: ContinuousClock.Instant) throws {
    var descriptor = pollfd(fd: pq.PQsocket(handle), events: Int16(events), revents: 0)
    while true {
      let left = deadline - .now
      guard left > .zero else { throw DatabaseError.timedOut(isInDoubt: phase.isInDoubt) }
      let (seconds, attoseconds) = left.components
      let milliseconds = min(seconds, 3_600) * 1_000 + attoseconds / 1_000_000_000_000_000 + 1
      let ready = poll(&descriptor, 1, Int32(milliseconds))
      if ready > 0 { return }
      guard ready == 0 || errno == EINTR else { throw lost() }
    }
  }

  private func lost() -> DatabaseError {
    .lost(Self.message(of: handle), isInDoubt: phase.isInDoubt)
  }

  /// libpq's messages name hosts, users and databases, never the password.
  private static func message(of handle: OpaquePointer) -> String {
    (pq.PQerrorMessage(handle).map { String(cString: $0) } ?? "").split(whereSeparator: \.isNewline)
      .map { $0.trimmingPrefix(while: { $0 == " " || $0 == "\t" }) }.joined(separator: "; ")
  }
}
