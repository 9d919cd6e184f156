import Sessions

extension StoreError {
  /// Translates an error of the database for the operator. The message contains no parameters of statements and no
  /// password.
  init(_ error: any Error, at address: ServerAddress) {
    switch error {
    case let error as StoreError: self = error
    case let error as DatabaseError: self = StoreError(error, at: address)
    case let error as DamagedRowError:
      self.init(
        code: error.isOfStore ? .corrupt : .damagedRow,
        message: "the store (\(address)) holds what cordon did not write; restore it from a backup, or remove the row "
          + "(of one user with `cordon accounts disconnect --force SUBJECT`)",
        cause: "unreadable \(error.what)")
    default:
      self.init(
        code: .internalError, message: "the store (\(address)) failed; please report this", cause: "\(type(of: error))")
    }
  }

  /// Translates an error of a connection that is to listen for changes.
  static func cannotListen(_ error: any Error, at address: ServerAddress) -> StoreError {
    // It knows no `LISTEN`: a feature that is not supported, or a syntax error.
    if case .refused(let state, let message)? = error as? DatabaseError,
      state.isOfClass("0A") || state.isOfClass("42")
    {
      return StoreError(
        code: .misconfigured, message: "\(address) cannot announce changes; set store.notify = false",
        cause: "PostgreSQL \(state): \(message)")
    }
    return StoreError(error, at: address)
  }

  static func closed(_ address: ServerAddress) -> StoreError {
    StoreError(code: .closed, message: "the store (\(address)) was closed; this is a bug in cordon; please report it")
  }

  /// A transaction of another program uses a table that a migration is to change.
  static func tablesInUse(_ address: ServerAddress, _ cause: String) -> StoreError {
    StoreError(
      code: .busy,
      message: "\(address) has to be migrated for this version, and a long transaction uses its tables; wait until it "
        + "ends, or end it (pg_stat_activity shows it: a dump, a report, or a session that is idle in transaction)",
      cause: "PostgreSQL \(SQLState.lockNotAvailable): \(cause)")
  }

  private init(_ failure: DatabaseError, at address: ServerAddress) {
    switch failure {
    case .notConnected(let message): self = .notConnected(message, at: address)
    case .lost(let message, let isInDoubt):
      self.init(
        code: isInDoubt ? .interrupted : .unavailable,
        message: "\(address) has ended the connection; look whether the server runs", cause: message)
    case .timedOut(let isInDoubt):
      self = isInDoubt ? .silentInDoubt(address) : .silent(address, nil)
    case .refused(let state, let message):
      self = .refused(state, "PostgreSQL \(state): \(message)", at: address)
    }
  }

  /// libpq reports the reason of a failed connection as text only. If the server's language is not English, the reason
  /// is passed on unchanged and the remedy is a general one.
  private static func notConnected(_ message: String, at address: ServerAddress) -> StoreError {
    func says(_ texts: String...) -> Bool { texts.contains { message.contains($0) } }
    if let problem = invalidParameter(message) {
      return StoreError(
        code: .misconfigured, message: "store.url has a parameter with an invalid value; correct it", cause: problem)
    }
    // The last is PgBouncer's.
    if says("too many clients", "too many connections", "remaining connection slots", "no more connections allowed") {
      return .noConnectionLeft(address, message)
    }
    if says("authentication failed", "no password supplied", "no pg_hba.conf entry")
      || message.contains("role \"") && message.contains("does not exist")
    {
      return .accessRefused(address, message)
    }
    if says("is not permitted to log in") {
      return .denied(
        address, "the user of store.url may not log in; allow it (ALTER ROLE … LOGIN), or name another user", message)
    }
    if says("is not currently accepting connections") {
      return .denied(
        address,
        "the database accepts no connections; allow them (ALTER DATABASE \(address.databaseName ?? "…") "
          + "ALLOW_CONNECTIONS true), or correct store.url", message)
    }
    if says("permission denied for database") {
      return .denied(
        address,
        "the user may not connect to the database; allow it (GRANT CONNECT ON DATABASE "
          + "\(address.databaseName ?? "…") TO …)", message)
    }
    if says("permission denied") { return .notPermitted(address, message) }
    if says("timeout expired", "Connection timed out") { return .silent(address, message) }
    // The latter is PgBouncer's.
    if message.contains("database \"") && message.contains("does not exist") || message.contains("no such database") {
      return .denied(
        address,
        "there is no such database; make it (CREATE DATABASE \(address.databaseName ?? "cordon") ENCODING 'UTF8'), or "
          + "correct store.url", message)
    }
    // A root certificate that is missing, a certificate that does not verify, or a server without TLS.
    if says("certificate", "does not support SSL", "SSL error: tlsv1 alert", "SSL error: sslv3 alert") {
      return StoreError(
        code: .unavailable,
        message: "the connection to \(address) cannot be secured as sslmode asks; look at sslmode and sslrootcert of "
          + "store.url, and at the server's certificate",
        cause: message)
    }
    // libpq looks names up itself, and waits for the answer even when `connect_timeout` is over.
    if says("could not translate host name") {
      return StoreError(
        code: .unavailable,
        message: "the host name of \(address) cannot be looked up; look at the host of store.url, at /etc/resolv.conf, "
          + "and whether the name servers there answer",
        cause: message)
    }
    return StoreError(
      code: .unavailable,
      message: "\(address) cannot be reached; look whether the server runs there, and at host, port and sslmode of "
        + "store.url",
      cause: message)
  }

