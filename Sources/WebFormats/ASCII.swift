/// Classes of single bytes. Bytes from 0x80 belong to none of them and are never folded.
extension UInt8 {
  /// `DIGIT` of RFC 5234, B.1.
  @inline(__always)
  package var isASCIIDigit: Bool { self &- 0x30 < 10 }

  /// `ALPHA` of RFC 5234, B.1.
  @inline(__always)
  package var isASCIILetter: Bool { (self | 0x20) &- 0x61 < 26 }

  /// `tchar` of RFC 9110, 5.6.2.
  package var isToken: Bool { isASCIIDigit || isASCIILetter || "!#$%&'*+-.^_`|~".utf8.contains(self) }

  /// `unreserved` of RFC 3986, 2.3.
  @inline(__always)
  package var isUnreserved: Bool {
    isASCIIDigit || isASCIILetter || self == 0x2D || self == 0x2E || self == 0x5F || self == 0x7E
  }

  /// The byte with an ASCII letter in lower case.
  @inline(__always)
  package var asciiLowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}
