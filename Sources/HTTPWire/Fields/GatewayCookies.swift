internal import WebFormats

/// Finds the cookies of the gateway itself among those of the application (RFC 6265, 4.2.1).
///
/// Found once, they serve twice: the gate reads them, and forwarding leaves them out. The rule is that of
/// `RequestCookies` in WebFormats; here it is applied in place, because a request of a signed-in user must not
/// allocate. A class, because every request uses it: a copy of a structure would retain both names.
package final class GatewayCookies: Sendable {
  /// The name of the session's cookie; every cookie whose name is this, or begins with this and a hyphen, is ours.
  /// In small letters.
  private let name: [UInt8]
  /// The cookie name of another gateway on the same host name; empty without one.
  private let another: [UInt8]
  /// The length of the shorter name: so many bytes of one of our cookies are not an equals sign.
  private let shortest: Int

  /// - Parameters:
  ///   - name: at least eight characters of RFC 9110's token.
  ///   - another: such a name whose cookies are kept from applications in the same way.
  package init(name: String, another: String? = nil) {
    self.name = name.utf8.map(\.asciiLowercased)
    let other = (another ?? name).utf8.map(\.asciiLowercased)
    self.another = other == self.name ? [] : other
    shortest = min(self.name.count, other.count)
  }

  /// Ranges of one of our cookies, or of something else in a `Cookie` field that is not forwarded.
  package struct Place: Sendable, Equatable {
    /// The index of its field line.
    package var line: Int
    /// Its name.
    package var name: Range<Int>
    /// Its raw value: quotes belong to it (RFC 6265, 5.2).
    package var value: Range<Int>
    /// The part that is not forwarded: the pair with the white space before it and the semicolon after it.
    package var whole: Range<Int>

    /// Ranges in the bytes of the head, as `find(_:in:)` has found them.
    package init(line: Int, name: Range<Int>, value: Range<Int>, whole: Range<Int>) {
      self.line = line
      self.name = name
      self.value = value
      self.whole = whole
    }
  }

  /// Fills `head.gatewayCookies`.
  @inline(__always)
  package func find(_ bytes: RawSpan, in head: inout RequestHead) {
    guard let first = head.fields.index(of: .cookie) else { return }
    for index in first..<head.fields.lines.count {
      let line = head.fields.lines[index]
      if line.known == .cookie { find(bytes, line.value, index, &head) }
    }
  }

  private func find(_ bytes: RawSpan, _ value: Range<Int>, _ index: Int, _ head: inout RequestHead) {
    var start = value.lowerBound
    while start < value.upperBound {
      var nameStart = start
      while nameStart < value.upperBound, bytes.byte(at: nameStart) == 0x20 || bytes.byte(at: nameStart) == 0x09 {
        nameStart += 1
      }
      let end = bytes.firstSemicolon(in: nameStart..<value.upperBound)
      let next = min(end + 1, value.upperBound)
      if isGatewayCookie(bytes, nameStart..<end) {
        var equals = nameStart + shortest
        while equals < end, bytes.byte(at: equals) != 0x3D { equals += 1 }
        var valueEnd = end
        while valueEnd > equals, bytes.byte(at: valueEnd - 1) == 0x20 || bytes.byte(at: valueEnd - 1) == 0x09 {
          valueEnd -= 1
        }
        let name = nameStart..<equals
        let content = min(equals + 1, valueEnd)..<valueEnd
        head.gatewayCookies.append(Place(line: index, name: name, value: content, whole: start..<next))
      }
      start = next
    }
  }

  /// Whether the pair in `range` is one of our cookies. ASCII case does not count: browsers look at `__Host-` that way,
  /// and an application that does must not see ours under another spelling.
  @inline(__always)
  private func isGatewayCookie(_ bytes: RawSpan, _ range: Range<Int>) -> Bool {
    // Both names begin with `__Host-`.
    guard range.count > 0, bytes.byte(at: range.lowerBound).asciiLowercased == name[0] else { return false }
    return isName(name, bytes, range) || !another.isEmpty && isName(another, bytes, range)
  }

  private func isName(_ name: [UInt8], _ bytes: RawSpan, _ range: Range<Int>) -> Bool {
    guard range.count >= name.count else { return false }
    let end = range.lowerBound + name.count
    guard bytes.equalsIgnoringCase(name.span.bytes, range.lowerBound..<end) else { return false }
    guard range.count > name.count else { return true }
    switch bytes.byte(at: end) {
    case 0x3D, 0x2D, 0x20, 0x09: return true
    default: return false
    }
  }

  /// Whether a `Set-Cookie` value sets a cookie that would be returned as one of the gateway's: also one without a
  /// name, whose value a browser sends alone (`=__Host-cordon=…` comes back as `__Host-cordon=…`).
  package func isSet(by value: Range<Int>, _ bytes: RawSpan) -> Bool {
    var start = value.lowerBound
    let end = bytes.firstSemicolon(in: value)
    while start < end, bytes.byte(at: start) == 0x20 || bytes.byte(at: start) == 0x09 || bytes.byte(at: start) == 0x3D {
      start += 1
    }
    return isGatewayCookie(bytes, start..<end)
  }
}

extension RawSpan {
  /// The first semicolon of `range`, or its end.
  @inline(__always)
  package func firstSemicolon(in range: Range<Int>) -> Int {
    var offset = range.lowerBound
    while offset + 16 <= range.upperBound {
      let pair = self.wordPair(at: offset) ^ SIMD2(repeating: 0x3B3B_3B3B_3B3B_3B3B)
      let found =
        (pair &- SIMD2(repeating: 0x0101_0101_0101_0101)) & ~pair & SIMD2(repeating: 0x8080_8080_8080_8080)
      if found.x | found.y != 0 { return offset + found.firstMarkedByte }
      offset += 16
    }
    while offset < range.upperBound, byte(at: offset) != 0x3B { offset += 1 }
    return offset
  }
}
