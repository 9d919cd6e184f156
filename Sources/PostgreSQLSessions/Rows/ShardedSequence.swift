import FoundationEssentials
import Sessions

/// The sharded sequence that numbers changes.
///
/// A follower of a sequence must not miss a number that was taken earlier and committed later. So each change takes its
/// number from a row, whose lock is held until the transaction is over: numbers of a lane appear in their order,
/// without gaps. With a single row, only one transaction at a time could end sessions; there are 32, and each
/// transaction takes one at random. A cursor is the position reached in every lane.
enum ShardedSequence {
  /// Writes changes in order. Must be the last step of a transaction, because it locks the lane until the end.
  static func write(
    _ changes: [StoreChange], at now: Date, lane: Int64, in connection: Connection
  ) throws {
    if changes.isEmpty { return }
    // `written` orders the lanes among one another, and never goes back within one, whatever the server's clock does.
    let row = try connection.run(
      """
      UPDATE cordon.change_lanes SET last = last + $2,
        written = greatest(written + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
      WHERE lane = $1 RETURNING last, written
      """, [.integer(lane), .integer(Int64(changes.count))]
    ).first
    guard let row else { throw DamagedRowError(what: "change_lanes", isOfStore: true) }
    let (last, written) = (try row.integer(0), try row.integer(1))
    let first = last - Int64(changes.count) + 1
    try connection.run(
      """
      INSERT INTO cordon.changes (lane, number, handle, reason, subject, at, written)
      SELECT $1, new.number, new.handle, new.reason, new.subject, $6, $7
      FROM unnest($2, $3, $4, $5) AS new (number, handle, reason, subject)
      """,
      [
        .integer(lane), .integers(changes.indices.map { first + Int64($0) }),
        .byteStrings(changes.map { $0.endedHandle?.bytes }), .texts(changes.map(\.reason)),
        .texts(changes.map { $0.subject?.text }), .integer(now.stored), .integer(written),
      ])
  }

  /// Reads the columns handle, reason, subject, the first of which is at `start`.
  static func change(_ row: Row, from start: Int) throws -> StoreChange {
    if row.isNull(start) {
      guard let subject = Subject(try row.text(start + 2)) else { throw DamagedRowError(what: "change") }
      let isSignIn = try row.optionalText(start + 1) == StoreChange.signInReason
      return isSignIn ? .signedIn(subject) : .accountChanged(subject)
    }
    guard let handle = PublicSessionID(bytes: try row.bytes(start)) else { throw DamagedRowError(what: "change") }
    return .ended(handle, SessionEnding(stored: try row.text(start + 1)))
  }
}

extension StoreChange {
  fileprivate var endedHandle: PublicSessionID? {
    if case .ended(let handle, _) = self { return handle }
    return nil
  }

  fileprivate var reason: String? {
    switch self {
    case .ended(_, let ending): ending.rawValue
    case .signedIn: Self.signInReason
    case .accountChanged: nil
    }
  }

  fileprivate var subject: Subject? {
    switch self {
    case .accountChanged(let subject), .signedIn(let subject): subject
    case .ended: nil
    }
  }
}
