internal import HTTPWire
internal import WebFormats

/// The client's address behind trusted proxies: each has added the address that it saw to `X-Forwarded-For`.
enum ForwardedClient {
  /// The rightmost address that is not a trusted proxy: it is the peer of a proxy that we trust, and entries to its
  /// left are untrusted. If all are trusted, the leftmost. An invalid address ends the search: the last valid one is
  /// used. So does an empty element, which RFC 9110, 5.6.1.2 ignores: a proxy wrote it for a peer that it does not
  /// know, and what precedes it is the client's own.
  /// - Returns: nil where the lines hold no address at the right end.
  static func address(
    _ fields: borrowing FieldTable, _ bytes: RawSpan, trustedProxies: [NetworkPrefix]
  ) -> IPAddress? {
    // Collected from the left, since that is how lists are read; a head's fields are bounded, and so is this.
    var elements: [Range<Int>] = []
    for line in fields.lines where line.known == .xForwardedFor {
      var start = line.value.lowerBound
      while start <= line.value.upperBound {
        var end = start
        while end < line.value.upperBound, bytes.byte(at: end) != UInt8(ascii: ",") { end += 1 }
        elements.append(bytes.trimmed(start..<end))
        start = end + 1
      }
    }
    var last: IPAddress?
    for element in elements.reversed() {
      guard let address = read(bytes, element) else { break }
      last = address
      if !trustedProxies.contains(where: { $0.contains(address) }) { break }
    }
    return last
  }

  /// An address, with or without a port, an IPv6 address with or without brackets: proxies write all of these.
  private static func read(_ bytes: RawSpan, _ element: Range<Int>) -> IPAddress? {
    let text = bytes.array(element)
    if let address = Host.address(text) { return address }
    guard let colon = text.lastIndex(of: UInt8(ascii: ":")),
      Port.parse(text[(colon + 1)...], allowsZero: true) != nil
    else { return nil }
    let host = text[..<colon]
    return host.first == UInt8(ascii: "[") ? Host.address(host) : IPAddress(v4: host)
  }
}
