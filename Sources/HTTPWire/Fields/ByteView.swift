internal import WebFormats

/// Reading bytes and words out of a span. Every read is bounds-checked; "unsafe" in the standard library's names
/// speaks of types only, and every bit pattern is an integer.
extension RawSpan {
  /// The byte at `offset`.
  @inlinable @inline(__always)
  package func byte(at offset: Int) -> UInt8 { unsafeLoad(fromByteOffset: offset, as: UInt8.self) }

  /// The eight bytes from `offset` on, the first in the lowest place (little-endian machines only are supported).
  @inline(__always)
  func word(at offset: Int) -> UInt64 { unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self) }

  /// The sixteen bytes from `offset` on, as two words.
  @inline(__always)
  func wordPair(at offset: Int) -> SIMD2<UInt64> { unsafeLoadUnaligned(fromByteOffset: offset, as: SIMD2<UInt64>.self) }

  /// The four bytes from `offset` on, the first in the lowest place.
  @inline(__always)
  func halfWord(at offset: Int) -> UInt32 { unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self) }

  /// Whether the bytes from `start` on, `count` of them, are `lowercase` without regard to ASCII case.
  ///
  /// Only for bytes that are known to be token characters (RFC 9110, 5.6.2): folding sets bit 5, which maps no token
  /// character but a capital letter onto a small letter, a digit or a hyphen.
  @inline(__always)
  func isToken(_ lowercase: StaticString, at start: Int, count: Int) -> Bool {
    guard count == lowercase.utf8CodeUnitCount else { return false }
    let literal = RawSpan(_unsafeStart: UnsafeRawPointer(lowercase.utf8Start), byteCount: count)
    if count >= 8 {
      var offset = 0
      while offset + 8 <= count {
        if word(at: start + offset) | 0x2020_2020_2020_2020 != literal.word(at: offset) | 0x2020_2020_2020_2020 {
          return false
        }
        offset += 8
      }
      return word(at: start + count - 8) | 0x2020_2020_2020_2020 == literal.word(at: count - 8) | 0x2020_2020_2020_2020
    }
    if count >= 4 {
      return halfWord(at: start) | 0x2020_2020 == literal.halfWord(at: 0) | 0x2020_2020
        && halfWord(at: start + count - 4) | 0x2020_2020 == literal.halfWord(at: count - 4) | 0x2020_2020
    }
    for offset in 0..<count where byte(at: start + offset) | 0x20 != literal.byte(at: offset) { return false }
    return true
  }

  /// Whether `range` has a lower-case letter.
  ///
  /// Methods are case-sensitive, and those in use have none (RFC 9110, 9.1 and 16.1.1). Many applications convert them
  /// to upper case, however: a rule for `DELETE` would not have held for the `delete` that they carry out.
  package func hasLowercase(_ range: Range<Int>) -> Bool {
    range.contains { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte(at: $0)) }
  }

  /// `range` without the white space at either end (RFC 9110, 5.6.3).
  @inline(__always)
  package func trimmed(_ range: Range<Int>) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, byte(at: start) == 0x20 || byte(at: start) == 0x09 { start += 1 }
    while end > start, byte(at: end - 1) == 0x20 || byte(at: end - 1) == 0x09 { end -= 1 }
    return start..<end
  }

  /// Whether `range` holds exactly the bytes of `literal`.
  @inline(__always)
  package func equals(_ literal: StaticString, _ range: Range<Int>) -> Bool {
    equals(RawSpan(_unsafeStart: UnsafeRawPointer(literal.utf8Start), byteCount: literal.utf8CodeUnitCount), range)
  }

  /// Whether `range` holds exactly the bytes of `other`.
  @inline(__always)
  package func equals(_ other: RawSpan, _ range: Range<Int>) -> Bool {
    guard range.count == other.byteCount else { return false }
    return isSame(other, at: range.lowerBound, word: { $0 }, halfWord: { $0 }, byte: { $0 })
  }

  /// Whether `range` holds the bytes of `lowercase` without regard to ASCII case, whatever they are.
  package func equalsIgnoringCase(_ lowercase: StaticString, _ range: Range<Int>) -> Bool {
    equalsIgnoringCase(
      RawSpan(_unsafeStart: UnsafeRawPointer(lowercase.utf8Start), byteCount: lowercase.utf8CodeUnitCount), range)
  }

  /// Whether `range` holds the bytes of `lowercase` without regard to ASCII case, whatever they are.
  @inline(__always)
  func equalsIgnoringCase(_ lowercase: RawSpan, _ range: Range<Int>) -> Bool {
    guard range.count == lowercase.byteCount else { return false }
    return isSame(
      lowercase, at: range.lowerBound, word: { $0.lowercased },
      halfWord: { UInt32(truncatingIfNeeded: UInt64($0).lowercased) }, byte: { $0.asciiLowercased })
  }

  /// Whether the bytes from `start` on, of which there are as many, are the expected ones once they are mapped: many at
  /// a time, some twice.
  @inline(__always)
  private func isSame(
    _ expected: RawSpan, at start: Int, word mapped: (UInt64) -> UInt64, halfWord mappedHalf: (UInt32) -> UInt32,
    byte mappedByte: (UInt8) -> UInt8
  ) -> Bool {
    let count = expected.byteCount
    if count >= 8 {
      var offset = 0
      while offset + 8 <= count {
        if mapped(word(at: start + offset)) != expected.word(at: offset) { return false }
        offset += 8
      }
      return mapped(word(at: start + count - 8)) == expected.word(at: count - 8)
    }
    if count >= 4 {
      return mappedHalf(halfWord(at: start)) == expected.halfWord(at: 0)
        && mappedHalf(halfWord(at: start + count - 4)) == expected.halfWord(at: count - 4)
    }
    for offset in 0..<count where mappedByte(byte(at: start + offset)) != expected.byte(at: offset) { return false }
    return true
  }

  /// The bytes of `range` as text; what is not UTF-8 is replaced. For the control plane and for logs only.
  package func string(_ range: Range<Int>) -> String {
    String(decoding: extracting(range).withUnsafeBytes { Array($0) }, as: UTF8.self)
  }

  /// The bytes of `range`, copied.
  package func array(_ range: Range<Int>) -> [UInt8] { extracting(range).withUnsafeBytes { Array($0) } }
}

extension UInt64 {
  /// Eight bytes at once, each ASCII capital as its small letter.
  @inline(__always)
  var lowercased: UInt64 {
    // Without its highest bit a byte plus at most 0x7F stays within itself; those that have it are not letters anyway.
    let plain = self & 0x7F7F_7F7F_7F7F_7F7F
    let capitals = (plain &+ 0x3F3F_3F3F_3F3F_3F3F) & ~(plain &+ 0x2525_2525_2525_2525) & ~self & 0x8080_8080_8080_8080
    // The highest bit, moved to where a small letter differs.
    return self | capitals >> 2
  }
}
