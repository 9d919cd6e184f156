/// The character classes of RFC 9110 and RFC 3986, each as a set of 128 bits: a lookup is a shift, not a load.
package struct CharacterClass: Sendable {
  let low: UInt64
  let high: UInt64

  /// The class of exactly these ASCII characters.
  package init(_ characters: StaticString) {
    var low: UInt64 = 0
    var high: UInt64 = 0
    characters.withUTF8Buffer { bytes in
      for byte in bytes {
        if byte < 64 { low |= 1 << UInt64(byte) } else if byte < 128 { high |= 1 << UInt64(byte - 64) }
      }
    }
    self.low = low
    self.high = high
  }

  @inline(__always)
  init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// Whether `byte` belongs to the class; a byte from 0x80 on never does.
  @inline(__always)
  package func contains(_ byte: UInt8) -> Bool {
    let bits = byte < 64 ? low : high
    return byte < 128 && (bits &>> UInt64(byte & 63)) & 1 != 0
  }

  /// `tchar` of RFC 9110, 5.6.2: letters, digits and ``!#$%&'*+-.^_`|~``.
  @inline(__always)
  package static var token: CharacterClass { CharacterClass(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE) }

  /// Whether a request target may hold `byte`: visible ASCII, and bytes from 0x80, which no URI has (RFC 3986) and old
  /// clients and scripts send. The policy decides on the meaning of a path.
  @inline(__always)
  package static func isOfTarget(_ byte: UInt8) -> Bool { byte > 0x20 && byte != 0x7F }
}

extension RawSpan {
  /// The first place from `start` on that holds no token character (RFC 9110, 5.6.2), or `byteCount`.
  @inline(__always)
  func endOfToken(from start: Int) -> Int {
    var offset = start
    let end = byteCount
    while offset + 16 <= end {
      let others = self.wordPair(at: offset).bytesOutsideNames
      if others.x | others.y == 0 {
        offset += 16
        continue
      }
      // A byte that is neither letter, digit nor hyphen may still be a token character, but rarely is one.
      offset += others.firstMarkedByte
      guard CharacterClass.token.contains(byte(at: offset)) else { return offset }
      offset += 1
    }
    while offset < end, CharacterClass.token.contains(byte(at: offset)) { offset += 1 }
    return offset
  }

  /// The first place from `start` on that holds a control character other than HTAB (RFC 9110, 5.5: a field value is
  /// visible ASCII, SP, HTAB and obs-text), or `byteCount`.
  @inline(__always)
  func endOfFieldText(from start: Int) -> Int {
    var offset = start
    let end = byteCount
    while offset + 16 <= end {
      let found = self.wordPair(at: offset).controlCharacters
      if found.x | found.y == 0 {
        offset += 16
        continue
      }
      offset += found.firstMarkedByte
      if byte(at: offset) != 0x09 { return offset }
      offset += 1
    }
    while offset < end {
      let byte = byte(at: offset)
      if (byte < 0x20 && byte != 0x09) || byte == 0x7F { return offset }
      offset += 1
    }
    return end
  }
}

extension SIMD2<UInt64> {
  /// Sixteen bytes at once: the highest bit of each that is below 0x20, or DEL. In each word the lowest is right; those
  /// above it may be marked wrongly.
  @inline(__always)
  var controlCharacters: SIMD2<UInt64> {
    // A borrow can only mark bytes above a true match.
    let below = (self &- SIMD2(repeating: 0x2020_2020_2020_2020)) & ~self
    let delete = self ^ SIMD2(repeating: 0x7F7F_7F7F_7F7F_7F7F)
    let others = (delete &- SIMD2(repeating: 0x0101_0101_0101_0101)) & ~delete
    return (below | others) & SIMD2(repeating: 0x8080_8080_8080_8080)
  }

  /// Sixteen bytes at once: the highest bit of each that is neither an ASCII letter, a digit nor a hyphen.
  @inline(__always)
  var bytesOutsideNames: Self {
    // A byte without its highest bit plus at most 0x7F does not overflow; bytes with that bit do not match.
    let plain = self & Self(repeating: 0x7F7F_7F7F_7F7F_7F7F)
    let folded = plain | Self(repeating: 0x2020_2020_2020_2020)
    let letters =
      (folded &+ Self(repeating: 0x1F1F_1F1F_1F1F_1F1F)) & ~(folded &+ Self(repeating: 0x0505_0505_0505_0505))
    let digits =
      (plain &+ Self(repeating: 0x5050_5050_5050_5050)) & ~(plain &+ Self(repeating: 0x4646_4646_4646_4646))
    let hyphens =
      ~((plain ^ Self(repeating: 0x2D2D_2D2D_2D2D_2D2D)) &+ Self(repeating: 0x7F7F_7F7F_7F7F_7F7F))
    return ~((letters | digits | hyphens) & ~self) & Self(repeating: 0x8080_8080_8080_8080)
  }

  /// The place of the first of sixteen bytes whose highest bit is set; one must be.
  @inline(__always)
  var firstMarkedByte: Int { x != 0 ? x.trailingZeroBitCount / 8 : 8 + y.trailingZeroBitCount / 8 }
}
