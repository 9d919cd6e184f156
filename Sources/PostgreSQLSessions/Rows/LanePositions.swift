import Sessions

/// A place in one lane of changes: the number of a change, and when it was written. After a failover that lost changes
/// numbers come again, and only the time tells which change is meant. Both are 0 before the first one.
struct LanePosition: Equatable {
  let number: Int64
  /// Microseconds since 1970.
  let written: Int64
}

/// The end of each lane of changes, and the part of it that is still kept.
struct LanePositions {
  let condition: StoreCondition
  /// Whether the server is a standby, whose changes may be as old as its replication. `in_hot_standby` says so since
  /// PostgreSQL 14, as `pg_is_in_recovery()` does; an engine without this setting answers NULL instead of failing, as
  /// it would for a function that it does not have.
  let isInRecovery: Bool
  private let identity: String
  private let lanes: [Lane]

  private struct Lane {
    let forgotten: Int64
    let last: LanePosition
    /// When the change that the cursor names was written; nil if it is not there.
    let writtenAtCursor: Int64?
    /// Whether the change after the one that the cursor names is there.
    let hasNext: Bool

    /// The reason why changes after this position may be missing: none if each is kept, and the position is one of this
    /// lane.
    func gap(after position: LanePosition) -> StoreChanges.Gap {
      guard position.number <= max(forgotten, last.number) else { return .otherHistory }
      guard position.number >= forgotten else { return .forgotten }
      if position.number == last.number { return position == last ? .none : .otherHistory }
      if let writtenAtCursor {
        guard writtenAtCursor == position.written else { return .otherHistory }
      } else {
        // Of a change that was removed nothing is left to compare.
        guard position.number == forgotten else { return .damaged }
      }
      // Numbers have no gaps, and all of this is one snapshot: a change that is missing was removed by others than
      // ``PostgreSQLSessionStore/removeExpired(_:)``, which moves `forgotten`.
      return hasNext || position.number > last.number ? .none : .damaged
    }
  }

  /// - Parameter positions: those of the cursor that is to be compared; empty for none.
  init(_ connection: Connection, comparedWith positions: [LanePosition] = []) throws {
    let rows = try connection.run(
      """
      SELECT store.identity, change_lanes.forgotten, change_lanes.last, change_lanes.written, changes.written,
        CAST(CASE WHEN next.number IS NULL THEN 0 ELSE 1 END AS bigint),
        CAST(CASE WHEN current_setting('in_hot_standby', true) = 'on' THEN 1 ELSE 0 END AS bigint),
        \(StoreCondition.columns)
      FROM cordon.change_lanes CROSS JOIN cordon.store
      LEFT JOIN unnest($1, $2, $3) AS seen (lane, number, next) ON seen.lane = change_lanes.lane
      LEFT JOIN cordon.changes ON changes.lane = seen.lane AND changes.number = seen.number
      LEFT JOIN cordon.changes AS next ON next.lane = seen.lane AND next.number = seen.next
      WHERE store.id = 1 ORDER BY change_lanes.lane
      """,
      [
        .integers(positions.indices.map { Int64($0) }), .integers(positions.map(\.number)),
        .integers(positions.map { $0.number &+ 1 }),
      ]
    ).rows
    guard rows.count == Tables.lanes, let first = rows.first else {
      throw DamagedRowError(what: "change_lanes", isOfStore: true)
    }
    identity = try first.text(0)
    isInRecovery = try first.integer(6) == 1
    condition = try StoreCondition(first, from: 7)
    lanes = try rows.map { row in
      Lane(
        forgotten: try row.integer(1), last: LanePosition(number: try row.integer(2), written: try row.integer(3)),
        writtenAtCursor: try row.optionalInteger(4), hasNext: try row.integer(5) == 1)
    }
  }

  /// The cursor at the end of every lane.
  var latest: ChangeCursor { cursor(lanes.map(\.last)) }

  func cursor(_ positions: [LanePosition]) -> ChangeCursor {
    ChangeCursor(text: "\(identity):" + positions.map { "\($0.number)-\($0.written)" }.joined(separator: "."))
  }

  /// The reason why changes after the cursor may be missing: none if it is of this database (and not of a state of it
  /// that was lost to a failover, or to a backup that was restored), and nothing after it was forgotten.
  func gap(after cursor: ChangeCursor) -> StoreChanges.Gap {
    guard let positions = Self.positions(of: cursor), self.cursor(positions) == cursor else { return .otherStore }
    let gaps = zip(lanes, positions).map { $0.gap(after: $1) }
    // Of several the gravest.
    for gap in [StoreChanges.Gap.otherHistory, .damaged, .forgotten] where gaps.contains(gap) { return gap }
    return .none
  }

  /// Nil unless there is a position for each lane.
  static func positions(of cursor: ChangeCursor) -> [LanePosition]? {
    let parts = cursor.text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let positions = parts[1].split(separator: ".", omittingEmptySubsequences: false).compactMap { text in
      let numbers = text.split(separator: "-", omittingEmptySubsequences: false).compactMap { Int64($0) }
      return numbers.count == 2 ? LanePosition(number: numbers[0], written: numbers[1]) : nil
    }
    return positions.count == Tables.lanes ? positions : nil
  }
}