  /// Returns libpq's problem with the value of a parameter, without the value: with a password that is not
  /// percent-encoded, that is a part of it. Nil for other messages; those about an attempt to connect begin with the
  /// address.
  private static func invalidParameter(_ message: String) -> String? {
    guard let line = message.split(separator: "\n").first else { return nil }
    if line.utf8.starts(with: "could not match ".utf8) { return String(line) }
    let start = line.firstRange(of: "failed: invalid integer value").map { line.index($0.lowerBound, offsetBy: 8) }
    let problem = line[(start ?? line.startIndex)...]
    guard problem.utf8.starts(with: "invalid ".utf8) else { return nil }
    let name = problem.firstRange(of: " for connection option ").map { problem[$0.lowerBound...] } ?? ""
    let text = problem.prefix { $0 != "\"" && $0 != ":" }
    return String(text.last == " " ? text.dropLast() : text) + name
  }

  /// By the classes of errors (PostgreSQL's manual, appendix A).
  private static func refused(_ state: SQLState, _ cause: String, at address: ServerAddress) -> StoreError {
    switch state.text {
    case "25006":
      return StoreError(
        code: .readOnly,
        message: "\(address) may be read but not written; name the primary in store.url (with several hosts: "
          + "target_session_attrs=read-write), and look at default_transaction_read_only",
        cause: cause)
    case "53100":
      return StoreError(
        code: .full, message: "there is no room left for \(address); make room on the server's disk", cause: cause)
    case "53300": return .noConnectionLeft(address, cause)
    case "42501": return .notPermitted(address, cause)
    case "57014", "55P03", "40001", "40P01":
      return StoreError(
        code: .busy,
        message: "\(address) did not get round to it in time; look at its load, at its locks, and whether a "
          + "synchronous standby is missing (wait event SyncRep in pg_stat_activity)",
        cause: cause)
    case "42P01", "3F000", "42703":
      return StoreError(
        code: .corrupt,
        message:
          "\(address): tables of cordon's are missing or were changed; restore the schema cordon from a backup, or "
          + "drop it and restart cordon, which makes an empty one: accounts, bans, groups and tokens are lost then",
        cause: cause)
    case _ where state.isOfClass("28"): return .accessRefused(address, cause)
    // 57 (after 57014 above): the server starts, stops or is being restarted.
    case _ where state.isOfClass("53"), _ where state.isOfClass("57"), _ where state.isOfClass("58"):
      return StoreError(
        code: .unavailable, message: "\(address) is in trouble; look at the server's log", cause: cause)
    case _ where state.isOfClass("23"):
      return StoreError(
        code: .conflict, message: "\(address) refused a record that contradicts another; please report this",
        cause: cause)
    case _ where state.isOfClass("XX"):
      return StoreError(
        code: .corrupt, message: "\(address) is damaged; look at the server's log, and restore it from a backup",
        cause: cause)
    default:
      return StoreError(
        code: .internalError, message: "the store (\(address)) failed; please report this", cause: cause)
    }
  }

  private static func silent(_ address: ServerAddress, _ cause: String?) -> StoreError {
    StoreError(
      code: .unavailable,
      message: "\(address) does not answer; look whether the server and the network to it stand still", cause: cause)
  }

  /// Of a `COMMIT`, or of a statement that is a transaction of its own: it may wait for a standby.
  private static func silentInDoubt(_ address: ServerAddress) -> StoreError {
    StoreError(
      code: .unavailable,
      message: "\(address) does not answer; look whether the server and the network to it stand still, and whether a "
        + "synchronous standby is missing (wait event SyncRep in pg_stat_activity)")
  }

  private static func noConnectionLeft(_ address: ServerAddress, _ cause: String) -> StoreError {
    StoreError(
      code: .busy,
      message: "\(address) has no connection left; raise max_connections there (or the CONNECTION LIMIT of the role or "
        + "the database, or max_client_conn of PgBouncer), or lower store.connections of every gateway (each takes "
        + "that many, and one to listen)",
      cause: cause)
  }

  private static func denied(_ address: ServerAddress, _ remedy: String, _ cause: String?) -> StoreError {
    StoreError(code: .denied, message: "\(address): \(remedy)", cause: cause)
  }

  private static func accessRefused(_ address: ServerAddress, _ cause: String) -> StoreError {
    StoreError(
      code: .denied,
      message: "\(address) refuses access; look at user and password of store.url (or PGPASSWORD), at its sslmode, and "
        + "at pg_hba.conf on the server",
      cause: cause)
  }

  /// - Parameter grants: the statements that grant what is missing.
  static func notPermitted(_ address: ServerAddress, grants: String, _ cause: String? = nil) -> StoreError {
    .denied(address, "the user lacks a permission that the store needs; grant it (\(grants))", cause)
  }

  private static func notPermitted(_ address: ServerAddress, _ cause: String) -> StoreError {
    let onTables = "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA cordon TO …"
    if cause.contains("denied for schema") {
      return .notPermitted(address, grants: "GRANT USAGE, CREATE ON SCHEMA cordon TO …; " + onTables, cause)
    }
    if cause.contains("denied for table") { return .notPermitted(address, grants: onTables, cause) }
    return .denied(
      address,
      "the user lacks a permission that the store needs; let it make a schema (GRANT CREATE ON DATABASE … TO …), or "
        + "make the schema for it (CREATE SCHEMA cordon AUTHORIZATION …)", cause)
  }
}
