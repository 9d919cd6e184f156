internal import HTTPWire

/// An `http:` or `https:` URL with an authority.
enum AbsoluteURL {
  /// Its authority, and what follows it.
  /// - Returns: nil for anything else.
  static func split(_ bytes: RawSpan, _ url: Range<Int>) -> (authority: Range<Int>, target: Range<Int>)? {
    var start = url.lowerBound
    while start < url.upperBound, bytes.byte(at: start) != UInt8(ascii: "/") { start += 1 }
    start = min(start + 2, url.upperBound)
    let scheme = url.lowerBound..<start
    guard bytes.equalsIgnoringCase("https://", scheme) || bytes.equalsIgnoringCase("http://", scheme) else {
      return nil
    }
    var end = start
    while end < url.upperBound, !"/?#".utf8.contains(bytes.byte(at: end)) { end += 1 }
    return (start..<end, end..<url.upperBound)
  }
}
