package import FoundationEssentials
package import Sessions

extension PostgreSQLSessionStore {
  /// Inserts a token; a taken name or public name is a conflict.
  package func create(_ token: MachineToken) async throws(StoreError) {
    try await write(at: token.created) { connection, changes in
      let created = try connection.run(
        """
        INSERT INTO cordon.machine_tokens (name, handle, group_name, created, expires, created_by)
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING
        """,
        [
          .text(token.name.text), .bytes(token.handle.bytes), .text(token.group.text), .integer(token.created.stored),
          .integer(token.expires?.stored), .text(token.by),
        ])
      guard created.affected == 1 else { throw StoreError.taken("a token named \(token.name)") }
      changes.append(.accountChanged(token.subject))
    }
  }

  /// Reads by the unique public name.
  package func token(_ handle: PublicSessionID) async throws(StoreError) -> MachineToken? {
    try await read { connection in
      try connection.run(
        "SELECT \(PostgreSQLAccessRow.tokenColumns) FROM cordon.machine_tokens WHERE handle = $1",
        [.bytes(handle.bytes)]
      ).first.map { try MachineToken(stored: $0) }
    }
  }

  /// Reads all rows; a damaged one is listed as such.
  package func machineTokens() async throws(StoreError) -> [Listed<MachineToken>] {
    try await read { connection in
      try connection.run("SELECT \(PostgreSQLAccessRow.tokenColumns) FROM cordon.machine_tokens ORDER BY name")
        .rows.map { row in try Listed(name: row.text(0)) { try MachineToken(stored: row) } }
    }
  }

  /// Deletes by name and notes both changes in the same transaction.
  package func revokeToken(_ name: GroupName, at now: Date) async throws(StoreError) -> PublicSessionID? {
    try await write(at: now) { connection, changes in
      let revoked = try connection.run(
        "DELETE FROM cordon.machine_tokens WHERE name = $1 RETURNING handle", [.text(name.text)])
      // Whether the store has it or not: it may have lost a token of this name that gateways have in their caches.
      changes.append(.accountChanged(Subject(ofToken: name)))
      guard let row = revoked.first else { return nil }
      guard let handle = PublicSessionID(bytes: try row.bytes(0)) else { throw DamagedRowError(what: "machine token") }
      changes.append(.ended(handle, .byOperator))
      return handle
    }
  }
}
