internal import WebFormats

/// Names that only the gateway may set, in every spelling that something behind it could take for the same.
///
/// CGI and its heirs turn `-` into `_` in what they hand to an application, PHP turns `.` too, and lighttpd whatever is
/// neither letter nor digit: `X_Forwarded_User` and `X.Forwarded~User` arrive there as `X-Forwarded-User` does. So all
/// characters of a name but letters and digits count as one here, and ASCII case does not count.
package struct ReservedNames: Sendable {
  /// The folded names.
  private var names: [[UInt8]] = []
  /// For each length up to 63 the first letters that occur with it: what rules out nearly every field at once.
  private var firstLetters: [UInt32] = Array(repeating: 0, count: 64)

  package init(_ names: some Sequence<String>) {
    for name in names {
      let folded = name.utf8.map(Self.fold)
      guard !folded.isEmpty, !self.names.contains(folded) else { continue }
      self.names.append(folded)
      firstLetters[min(folded.count, 63)] |= Self.letterBit(folded[0])
    }
  }

  /// Whether the name in `range` is one of them.
  @inline(__always)
  package func contains(_ bytes: RawSpan, _ range: Range<Int>) -> Bool {
    let first = Self.fold(bytes.byte(at: range.lowerBound))
    guard firstLetters[min(range.count, 63)] & Self.letterBit(first) != 0 else { return false }
    return search(bytes, range)
  }

  @inline(never)
  private func search(_ bytes: RawSpan, _ range: Range<Int>) -> Bool {
    names.contains { name in
      guard name.count == range.count else { return false }
      for offset in 0..<name.count where Self.fold(bytes.byte(at: range.lowerBound + offset)) != name[offset] {
        return false
      }
      return true
    }
  }

  /// Whether the name in `range` begins with `x-forwarded-`, in any spelling.
  @inline(__always)
  package static func isForwardedFamily(_ bytes: RawSpan, _ range: Range<Int>) -> Bool {
    guard range.count >= 12, bytes.byte(at: range.lowerBound) | 0x20 == 0x78 else { return false }
    return hasForwardedPrefix(bytes, range)
  }

  @inline(never)
  private static func hasForwardedPrefix(_ bytes: RawSpan, _ range: Range<Int>) -> Bool {
    for (offset, expected) in forwardedPrefix.enumerated()
    where fold(bytes.byte(at: range.lowerBound + offset)) != expected { return false }
    return true
  }

  private static let forwardedPrefix: [UInt8] = Array("x-forwarded-".utf8)

  @inline(__always)
  private static func fold(_ byte: UInt8) -> UInt8 {
    let letter = byte.asciiLowercased
    return letter &- 0x61 < 26 || byte &- 0x30 < 10 ? letter : 0x2D
  }

  /// A bit of 27: one for each letter, the last for everything else.
  @inline(__always)
  private static func letterBit(_ folded: UInt8) -> UInt32 {
    let letter = folded &- 0x61
    return 1 << UInt32(letter < 26 ? letter : 26)
  }
}
