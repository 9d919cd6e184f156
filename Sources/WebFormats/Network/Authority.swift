/// An authority without user information: `host [":" port]` (RFC 3986, 3.2).
package struct Authority: Sendable, Equatable {
  /// In lower case, an IPv6 address with its brackets.
  package let host: [UInt8]
  /// Nil if the authority has none.
  package let port: UInt16?

  /// Takes a host and a port that were parsed already; the host's form is not checked.
  package init(host: [UInt8], port: UInt16?) {
    self.host = host
    self.port = port
  }

  /// Parses an authority that a person wrote, as in a configuration. Refuses an invalid host or port, an invalid
  /// address in brackets, and a name that browsers would read as an IPv4 address other than the one written.
  package init?(parsing text: some Collection<UInt8>) {
    let text = Array(text)
    guard let (end, port) = Self.split(text.span) else { return nil }
    let host = text[..<end].map(\.asciiLowercased)
    guard Host.address(host) != nil || host.first != UInt8(ascii: "[") && !Host.endsInNumber(host) else { return nil }
    self.init(host: host, port: port)
  }

  /// The end of the host, and the port if there is one. Without allocation.
  /// - Returns: nil if either is malformed.
  package static func split(_ authority: Span<UInt8>) -> (hostEnd: Int, port: UInt16?)? {
    guard let end = Host.end(in: authority) else { return nil }
    guard end < authority.count else { return (end, nil) }
    guard let port = Port.parse(authority, from: end + 1) else { return nil }
    return (end, port)
  }

  /// Whether an authority, such as the value of `Host`, names this machine itself, with any port.
  package static func isLoopback(_ authority: Span<UInt8>) -> Bool {
    guard let (end, _) = split(authority) else { return false }
    return Host.isLoopback((0..<end).map { authority[$0] })
  }

  /// Whether `range` of a request head has the characters of an authority: any that this gateway reads or forwards. A
  /// parser of requests checks only this, because `split` decides afterwards whether the authority is one of ours.
  /// Empty labels, and ports from 0 with leading zeros, pass here and match nothing there. Without allocation.
  package static func isWellFormed(_ bytes: RawSpan, _ range: Range<Int>) -> Bool {
    guard !range.isEmpty, range.count <= 262 else { return false }
    func byte(_ offset: Int) -> UInt8 { bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
    var cursor = range.lowerBound
    let end = range.upperBound
    if byte(cursor) == UInt8(ascii: "[") {
      cursor += 1
      while cursor < end, Host.isAddressByte(byte(cursor)) { cursor += 1 }
      guard cursor - range.lowerBound > 2, cursor < end, byte(cursor) == UInt8(ascii: "]") else { return false }
      cursor += 1
    } else {
      while cursor < end, Host.isNameByte(byte(cursor)) { cursor += 1 }
      guard cursor > range.lowerBound else { return false }
    }
    guard cursor < end else { return true }
    guard byte(cursor) == UInt8(ascii: ":"), (2...6).contains(end - cursor) else { return false }
    var port = 0
    for offset in cursor + 1..<end {
      guard byte(offset).isASCIIDigit else { return false }
      port = port * 10 + Int(byte(offset) & 0x0F)
    }
    return port <= 65_535
  }
}
