import Sessions

/// The part of the row of `cordon.store` that decides which programs may use the store.
struct StoreCondition {
  /// The oldest schema version that every user of the store must know.
  let minimumReader: Int64
  /// Whether `cordon store copy` has begun and not finished: accounts, sessions or bans may be missing.
  let isUnfinishedCopy: Bool

  /// The columns, in the order of `init`.
  static let columns: SQL = """
    store.minimum_reader,
    CAST(CASE WHEN store.copied_from IS NOT NULL AND store.is_copied = 0 THEN 1 ELSE 0 END AS bigint)
    """

  /// From `columns`, of which the first is at `start`.
  init(_ row: Row, from start: Int = 0) throws {
    minimumReader = try row.integer(start)
    isUnfinishedCopy = try row.integer(start + 1) == 1
  }

  init(_ connection: Connection) throws {
    guard let row = try connection.run("SELECT \(Self.columns) FROM cordon.store WHERE id = 1").first else {
      throw DamagedRowError(what: "store", isOfStore: true)
    }
    try self.init(row)
  }
}
