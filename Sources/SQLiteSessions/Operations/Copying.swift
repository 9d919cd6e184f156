package import Sessions

extension SQLiteSessionStore: StoreCopySource {
  /// Pages by primary key, in transactions of their own: the copy notices by `CopiedContent` if the store changes
  /// between two of them.
  package func rows(
    of table: StoreTable, after key: [StoredValue], limit: Int
  ) async throws(StoreError) -> [[StoredValue]] {
    let columns = table.columns.joined(separator: ", ")
    let keys = table.columns.prefix(table.keyCount).joined(separator: ", ")
    let places = Array(repeating: "?", count: table.keyCount).joined(separator: ", ")
    let condition = key.isEmpty ? "" : "WHERE (\(keys)) > (\(places))"
    return try await read { database in
      try database.rows(
        "SELECT \(columns) FROM \(table.name) \(condition) ORDER BY \(keys) LIMIT ?",
        SQLiteArguments(key.map(\.sqliteValue) + [max(limit, 1).sqliteValue])
      ).map { try $0.values.map { try StoredValue($0) } }
    }
  }

  /// Asks the migrations whether a newer version has changed the schema, even in a way that this one may ignore when it
  /// serves.
  package func requireKnownSchema() async throws(StoreError) {
    let path = file.path
    try await read { database in
      guard try SQLiteMigrations.migrator.hasBeenSuperseded(database) else { return }
      throw StoreError(
        code: .newerSchema,
        message: "the store \(path) was written by a newer version of cordon; copy it with that version")
    }
  }

  /// Counts the table in full.
  package func rowCount(of table: StoreTable) async throws(StoreError) -> Int {
    try await read { try $0.row("SELECT count(*) FROM \(table.name)")?.count(0) ?? 0 }
  }
}

extension StoreTable {
  fileprivate var name: String {
    switch self {
    case .accounts: "accounts"
    case .submittedNames: "submitted_names"
    case .refreshTokens: "refresh_tokens"
    case .sessions: "sessions"
    case .replayGuards: "single_use_marks"
    case .messages: "messages"
    case .bans: "bans"
    case .groupMembers: "group_members"
    case .accessRequests: "access_requests"
    case .invitations: "invitations"
    case .invitationUses: "invitation_uses"
    case .machineTokens: "machine_tokens"
    case .preparedTransfers: "prepared_transfers"
    }
  }
}

extension StoredValue {
  fileprivate init(_ value: SQLiteValue) throws {
    switch value {
    case .null: self = .null
    case .integer(let number): self = .integer(number)
    // No column is a fraction: STRICT tables hold their declared types.
    case .real: self = .null
    case .text(let text): self = .text(text)
    case .malformedText: throw DamagedRowError(what: "text")
    case .bytes(let bytes): self = .bytes(bytes)
    }
  }

  fileprivate var sqliteValue: SQLiteValue {
    switch self {
    case .null: .null
    case .integer(let number): .integer(number)
    case .text(let text): .text(text)
    case .bytes(let bytes): .bytes(bytes)
    }
  }
}
