/// The streams that a client has begun, by identifier: the newest, and those that it has not ended, open or over. What
/// still comes on one that is over may have been on its way. Identifiers only grow (RFC 9113, 5.1.1), so that they stay
/// in order; of very many that were not ended the oldest are forgotten.
struct BegunStreams {
  private var newest: Int32 = 0
  private var unended: [Int32] = []

  /// Most that are kept: more than can be open, together with those that a client may have reset recently.
  static let limit = 512

  /// Begins a stream, if its identifier is a new one.
  /// - Parameter isWhole: whether its client ends it at once.
  /// - Returns: whether it was begun.
  @inline(__always)
  mutating func begin(_ id: Int32, isWhole: Bool) -> Bool {
    guard id > newest else { return false }
    newest = id
    if !isWhole {
      if unended.count == Self.limit { unended.removeFirst() }
      unended.append(id)
    }
    return true
  }

  /// Whether a section may come on a stream that is over: as trailers that were on their way.
  /// - Parameter isLast: whether it ends the stream, so that no other may come.
  mutating func allowsSection(of id: Int32, isLast: Bool) -> Bool { isLast ? end(id) : unended.contains(id) }

  /// The client has ended a stream.
  /// - Returns: whether it had not before.
  @discardableResult
  mutating func end(_ id: Int32) -> Bool {
    guard let place = unended.lastIndex(of: id) else { return false }
    unended.remove(at: place)
    return true
  }
}
