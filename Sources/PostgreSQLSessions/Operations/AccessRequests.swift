package import FoundationEssentials
package import Sessions

extension PostgreSQLSessionStore {
  /// When so few free places are left, requests are inserted one at a time, so that the limit is never exceeded.
  private static let lastPlaces = 100

  /// Locks the account, so that a user who asks twice at once has one request. Close to `AccessRequest.mostOpen`, the
  /// row of the store is locked too, and requests of all users are inserted one at a time.
  package func ask(
    _ subject: Subject, code: AccessRequestCode, at now: Date
  ) async throws(StoreError) -> AccessRequestOutcome {
    try await write(at: now) { connection, _ in
      guard let account = try PostgreSQLAccountRow.lock(subject, in: connection)?.account else {
        throw StoreError.unknownUser
      }
      if let ban = account.access.ban, ban.isInForce(at: now) { return .banned }
      let until = Parameter.integer(AccessRequest.expiredUntil(now).stored)
      let open: [Parameter] = [.text(subject.text), until]
      if let known = try Self.request(where: "subject = $1 AND asked > $2", open, in: connection) {
        return .waits(known)
      }
      try connection.run(PostgreSQLAccessRow.deletingRequest(of: subject))
      var count = try Self.requestCount(after: until, in: connection)
      if count >= AccessRequest.mostOpen - Self.lastPlaces {
        try connection.run("SELECT 1 FROM cordon.store WHERE id = 1 FOR UPDATE")
        count = try Self.requestCount(after: until, in: connection)
      }
      guard count < AccessRequest.mostOpen else { return .tooMany }
      var request = AccessRequest(code: code, subject: subject, asked: now)
      while try Self.insert(request, in: connection) == false {
        request = AccessRequest(code: .random(), subject: subject, asked: now)
      }
      return .waits(request)
    }
  }

  /// - Returns: false if the code is taken.
  private static func insert(_ request: AccessRequest, in connection: Connection) throws -> Bool {
    try connection.run(
      "INSERT INTO cordon.access_requests (code, subject, asked) VALUES ($1, $2, $3) ON CONFLICT (code) DO NOTHING",
      [.text(request.code.text), .text(request.subject.text), .integer(request.asked.stored)]
    ).affected == 1
  }

  private static func requestCount(after until: Parameter, in connection: Connection) throws -> Int {
    try connection.run("SELECT count(*) FROM cordon.access_requests WHERE asked > $1", [until]).first?.count(0) ?? 0
  }

  private static func request(
    where condition: SQL, _ parameters: [Parameter], in connection: Connection
  ) throws -> AccessRequest? {
    try connection.run("SELECT code, subject, asked FROM cordon.access_requests WHERE \(condition)", parameters).first
      .map { try AccessRequest(stored: $0.text(0), subject: $0.text(1), asked: $0.date(2)) }
  }

  /// Reads by primary key; an expired request that was not removed yet is not found.
  package func request(_ code: AccessRequestCode, at now: Date) async throws(StoreError) -> AccessRequest? {
    let until = Parameter.integer(AccessRequest.expiredUntil(now).stored)
    return try await read { try Self.request(where: "code = $1 AND asked > $2", [.text(code.text), until], in: $0) }
  }

  /// Reads by the unique subject; an expired request that was not removed yet is not found.
  package func request(of subject: Subject, at now: Date) async throws(StoreError) -> AccessRequest? {
    let until = Parameter.integer(AccessRequest.expiredUntil(now).stored)
    return try await read {
      try Self.request(where: "subject = $1 AND asked > $2", [.text(subject.text), until], in: $0)
    }
  }

  /// Pages by the index of age. The request to continue after is read by a statement of its own: if it is gone by then,
  /// the list begins again.
  package func requests(
    after code: AccessRequestCode?, limit: Int, at now: Date
  ) async throws(StoreError) -> [Listed<(request: AccessRequest, account: Account)>] {
    let until = AccessRequest.expiredUntil(now).stored
    return try await read { connection in
      let last = try code.flatMap { try Self.request(where: "code = $1", [.text($0.text)], in: connection) }
      let start = PostgreSQLAccountRow.columnCount
      return try connection.run(
        """
        SELECT \(PostgreSQLAccountRow.columns), access_requests.code, access_requests.subject, access_requests.asked
        FROM cordon.access_requests JOIN cordon.accounts ON accounts.subject = access_requests.subject
        LEFT JOIN cordon.bans ON bans.subject = accounts.subject
        WHERE (access_requests.asked, access_requests.code) > ($1, $2) AND access_requests.asked > $3
        ORDER BY access_requests.asked, access_requests.code LIMIT $4
        """,
        [
          .integer(last?.asked.stored ?? .min), .text(last?.code.text ?? ""), .integer(until),
          .integer(Int64(max(limit, 0))),
        ]
      ).rows.map { row in
        try Listed(name: row.text(start)) {
          (
            request: try AccessRequest(
              stored: row.text(start), subject: row.text(start + 1), asked: row.date(start + 2)),
            account: try PostgreSQLAccountRow(row).account
          )
        }
      }
    }
  }

  /// Counts by the index of age.
  package func requestCount(at now: Date) async throws(StoreError) -> Int {
    let until = Parameter.integer(AccessRequest.expiredUntil(now).stored)
    return try await read { try Self.requestCount(after: until, in: $0) }
  }

  /// Locks the account and deletes the request in one round trip; the deleted row decides between concurrent calls.
  package func admit(
    _ request: AccessRequest, to group: GroupName, by: String, at now: Date
  ) async throws(StoreError) -> Bool {
    try await write(at: now) { connection, changes in
      // The subject, too: a request that has moved with its user to another team is not the one that was decided on.
      let results = try connection.run(together: [
        PostgreSQLAccountRow.locking(request.subject),
        Statement(
          "DELETE FROM cordon.access_requests WHERE code = $1 AND subject = $2 AND asked > $3",
          [
            .text(request.code.text), .text(request.subject.text), .integer(AccessRequest.expiredUntil(now).stored),
          ]),
      ])
      guard results[1].affected == 1 else { return false }
      _ = try PostgreSQLAccessRow.add(request.subject, to: group, by: by, at: now, in: connection, &changes)
      return true
    }
  }

  /// One statement. Not retried when the connection breaks: a repetition would find no request, and return false.
  package func reject(_ code: AccessRequestCode, at now: Date) async throws(StoreError) -> Bool {
    try await write(isRetryable: false) { connection in
      try connection.run(
        "DELETE FROM cordon.access_requests WHERE code = $1 AND asked > $2",
        [.text(code.text), .integer(AccessRequest.expiredUntil(now).stored)]
      ).affected == 1
    }
  }
}
