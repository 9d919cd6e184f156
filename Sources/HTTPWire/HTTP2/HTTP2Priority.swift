/// The client's wish for the order of its responses, from `priority` (RFC 9218, 4). A hint: what cannot be read is
/// passed over.
struct HTTP2Priority: Equatable {
  /// 0, the first, to 7. Default: 3.
  var urgency: UInt8 = 3
  /// Whether parts of the response are of use while others are still to come. Default: no.
  var isIncremental = false

  /// Takes what a field line says; a later one has the last word.
  mutating func read(_ value: UnsafeRawBufferPointer) {
    let bytes = RawSpan(_unsafeBytes: value)
    bytes.forEachListElement(0..<value.count) { element in
      // Parameters say nothing that is known.
      let end = element.first { bytes.byte(at: $0) == 0x3B } ?? element.upperBound
      let member = element.lowerBound..<end
      if bytes.equals("i", member) || bytes.equals("i=?1", member) {
        isIncremental = true
      } else if bytes.equals("i=?0", member) {
        isIncremental = false
      } else if member.count == 3, bytes.equals("u=", member.prefix(2)) {
        let digit = bytes.byte(at: member.upperBound - 1) &- 0x30
        if digit < 8 { urgency = digit }
      }
    }
  }
}
