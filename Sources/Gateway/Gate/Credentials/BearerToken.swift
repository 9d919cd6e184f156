internal import HTTPWire
internal import Sessions

/// The bearer token of a session in an `Authorization` field (RFC 6750, 2.1): the same signed value as the cookie's.
enum BearerToken {
  /// The place of a value that may be a token of the gateway, by its shape alone: nil for other schemes and lengths.
  @inline(__always)
  static func find(_ bytes: RawSpan, _ value: Range<Int>) -> Range<Int>? {
    let start = value.lowerBound + 7
    guard value.count == 7 + SessionCookie.valueLength,
      bytes.equalsIgnoringCase("bearer ", value.lowerBound..<start)
    else { return nil }
    return start..<value.upperBound
  }
}

extension SessionCookie {
  /// Whether a cookie of a head has the name and the length of a session cookie.
  /// - Parameter name: that of session cookies.
  @inline(__always)
  static func isCandidate(_ place: GatewayCookies.Place, _ bytes: RawSpan, named name: [UInt8]) -> Bool {
    place.value.count == valueLength && bytes.equals(name.span.bytes, place.name)
  }
}
