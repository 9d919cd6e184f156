internal import WebFormats

/// Version 1 (section 2.1): one line of text.
///
/// ```
/// PROXY TCP4 192.0.2.7 198.51.100.1 56324 443\r\n
/// PROXY TCP6 2001:db8::7 2001:db8::1 56324 443\r\n
/// PROXY UNKNOWN …\r\n
/// ```
///
/// One space between words, no leading zeros, nothing else: a line that two readers could read differently is
/// malformed.
enum ProxyLine {
  /// `P`; version 2 begins with another byte.
  static let first: UInt8 = 0x50

  /// "The worst-case line length is 107 characters", its CR LF with it.
  private static let longest = 107

  static func read(_ bytes: RawSpan) -> ProxyHeader.Reading {
    let count = min(bytes.byteCount, longest)
    let known: StaticString = "PROXY "
    let literal = RawSpan(_unsafeStart: UnsafeRawPointer(known.utf8Start), byteCount: known.utf8CodeUnitCount)
    for offset in 0..<min(count, literal.byteCount) where bytes.byte(at: offset) != literal.byte(at: offset) {
      return .malformed
    }
    var end = literal.byteCount
    while end < count, bytes.byte(at: end) != 0x0D {
      // Printable ASCII only, so that no line can hide in another.
      guard bytes.byte(at: end) >= 0x20, bytes.byte(at: end) < 0x7F else { return .malformed }
      end += 1
    }
    guard end + 1 < count else { return count == longest ? .malformed : .incomplete }
    guard bytes.byte(at: end + 1) == 0x0A, let source = source(bytes, literal.byteCount..<end) else {
      return .malformed
    }
    return .complete(ProxyHeader(source: source, byteCount: end + 2))
  }

  private static func source(_ bytes: RawSpan, _ range: Range<Int>) -> ProxyHeader.Source? {
    let words = words(bytes, range)
    guard let family = words.first else { return nil }
    // "The receiver must ignore anything presented before the CRLF."
    if bytes.equals("UNKNOWN", family) { return .unknown }
    guard words.count == 5, words[3...].allSatisfy({ Port.parse(bytes.array($0), allowsZero: true) != nil }) else {
      return nil
    }
    if bytes.equals("TCP4", family) {
      guard let source = IPAddress(v4: bytes.array(words[1])), IPAddress(v4: bytes.array(words[2])) != nil else {
        return nil
      }
      return .address(source.bytes)
    }
    guard bytes.equals("TCP6", family), let source = IPAddress(v6: bytes.array(words[1])),
      IPAddress(v6: bytes.array(words[2])) != nil
    else { return nil }
    return .address(source.bytes)
  }

  /// The words between single spaces; two spaces have an empty word between them.
  private static func words(_ bytes: RawSpan, _ range: Range<Int>) -> [Range<Int>] {
    var words: [Range<Int>] = []
    var start = range.lowerBound
    for offset in range where bytes.byte(at: offset) == 0x20 {
      words.append(start..<offset)
      start = offset + 1
    }
    words.append(start..<range.upperBound)
    return words
  }
}
