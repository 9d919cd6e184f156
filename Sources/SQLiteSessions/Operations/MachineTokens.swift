package import FoundationEssentials
package import Sessions

extension SQLiteSessionStore {
  /// Inserts a token; a taken name or public name is a conflict.
  package func create(_ token: MachineToken) async throws(StoreError) {
    try await write { database in
      let created = try database.run(
        """
        INSERT INTO machine_tokens (name, handle, group_name, created, expires, created_by) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT DO NOTHING
        """,
        [
          token.name.text, token.handle.bytes, token.group.text, token.created.stored, token.expires?.stored,
          token.by,
        ])
      guard created == 1 else { throw StoreError.taken("a token named \(token.name)") }
      try SQLiteSessionRow.noteChange(of: token.subject, at: token.created, in: database)
    }
  }

  /// Reads by the unique public name.
  package func token(_ handle: PublicSessionID) async throws(StoreError) -> MachineToken? {
    try await read { database in
      try database.row(
        "SELECT \(SQLiteAccessRow.tokenColumns) FROM machine_tokens WHERE handle = ?", [handle.bytes]
      ).map { try MachineToken(stored: $0) }
    }
  }

  /// Reads all rows; a damaged one is listed as such.
  package func machineTokens() async throws(StoreError) -> [Listed<MachineToken>] {
    try await read { try Self.machineTokens(in: $0) }
  }

  static func machineTokens(in database: Database) throws -> [Listed<MachineToken>] {
    try database.rows("SELECT \(SQLiteAccessRow.tokenColumns) FROM machine_tokens ORDER BY name")
      .map { row in try Listed(name: row.text(0)) { try MachineToken(stored: row) } }
  }

  /// Deletes by name and notes both changes in the same transaction.
  package func revokeToken(_ name: GroupName, at now: Date) async throws(StoreError) -> PublicSessionID? {
    try await write { database in
      let row = try database.row("DELETE FROM machine_tokens WHERE name = ? RETURNING handle", [name.text])
      // Whether the store has it or not: it may have lost a token of this name that gateways have in their caches.
      try SQLiteSessionRow.noteChange(of: Subject(ofToken: name), at: now, in: database)
      guard let row else { return nil }
      guard let handle = PublicSessionID(bytes: try row.bytes(0)) else { throw DamagedRowError(what: "machine token") }
      try SQLiteSessionRow.noteEnd(of: handle, because: .byOperator, at: now, in: database)
      return handle
    }
  }
}
