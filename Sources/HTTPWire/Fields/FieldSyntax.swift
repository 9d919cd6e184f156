internal import WebFormats

/// Names and values of fields as HTTP/2 has them (RFC 9113, 8.2.1), looked at many bytes at a time.
extension UnsafeRawBufferPointer {
  /// Whether it is a field name: a token without capitals.
  @inline(__always)
  var isFieldName: Bool {
    let count = count
    guard count >= 4 else { return isFieldNameByteByByte }
    guard count > 16 else {
      // Some bytes occur twice.
      let half = count >= 8 ? word(at: 0) : overlappingHalves(count)
      let pair = SIMD2(half, count >= 8 ? word(at: count &- 8) : half)
      return pair.isOfPlainName || isFieldNameByteByByte
    }
    var offset = 0
    while offset &+ 16 <= count {
      guard wordPair(at: offset).isOfPlainName else { return isFieldNameByteByByte }
      offset &+= 16
    }
    return wordPair(at: count &- 16).isOfPlainName || isFieldNameByteByByte
  }

  /// Whether it is a field value: no control characters but HTAB (RFC 9110, 5.5), and no white space at either end.
  @inline(__always)
  var isFieldValue: Bool {
    guard let first, let last else { return true }
    guard first != 0x20, first != 0x09, last != 0x20, last != 0x09 else { return false }
    let count = count
    guard count >= 4 else { return isFieldValueByteByByte }
    guard count >= 8 else { return overlappingHalves(count).isOfPlainText || isFieldValueByteByByte }
    var offset = 0
    while offset &+ 32 <= count {
      guard loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt64>.self).isOfPlainText else {
        return isFieldValueByteByByte
      }
      offset &+= 32
    }
    while offset &+ 8 <= count {
      guard word(at: offset).isOfPlainText else { return isFieldValueByteByByte }
      offset &+= 8
    }
    return word(at: count &- 8).isOfPlainText || isFieldValueByteByByte
  }

  @inline(__always)
  private func word(at offset: Int) -> UInt64 { loadUnaligned(fromByteOffset: offset, as: UInt64.self) }

  @inline(__always)
  private func wordPair(at offset: Int) -> SIMD2<UInt64> {
    loadUnaligned(fromByteOffset: offset, as: SIMD2<UInt64>.self)
  }

  /// Four to seven bytes as eight: some occur twice.
  @inline(__always)
  private func overlappingHalves(_ count: Int) -> UInt64 {
    UInt64(loadUnaligned(fromByteOffset: 0, as: UInt32.self))
      | UInt64(loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)) &<< 32
  }

  // For what is short, or has a character that is allowed and rare.

  @inline(never)
  private var isFieldNameByteByByte: Bool {
    !isEmpty && allSatisfy { CharacterClass.token.contains($0) && $0 == $0.asciiLowercased }
  }

  @inline(never)
  private var isFieldValueByteByByte: Bool { allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 } }
}

extension SIMD2<UInt64> {
  /// Sixteen bytes at once: whether all are small ASCII letters, digits or hyphens.
  @inline(__always)
  fileprivate var isOfPlainName: Bool {
    // A letter has its bit 5 if it is a small one, and so have digits and the hyphen.
    let others = bytesOutsideNames | ~self & Self(repeating: 0x2020_2020_2020_2020)
    return others.x | others.y == 0
  }
}

extension UInt64 {
  /// Eight bytes at once: whether none is a control character.
  @inline(__always)
  fileprivate var isOfPlainText: Bool {
    // Bytes below 0x20, and DEL. A borrow comes only out of a byte that is one of them.
    let delete = self ^ 0x7F7F_7F7F_7F7F_7F7F
    let found = ((self &- 0x2020_2020_2020_2020) & ~self) | ((delete &- 0x0101_0101_0101_0101) & ~delete)
    return found & 0x8080_8080_8080_8080 == 0
  }
}

extension SIMD4<UInt64> {
  /// The same for 32 bytes.
  @inline(__always)
  fileprivate var isOfPlainText: Bool {
    let delete = self ^ Self(repeating: 0x7F7F_7F7F_7F7F_7F7F)
    let found =
      ((self &- Self(repeating: 0x2020_2020_2020_2020)) & ~self)
      | ((delete &- Self(repeating: 0x0101_0101_0101_0101)) & ~delete)
    return (found[0] | found[1] | found[2] | found[3]) & 0x8080_8080_8080_8080 == 0
  }
}
