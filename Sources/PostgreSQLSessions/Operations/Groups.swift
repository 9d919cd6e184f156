package import FoundationEssentials
package import Sessions

extension PostgreSQLSessionStore {
  /// Locks the account if it is known, as everything does that changes the access of a user.
  package func add(
    _ subject: Subject, to group: GroupName, by: String, at now: Date
  ) async throws(StoreError) -> Bool {
    try await write(at: now) { connection, changes in
      try connection.run(PostgreSQLAccountRow.locking(subject))
      return try PostgreSQLAccessRow.add(subject, to: group, by: by, at: now, in: connection, &changes)
    }
  }

  /// Locks the account and deletes the row in one round trip; no row, no change in the feed.
  package func remove(_ subject: Subject, from group: GroupName, at now: Date) async throws(StoreError) -> Bool {
    try await write(at: now) { connection, changes in
      let removed = try connection.run(together: [
        PostgreSQLAccountRow.locking(subject),
        Statement(
          "DELETE FROM cordon.group_members WHERE group_name = $1 AND subject = $2",
          [.text(group.text), .text(subject.text)]),
      ])
      guard removed[1].affected == 1 else { return false }
      try connection.run(PostgreSQLTransferRow.hidingSubject(subject))
      changes.append(.accountChanged(subject))
      return true
    }
  }

  /// Reads by the index of subjects. A name that is damaged fails the operation: a group must not be missing unnoticed.
  package func groups(of subject: Subject) async throws(StoreError) -> [GroupName] {
    try await read { connection in
      try connection.run(
        "SELECT group_name FROM cordon.group_members WHERE subject = $1 ORDER BY group_name", [.text(subject.text)]
      ).rows.map { try GroupName(stored: $0.text(0)) }
    }
  }

  /// Pages by primary key. A subject that is damaged is listed as such.
  package func members(
    of group: GroupName, after subject: Subject?, limit: Int
  ) async throws(StoreError) -> [Listed<Subject>] {
    try await read { connection in
      try connection.run(
        """
        SELECT subject FROM cordon.group_members WHERE group_name = $1 AND subject > $2 ORDER BY subject LIMIT $3
        """, [.text(group.text), .text(subject?.text ?? ""), .integer(Int64(max(limit, 0)))]
      ).rows.map { row in
        try Listed(name: row.text(0)) {
          guard let subject = Subject(try row.text(0)) else { throw DamagedRowError(what: "subject") }
          return subject
        }
      }
    }
  }

  /// Counts all rows, grouped by name.
  package func memberCounts() async throws(StoreError) -> [GroupName: Int] {
    try await read { connection in
      var counts: [GroupName: Int] = [:]
      let rows = try connection.run("SELECT group_name, count(*) FROM cordon.group_members GROUP BY group_name").rows
      for row in rows {
        guard let name = GroupName(try row.text(0)) else { continue }
        counts[name] = try row.count(1)
      }
      return counts
    }
  }
}
