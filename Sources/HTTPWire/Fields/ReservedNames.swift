/// Names that only the gateway may set, in every spelling that something behind it could take for the same.
///
/// CGI and WSGI turn `-` into `_` in what they hand to an application, PHP turns `.` too, and lighttpd whatever is
/// neither letter nor digit: `X_Forwarded_User` and `X.Forwarded~User` arrive there as `X-Forwarded-User` does. So all
/// characters of a name but letters and digits count as one here, and ASCII case does not count.
@usableFromInline
package struct ReservedNames: Sendable {
  /// The folded names, sorted.
  private var names: [[UInt8]] = []
  /// The folded beginnings of names that are reserved whatever follows, sorted; none of them begins with another.
  private var families: [[UInt8]] = []
  /// For each length up to 63 the first letters that occur with it: what rules out nearly every field at once.
  @usableFromInline private(set) var firstLetters: [UInt32] = Array(repeating: 0, count: 64)
  /// For each first letter the second letters that occur with it. A family makes its first letter occur with nearly all
  /// lengths: this rules out `Sec-Fetch-Dest` and `Content-Type` where `SSL-Client-` and `Client-Cert` are families.
  @usableFromInline private(set) var secondLetters: [UInt32] = Array(repeating: 0, count: 27)

  /// - Parameter families: beginnings of names, as in `X-Forwarded-`.
  package init(_ names: some Sequence<String>, families: [String] = []) {
    for name in names {
      let folded = name.utf8.map(Self.fold)
      guard !folded.isEmpty, !self.names.contains(folded) else { continue }
      self.names.append(folded)
      firstLetters[min(folded.count, 63)] |= Self.letterBit(folded[0])
      addSecondLetter(of: folded, isFamily: false)
    }
    for family in families {
      let folded = family.utf8.map(Self.fold)
      guard !folded.isEmpty, !self.families.contains(folded) else { continue }
      self.families.append(folded)
      for length in min(folded.count, 63)...63 { firstLetters[length] |= Self.letterBit(folded[0]) }
      addSecondLetter(of: folded, isFamily: true)
    }
    self.names.sort { $0.lexicographicallyPrecedes($1) }
    self.families.sort { $0.lexicographicallyPrecedes($1) }
    self.families = self.families.reduce(into: [[UInt8]]()) { kept, family in
      if let last = kept.last, family.starts(with: last) { return }
      kept.append(family)
    }
  }

  private mutating func addSecondLetter(of folded: [UInt8], isFamily: Bool) {
    if folded.count > 1 {
      secondLetters[Self.letterNumber(folded[0])] |= Self.letterBit(folded[1])
    } else if isFamily {
      secondLetters[Self.letterNumber(folded[0])] = .max
    }
  }

  /// Whether there are none.
  package var isEmpty: Bool { names.isEmpty && families.isEmpty }

  /// Whether the name in `range` is one of them.
  @inlinable @inline(__always)
  package func contains(_ bytes: RawSpan, _ range: Range<Int>) -> Bool {
    let first = Self.fold(bytes.byte(at: range.lowerBound))
    guard firstLetters[min(range.count, 63)] & Self.letterBit(first) != 0 else { return false }
    if range.count > 1 {
      let second = Self.letterBit(Self.fold(bytes.byte(at: range.lowerBound + 1)))
      guard secondLetters[Self.letterNumber(first)] & second != 0 else { return false }
    }
    return search(bytes, range)
  }

  /// Whether `name` is one of them.
  package func contains(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    return !bytes.isEmpty && contains(bytes.span.bytes, bytes.indices)
  }

  @usableFromInline @inline(never)
  func search(_ bytes: RawSpan, _ range: Range<Int>) -> Bool {
    Self.finds(bytes, range, in: names, asBeginning: false)
      || Self.finds(bytes, range, in: families, asBeginning: true)
  }

  /// Searches sorted entries for the name in `range`: binary, because nearly every `X-` header is looked for in them.
  private static func finds(
    _ bytes: RawSpan, _ range: Range<Int>, in entries: [[UInt8]], asBeginning: Bool
  ) -> Bool {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      let difference = order(of: entries[middle], bytes, range, asBeginning: asBeginning)
      if difference == 0 { return true }
      if difference < 0 { low = middle + 1 } else { high = middle }
    }
    return false
  }

  /// The order of a folded entry and the name in `range`: negative if the entry comes first, 0 if they are equal.
  /// - Parameter asBeginning: whether an entry equals each name that begins with it.
  private static func order(
    of entry: [UInt8], _ bytes: RawSpan, _ range: Range<Int>, asBeginning: Bool
  ) -> Int {
    for offset in 0..<min(entry.count, range.count) {
      let byte = fold(bytes.byte(at: range.lowerBound + offset))
      if entry[offset] != byte { return Int(entry[offset]) - Int(byte) }
    }
    return asBeginning && entry.count < range.count ? 0 : entry.count - range.count
  }

  @inlinable @inline(__always)
  static func fold(_ byte: UInt8) -> UInt8 {
    // As in WebFormats, which code that is inlined in other modules cannot name.
    let letter = byte &- 0x41 < 26 ? byte | 0x20 : byte
    return letter &- 0x61 < 26 || byte &- 0x30 < 10 ? letter : 0x2D
  }

  /// A bit of 27: one for each letter, the last for everything else.
  @inlinable @inline(__always)
  static func letterBit(_ folded: UInt8) -> UInt32 { 1 << UInt32(letterNumber(folded)) }

  /// The number of that bit.
  @inlinable @inline(__always)
  static func letterNumber(_ folded: UInt8) -> Int {
    let letter = folded &- 0x61
    return Int(letter < 26 ? letter : 26)
  }
}
