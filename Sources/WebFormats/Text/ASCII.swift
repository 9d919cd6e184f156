/// Classes of single bytes. Bytes from 0x80 belong to none of them and are never folded.
///
/// Inlinable, because a call into another module for each byte would cost more than the test itself.
extension UInt8 {
  /// `DIGIT` of RFC 5234, B.1.
  @inlinable @inline(__always)
  package var isASCIIDigit: Bool { self &- 0x30 < 10 }

  /// `ALPHA` of RFC 5234, B.1.
  @inlinable @inline(__always)
  package var isASCIILetter: Bool { (self | 0x20) &- 0x61 < 26 }

  /// `ALPHA` or `DIGIT`.
  @inlinable @inline(__always)
  package var isASCIILetterOrDigit: Bool { isASCIIDigit || isASCIILetter }

  /// `tchar` of RFC 9110, 5.6.2.
  package var isToken: Bool { isASCIIDigit || isASCIILetter || "!#$%&'*+-.^_`|~".utf8.contains(self) }

  /// `unreserved` of RFC 3986, 2.3.
  @inlinable @inline(__always)
  package var isUnreserved: Bool {
    isASCIIDigit || isASCIILetter || self == 0x2D || self == 0x2E || self == 0x5F || self == 0x7E
  }

  /// The byte with an ASCII letter in lower case.
  @inlinable @inline(__always)
  package var asciiLowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }

  /// `OWS` of RFC 9110, 5.6.3: space or horizontal tab.
  @inlinable @inline(__always)
  package var isOptionalWhitespace: Bool { self == 0x20 || self == 0x09 }
}

extension BidirectionalCollection<UInt8> {
  /// The bytes without `OWS` (RFC 9110, 5.6.3) at either end.
  package var trimmingOptionalWhitespace: SubSequence {
    let start = drop(while: \.isOptionalWhitespace)
    guard let last = start.lastIndex(where: { !$0.isOptionalWhitespace }) else { return start }
    return start[...last]
  }
}
