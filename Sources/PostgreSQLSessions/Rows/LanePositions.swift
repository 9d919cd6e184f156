import Sessions

/// The position of each lane of changes, and the part of it that is still kept.
struct LanePositions {
  /// The oldest schema version that every user of the store must know.
  let minimumReader: Int64
  private let identity: String
  private let lanes: [Lane]

  private struct Lane {
    let forgotten: Int64
    let last: Int64
  }

  init(_ connection: Connection) throws {
    let rows = try connection.run(
      """
      SELECT store.identity, change_lanes.forgotten, change_lanes.last, store.minimum_reader FROM cordon.change_lanes
      CROSS JOIN cordon.store WHERE store.id = 1 ORDER BY change_lanes.lane
      """
    ).rows
    guard rows.count == Tables.lanes, let first = rows.first else {
      throw DamagedRowError(what: "change_lanes", isOfStore: true)
    }
    identity = try first.text(0)
    minimumReader = try first.integer(3)
    lanes = try rows.map { Lane(forgotten: try $0.integer(1), last: try $0.integer(2)) }
  }

  /// The cursor at the end of every lane.
  var latest: ChangeCursor { cursor(lanes.map(\.last)) }

  func cursor(_ numbers: [Int64]) -> ChangeCursor {
    ChangeCursor(text: "\(identity):" + numbers.map(String.init).joined(separator: "."))
  }

  /// Whether everything after the cursor is remembered: it is of this database (and not of a later state of it, before
  /// a backup was restored), and nothing after it was forgotten.
  func covers(_ cursor: ChangeCursor) -> Bool {
    guard let numbers = Self.numbers(of: cursor), self.cursor(numbers) == cursor else { return false }
    return zip(numbers, lanes).allSatisfy { number, lane in
      number >= lane.forgotten && number <= max(lane.forgotten, lane.last)
    }
  }

  /// Nil unless there is a number for each lane.
  static func numbers(of cursor: ChangeCursor) -> [Int64]? {
    let parts = cursor.text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let numbers = parts[1].split(separator: ".", omittingEmptySubsequences: false).compactMap { Int64($0) }
    return numbers.count == Tables.lanes ? numbers : nil
  }
}
