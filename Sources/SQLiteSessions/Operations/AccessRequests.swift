package import FoundationEssentials
package import Sessions

extension SQLiteSessionStore {
  /// The write lock serializes all calls, so that the limit `AccessRequest.mostOpen` is exact.
  package func ask(
    _ subject: Subject, code: AccessRequestCode, at now: Date
  ) async throws(StoreError) -> AccessRequestOutcome {
    try await write { database in
      guard let account = try SQLiteAccountRow.find(subject, in: database)?.account else {
        throw StoreError.unknownUser
      }
      if let ban = account.access.ban, ban.isInForce(at: now) { return .banned }
      let until = AccessRequest.expiredUntil(now).stored
      if let known = try Self.request(where: "subject = ? AND asked > ?", [subject.text, until], in: database) {
        return .waits(known)
      }
      try database.run("DELETE FROM access_requests WHERE subject = ?", [subject.text])
      guard try Self.requestCount(after: until, in: database) < AccessRequest.mostOpen else { return .tooMany }
      var request = AccessRequest(code: code, subject: subject, asked: now)
      while try Self.insert(request, in: database) == false {
        request = AccessRequest(code: .random(), subject: subject, asked: now)
      }
      return .waits(request)
    }
  }

  /// - Returns: false if the code is taken.
  private static func insert(_ request: AccessRequest, in database: Database) throws -> Bool {
    try database.run(
      "INSERT INTO access_requests (code, subject, asked) VALUES (?, ?, ?) ON CONFLICT (code) DO NOTHING",
      [request.code.text, request.subject.text, request.asked.stored]) == 1
  }

  static func requestCount(after until: Int64, in database: Database) throws -> Int {
    try database.row("SELECT count(*) FROM access_requests WHERE asked > ?", [until])?.count(0) ?? 0
  }

  private static func request(
    where condition: String, _ arguments: SQLiteArguments, in database: Database
  ) throws -> AccessRequest? {
    try database.row("SELECT code, subject, asked FROM access_requests WHERE \(condition)", arguments).map {
      try AccessRequest(stored: $0.text(0), subject: $0.text(1), asked: $0.date(2))
    }
  }

  /// Reads by primary key; an expired request that was not removed yet is not found.
  package func request(_ code: AccessRequestCode, at now: Date) async throws(StoreError) -> AccessRequest? {
    let until = AccessRequest.expiredUntil(now).stored
    return try await read { try Self.request(where: "code = ? AND asked > ?", [code.text, until], in: $0) }
  }

  /// Reads by the unique subject; an expired request that was not removed yet is not found.
  package func request(of subject: Subject, at now: Date) async throws(StoreError) -> AccessRequest? {
    let until = AccessRequest.expiredUntil(now).stored
    return try await read { try Self.request(where: "subject = ? AND asked > ?", [subject.text, until], in: $0) }
  }

  /// Pages by the index of age. If the request to continue after is gone, the list begins again.
  package func requests(
    after code: AccessRequestCode?, limit: Int, at now: Date
  ) async throws(StoreError) -> [Listed<(request: AccessRequest, account: Account)>] {
    let until = AccessRequest.expiredUntil(now).stored
    return try await read { database in
      let last = try code.flatMap { try Self.request(where: "code = ?", [$0.text], in: database) }
      let start = SQLiteAccountRow.columnCount
      return try database.rows(
        """
        SELECT \(SQLiteAccountRow.columns), access_requests.code, access_requests.subject, access_requests.asked
        FROM access_requests JOIN accounts ON accounts.subject = access_requests.subject
        LEFT JOIN bans ON bans.subject = accounts.subject
        WHERE (access_requests.asked, access_requests.code) > (?, ?) AND access_requests.asked > ?
        ORDER BY access_requests.asked, access_requests.code LIMIT ?
        """, [last?.asked.stored ?? .min, last?.code.text ?? "", until, max(limit, 0)]
      ).map { row in
        try Listed(name: row.text(start)) {
          (
            request: try AccessRequest(
              stored: row.text(start), subject: row.text(start + 1), asked: row.date(start + 2)),
            account: try SQLiteAccountRow(row).account
          )
        }
      }
    }
  }

  /// Counts by the index of age.
  package func requestCount(at now: Date) async throws(StoreError) -> Int {
    let until = AccessRequest.expiredUntil(now).stored
    return try await read { try Self.requestCount(after: until, in: $0) }
  }

  /// The deleted row decides between this and `reject`: the later of two transactions finds none.
  package func admit(
    _ request: AccessRequest, to group: GroupName, by: String, at now: Date
  ) async throws(StoreError) -> Bool {
    let until = AccessRequest.expiredUntil(now).stored
    return try await write { database in
      // The subject, too: a request that has moved with its user to another team is not the one that was decided on.
      let deleted = try database.run(
        "DELETE FROM access_requests WHERE code = ? AND subject = ? AND asked > ?",
        [request.code.text, request.subject.text, until])
      guard deleted == 1 else { return false }
      _ = try SQLiteAccessRow.add(request.subject, to: group, by: by, at: now, in: database)
      return true
    }
  }

  /// Deletes by the code, unless the request has expired.
  package func reject(_ code: AccessRequestCode, at now: Date) async throws(StoreError) -> Bool {
    let until = AccessRequest.expiredUntil(now).stored
    return try await write { database in
      try database.run("DELETE FROM access_requests WHERE code = ? AND asked > ?", [code.text, until]) == 1
    }
  }
}
