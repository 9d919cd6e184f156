package import Sessions

extension PostgreSQLSessionStore: StoreCopyTarget {
  /// The time for which an empty target is watched for a gateway: each writes to the store every five seconds (see
  /// `ping`), so this is two writes and some.
  private static let watchTime = Duration.seconds(12)
  private static let watchPause = Duration.milliseconds(500)

  /// Marks the empty store as a copy of this source, under the lock of its row. A store that had a schema already is
  /// watched for twelve seconds before: a gateway that uses it would show itself by a ping.
  package func beginCopy(of source: CopiedContent) async throws(StoreError) -> CopyProgress {
    try await beginCopy(of: source, watchingFor: Self.watchTime)
  }

  /// - Parameter time: for how long a target that had a schema already is watched before it is used.
  func beginCopy(of source: CopiedContent, watchingFor time: Duration) async throws(StoreError) -> CopyProgress {
    let place = place
    let found = try await read { try CopyTarget($0, for: source, at: place) }
    guard case .empty(let before) = found else { return found.progress }
    // A schema that this process has made needs no watching: there was no gateway before.
    let expected = isNew ? 0 : before
    if !isNew { try await requireNoGateway(since: before, for: time) }
    return try await run(isRetryable: true) { connection in
      try connection.transaction {
        let target = try CopyTarget(connection, for: source, at: place, isLocking: true)
        guard case .empty(let pings) = target else { return target.progress }
        guard pings == expected else { throw StoreError.usedByGateway(place) }
        try connection.run("UPDATE cordon.store SET copied_from = $1 WHERE id = 1", [.text(source.text)])
        return .begun
      }
    }
  }

  /// Watches whether a gateway writes to the store. One that runs while its store is copied to would not learn of the
  /// new `access_key`, and what it writes would be mixed with the copy; that its tables are empty only shows that
  /// nobody has signed in yet.
  private func requireNoGateway(since pings: Int64, for time: Duration) async throws(StoreError) {
    let end = ContinuousClock.now + time
    while ContinuousClock.now < end {
      try? await Task.sleep(for: Self.watchPause)
      let now = try await read { try $0.run("SELECT pings FROM cordon.store WHERE id = 1").first?.integer(0) }
      guard now == pings else { throw .usedByGateway(place) }
    }
  }

  /// One idempotent statement; see `storeKey`.
  package func adopt(_ key: StoreKey) async throws(StoreError) {
    try await write(isRetryable: true) {
      try $0.run("UPDATE cordon.store SET access_key = $1 WHERE id = 1", [.bytes(key.exposedBytes)]).affected
    }
  }

  /// Reads the end of the primary key: rows are added in the order of their keys.
  package func lastKey(of table: StoreTable) async throws(StoreError) -> [StoredValue] {
    try await read { connection in
      switch table {
      case .sessions, .replayGuards, .bans:
        try connection.run(table.lastKeyStatement).first.map { [.bytes(try $0.bytes(0))] } ?? []
      case .accounts, .submittedNames, .messages, .accessRequests, .invitations, .machineTokens, .preparedTransfers:
        try connection.run(table.lastKeyStatement).first.map { [.text(try $0.text(0))] } ?? []
      case .refreshTokens, .groupMembers, .invitationUses:
        try connection.run(table.lastKeyStatement).first.map { [.text(try $0.text(0)), .text(try $0.text(1))] } ?? []
      }
    }
  }

  /// Inserts all rows by one statement, a column an array. `ON CONFLICT DO NOTHING` makes it idempotent, so that it is
  /// retried when the connection breaks.
  package func add(_ rows: [[StoredValue]], to table: StoreTable) async throws(StoreError) {
    try await write(isRetryable: true) { connection in
      let columns = table.columns.indices.map { column in rows.map { column < $0.count ? $0[column] : .null } }
      return try connection.run(table.insertStatement, zip(table.columns, columns).map(Parameter.init)).affected
    }
  }

  /// Counts the table in full.
  package func rowCount(of table: StoreTable) async throws(StoreError) -> Int {
    try await read { try table.count(in: $0) }
  }

  /// Sets `is_copied`: until then no gateway opens the store.
  package func finishCopy() async throws(StoreError) {
    try await write(isRetryable: true) {
      try $0.run("UPDATE cordon.store SET is_copied = 1 WHERE id = 1").affected
    }
  }
}

/// The state of a target before a copy.
private enum CopyTarget {
  case begun(CopyProgress)
  /// Nothing was stored yet; the number of times that gateways have checked the store.
  case empty(pings: Int64)

