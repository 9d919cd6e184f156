internal import HTTPWire

/// The value of an `Authorization` field (RFC 9110, 11.4), read so that mistakes of clients hide no credential.
enum AuthorizationField {
  /// The scheme, and what follows it and the delimiters after it; both may be empty.
  static func split(_ bytes: RawSpan, _ value: Range<Int>) -> (scheme: Range<Int>, credential: Range<Int>) {
    var schemeEnd = value.lowerBound
    while schemeEnd < value.upperBound, !isDelimiter(bytes.byte(at: schemeEnd)) { schemeEnd += 1 }
    var start = schemeEnd
    while start < value.upperBound, isDelimiter(bytes.byte(at: start)) { start += 1 }
    return (value.lowerBound..<schemeEnd, start..<value.upperBound)
  }

  /// Whether a byte stands between a scheme and its credential, in the grammar or by mistake.
  private static func isDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "="),
      UInt8(ascii: ":"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "<"):
      true
    default: false
    }
  }
}
