/// The last use of a cached session, and the state of its record in the store.
struct LastSeen {
  /// On this loop, or before, as the store had it.
  var time: Int64
  /// As it was written to the store.
  private(set) var written: Int64
  /// Whether it is queued to be written.
  var isQueued = false

  /// - Parameter stored: as the store has it.
  init(stored: Int64) {
    time = stored
    written = stored
  }

  /// Ends the wait in the queue.
  /// - Returns: the last use to write; nil if the store has it.
  mutating func takeUnwritten() -> Int64? {
    isQueued = false
    guard time > written else { return nil }
    written = time
    return time
  }
}
