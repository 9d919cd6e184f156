internal import HTTPWire
internal import WebFormats

/// The client's address behind trusted proxies: each has added the address that it saw to `X-Forwarded-For`.
enum ForwardedClient {
  /// The rightmost address that is not a trusted proxy: it is the peer of a proxy that we trust, and entries to its
  /// left are untrusted. If all are trusted, the leftmost. An invalid address ends the search: the last valid one is
  /// used.
  /// - Returns: nil where the lines hold no address at the right end.
  static func address(
    _ fields: borrowing FieldTable, _ bytes: RawSpan, trustedProxies: [NetworkPrefix]
  ) -> IPAddress? {
    // Collected from the left, since that is how lists are read; a head's fields are bounded, and so is this.
    var elements: [Range<Int>] = []
    for line in fields.lines where line.known == .xForwardedFor {
      bytes.forEachListElement(line.value) { elements.append($0) }
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
