internal import Sessions

/// Whether the session store can be written, according to the last line of the log about it.
enum StoreWritability: Sendable {
  case writable
  /// It can only be read, until a check succeeds.
  case readOnly
  /// It was too full for an operation, with this error. No check has succeeded since.
  case full(StoreError)
  /// It was too full for an operation, and checks have succeeded since. They do not count in the period: a check
  /// changes a row that is there, for which there may be room when there is none for new rows.
  case doubted(StoreError, Period)

  /// The time for which checks do not count, in milliseconds.
  private static let doubt: Int64 = 300_000

  var isWritable: Bool { if case .writable = self { true } else { false } }

  /// The error of an operation that found no room, until checks count again.
  var shortage: StoreError? {
    switch self {
    case .writable, .readOnly: nil
    case .full(let error), .doubted(let error, _): error
    }
  }

  /// Notes that an operation could not write.
  mutating func couldNotWrite() { if isWritable { self = .readOnly } }

  /// Notes that an operation found no room.
  mutating func foundNoRoom(_ error: StoreError) { self = .full(error) }

  /// Notes that new rows were stored: the next check counts.
  mutating func hadRoom() { if shortage != nil { self = .readOnly } }

  /// Notes a check that has succeeded.
  mutating func passedCheck(at now: Int64) {
    switch self {
    case .writable: break
    case .readOnly: self = .writable
    case .full(let error): self = .doubted(error, Period(from: now, for: Self.doubt))
    case .doubted(_, let period): if !period.contains(now) { self = .writable }
    }
  }
}