  /// - Throws: `StoreError.Code.conflict` if the target holds anything else.
  init(_ connection: Connection, for source: CopiedContent, at place: String, isLocking: Bool = false) throws {
    let lock: SQL = isLocking ? " FOR UPDATE" : ""
    let row = try connection.run("SELECT copied_from, is_copied, pings FROM cordon.store WHERE id = 1\(lock)").first
    guard let row else { throw DamagedRowError(what: "store", isOfStore: true) }
    if let known = try row.optionalText(0) {
      guard known == source.text else {
        throw StoreError(
          code: .conflict,
          message: "\(place) holds a copy of another store, or of this one before it changed; if no gateway has "
            + "used it since, empty it (DROP SCHEMA cordon CASCADE) and copy again")
      }
      self = .begun(try row.integer(1) == 1 ? .finished : .resumed)
      return
    }
    for table in StoreTable.allCases where try table.count(in: connection) > 0 {
      throw StoreError(
        code: .conflict,
        message: "\(place) is in use: it holds \(table.rawValue) already; copy to an empty database, or empty it "
          + "(DROP SCHEMA cordon CASCADE)")
    }
    self = .empty(pings: try row.integer(2))
  }

  var progress: CopyProgress {
    if case .begun(let progress) = self { progress } else { .begun }
  }
}

extension StoreError {
  fileprivate static func usedByGateway(_ place: String) -> StoreError {
    StoreError(
      code: .conflict,
      message: "a gateway is using \(place): it has written to it just now, and would go on without what is copied; "
        + "stop every gateway that has this store.url, and copy again")
  }
}

extension Parameter {
  /// A column of many rows.
  fileprivate init(name: String, values: [StoredValue]) {
    switch name {
    case "email":
      self = .byteStrings(values.map { $0.text.flatMap { $0.isEmpty ? nil : PostgreSQLAccountRow.emailKey($0) } })
    case "handle", "mark", "sealed", "hash", "moved":
      self = .byteStrings(
        values.map {
          if case .bytes(let bytes) = $0 { return bytes }
          return nil
        })
    case "subject", "name", "claims", "last_answer", "client_id", "user_agent", "identifier", "text", "reason",
      "made_by", "group_name", "added_by", "code", "id", "note", "created_by", "invitation", "transfer", "team":
      self = .texts(values.map(\.text))
    default:
      self = .integers(
        values.map {
          if case .integer(let number) = $0 { return number }
          return nil
        })
    }
  }
}

extension StoredValue {
  fileprivate var text: String? {
    if case .text(let text) = self { return text }
    return nil
  }
}

extension StoreTable {
  fileprivate func count(in connection: Connection) throws -> Int {
    try connection.run("SELECT count(*) FROM \(name)").first?.count(0) ?? 0
  }

  fileprivate var name: SQL {
    switch self {
    case .accounts: "cordon.accounts"
    case .submittedNames: "cordon.submitted_names"
    case .refreshTokens: "cordon.refresh_tokens"
    case .sessions: "cordon.sessions"
    case .replayGuards: "cordon.single_use_marks"
    case .messages: "cordon.messages"
    case .bans: "cordon.bans"
    case .groupMembers: "cordon.group_members"
    case .accessRequests: "cordon.access_requests"
    case .invitations: "cordon.invitations"
    case .invitationUses: "cordon.invitation_uses"
    case .machineTokens: "cordon.machine_tokens"
    case .preparedTransfers: "cordon.prepared_transfers"
    }
  }

  fileprivate var lastKeyStatement: SQL {
    let key: SQL =
      switch self {
      case .accounts, .submittedNames: "subject"
      case .refreshTokens: "subject DESC, client_id"
      case .sessions: "handle"
      case .replayGuards: "mark"
      case .messages: "identifier"
      case .bans: "hash"
      case .groupMembers: "group_name DESC, subject"
      case .accessRequests: "code"
      case .invitations: "id"
      case .invitationUses: "invitation DESC, subject"
      case .machineTokens: "name"
      case .preparedTransfers: "transfer"
      }
    let columns: SQL =
      switch self {
      case .refreshTokens: "subject, client_id"
      case .groupMembers: "group_name, subject"
      case .invitationUses: "invitation, subject"
      default: key
      }
    return "SELECT \(columns) FROM \(name) ORDER BY \(key) DESC LIMIT 1"
  }

  /// Inserts rows, of which each column is an array.
  fileprivate var insertStatement: SQL {
    """
    INSERT INTO \(name) (\(columnNames)) SELECT * FROM unnest(\(SQL.places(columns.count)))
    ON CONFLICT DO NOTHING
    """
  }

  /// The names of `columns` in PostgreSQL, in the same order.
  private var columnNames: SQL {
    switch self {
    case .accounts:
      """
      subject, name, email_key, claims, latest_authorization, last_verified, last_asked, last_answer, claim_number,
      check_failing_since, apple_authorized, token_discarded
      """
    case .submittedNames: "subject, name, submitted"
    case .refreshTokens: "subject, client_id, sealed, key, version"
    case .sessions: "handle, subject, client_id, began, ends, last_seen, user_agent"
    case .replayGuards: "mark, until"
    case .messages: "identifier, text, queued, due, attempts"
    case .bans: "hash, subject, until, reason, since, made_by"
    case .groupMembers: "group_name, subject, added, added_by"
    case .accessRequests: "code, subject, asked"
    case .invitations: "id, hash, group_name, uses, used, expires, closes, note, created, created_by"
    case .invitationUses: "invitation, subject, used"
    case .machineTokens: "name, handle, group_name, created, expires, created_by"
    case .preparedTransfers: "transfer, hash, subject, team, prepared, moved"
    }
  }
}
