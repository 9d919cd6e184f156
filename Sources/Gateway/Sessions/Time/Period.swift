/// A period of the system's clock in which something that is remembered holds.
///
/// It has a beginning, too: a clock that was ahead and is set right would otherwise leave an end far in the future.
struct Period: Sendable, Equatable {
  /// In milliseconds since 1970.
  private let start: Int64
  /// In milliseconds.
  private let length: UInt64

  /// Contains no moment.
  static let none = Period(from: 0, for: 0)

  /// - Parameter length: in milliseconds.
  init(from start: Int64, for length: Int64) {
    self.start = start
    self.length = UInt64(max(length, 0))
  }

  init(from start: Int64, until end: Int64) { self.init(from: start, for: end &- start) }

  /// One comparison, because each request makes some: a moment before the start is a very large number without a sign.
  @inline(__always)
  func contains(_ moment: Int64) -> Bool { UInt64(bitPattern: moment &- start) < length }
}
