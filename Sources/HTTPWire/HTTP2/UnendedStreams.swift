/// Streams that their client has begun and not ended, open or over: what still comes on one that is over may have been
/// on its way. In order, since identifiers only grow (RFC 9113, 5.1.1); of very many the oldest are forgotten.
struct UnendedStreams {
  private var identifiers: [Int32] = []

  /// More than can be open, together with those that a client may have reset recently.
  static let limit = 512

  /// Adds one, newer than all before.
  mutating func insert(_ id: Int32) {
    if identifiers.count == Self.limit { identifiers.removeFirst() }
    identifiers.append(id)
  }

  func contains(_ id: Int32) -> Bool { identifiers.contains(id) }

  /// - Returns: whether it was there.
  @discardableResult
  mutating func remove(_ id: Int32) -> Bool {
    guard let place = identifiers.lastIndex(of: id) else { return false }
    identifiers.remove(at: place)
    return true
  }
}
