internal import HTTPWire

extension RawSpan {
  /// The path of a target: the part before the query.
  func path(of target: Range<Int>) -> Range<Int> {
    var end = target.lowerBound
    while end < target.upperBound, byte(at: end) != UInt8(ascii: "?") { end += 1 }
    return target.lowerBound..<end
  }

  /// Whether a query has an item, compared byte for byte.
  /// - Parameters:
  ///   - item: a name and its value, as in `peek=1`.
  ///   - query: with its question mark; empty without one.
  func hasQueryItem(_ item: StaticString, in query: Range<Int>) -> Bool {
    var start = query.lowerBound + 1
    while start < query.upperBound {
      var end = start
      while end < query.upperBound, byte(at: end) != UInt8(ascii: "&") { end += 1 }
      if equals(item, start..<end) { return true }
      start = end + 1
    }
    return false
  }

  /// Whether a query has an item of this name, compared byte for byte, whatever its value.
  /// - Parameter query: with its question mark; empty without one.
  func hasQueryItem(named name: StaticString, in query: Range<Int>) -> Bool {
    var start = query.lowerBound + 1
    while start < query.upperBound {
      var end = start
      while end < query.upperBound, byte(at: end) != UInt8(ascii: "&"), byte(at: end) != UInt8(ascii: "=") { end += 1 }
      if equals(name, start..<end) { return true }
      while end < query.upperBound, byte(at: end) != UInt8(ascii: "&") { end += 1 }
      start = end + 1
    }
    return false
  }
}
