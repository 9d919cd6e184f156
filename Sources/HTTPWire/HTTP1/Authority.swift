/// `host [":" port]` as this gateway takes it.
package enum Authority {
  /// Whether `range` is a host of letters, digits, `.`, `-`, `_`, or a bracketed IPv6 address, with or without a port
  /// of one to five digits. User information, percent-encodings and the rest of RFC 3986 3.2 are refused.
  package static func isWellFormed(_ bytes: RawSpan, _ range: Range<Int>) -> Bool {
    var cursor = range.lowerBound
    let end = range.upperBound
    guard cursor < end, range.count <= 262 else { return false }
    if bytes.byte(at: cursor) == 0x5B {
      cursor += 1
      let start = cursor
      while cursor < end, isIPv6(bytes.byte(at: cursor)) { cursor += 1 }
      guard cursor - start >= 2, cursor < end, bytes.byte(at: cursor) == 0x5D else { return false }
      cursor += 1
    } else {
      let start = cursor
      while cursor < end, CharacterClass.hostName.contains(bytes.byte(at: cursor)) { cursor += 1 }
      guard cursor > start else { return false }
    }
    guard cursor < end else { return true }
    guard bytes.byte(at: cursor) == 0x3A, let port = bytes.decimal(cursor + 1..<end) else { return false }
    return end - cursor <= 6 && port <= 65_535
  }

  private static func isIPv6(_ byte: UInt8) -> Bool {
    byte == 0x3A || byte == 0x2E || byte &- 0x30 < 10 || byte.lowercased &- 0x61 < 6
  }
}
