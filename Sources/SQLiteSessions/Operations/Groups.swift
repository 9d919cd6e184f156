package import FoundationEssentials
package import Sessions

extension SQLiteSessionStore {
  /// Inserts the membership and deletes the user's open request, in one transaction.
  package func add(
    _ subject: Subject, to group: GroupName, by: String, at now: Date
  ) async throws(StoreError) -> Bool {
    try await write { try SQLiteAccessRow.add(subject, to: group, by: by, at: now, in: $0) }
  }

  /// Deletes the row; no row, no change in the feed.
  package func remove(_ subject: Subject, from group: GroupName, at now: Date) async throws(StoreError) -> Bool {
    try await write { database in
      let removed = try database.run(
        "DELETE FROM group_members WHERE group_name = ? AND subject = ?", [group.text, subject.text])
      guard removed == 1 else { return false }
      try SQLiteTransferRow.hideSubject(subject, in: database)
      try SQLiteSessionRow.noteChange(of: subject, at: now, in: database)
      return true
    }
  }

  /// Reads by the index of subjects. A name that is damaged fails the operation: a group must not be missing unnoticed.
  package func groups(of subject: Subject) async throws(StoreError) -> [GroupName] {
    try await read { database in
      try database.rows("SELECT group_name FROM group_members WHERE subject = ? ORDER BY group_name", [subject.text])
        .map { try GroupName(stored: $0.text(0)) }
    }
  }

  /// Pages by primary key. A subject that is damaged is listed as such.
  package func members(
    of group: GroupName, after subject: Subject?, limit: Int
  ) async throws(StoreError) -> [Listed<Subject>] {
    try await read { database in
      try database.rows(
        "SELECT subject FROM group_members WHERE group_name = ? AND subject > ? ORDER BY subject LIMIT ?",
        [group.text, subject?.text ?? "", max(limit, 0)]
      ).map { row in
        try Listed(name: row.text(0)) {
          guard let subject = Subject(try row.text(0)) else { throw DamagedRowError(what: "subject") }
          return subject
        }
      }
    }
  }

  /// Counts all rows, grouped by name.
  package func memberCounts() async throws(StoreError) -> [GroupName: Int] {
    try await read { try Self.memberCounts(in: $0) }
  }

  static func memberCounts(in database: Database) throws -> [GroupName: Int] {
    var counts: [GroupName: Int] = [:]
    for row in try database.rows("SELECT group_name, count(*) FROM group_members GROUP BY group_name") {
      guard let name = (try? row.text(0)).flatMap({ GroupName($0) }) else { continue }
      counts[name] = try row.count(1)
    }
    return counts
  }
}
