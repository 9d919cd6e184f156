internal import HTTPWire

/// Who the client is behind trusted proxies: each of them has added the address that it saw to `X-Forwarded-For`.
enum ForwardedClient {
  /// The rightmost address that is no trusted proxy: whoever stands there spoke to one that we trust, and what stands
  /// left of it is a stranger's word. If all are trusted, the leftmost. What is no address ends the search: the last
  /// good one holds.
  /// - Returns: nil where the lines hold no address at the right end.
  static func address(
    _ fields: borrowing FieldTable, _ bytes: RawSpan, trustedProxies: [NetworkPrefix]
  ) -> IPAddressBytes? {
    // Collected from the left, since that is how lists are read; a head's fields are bounded, and so is this.
    var elements: [Range<Int>] = []
    for line in fields.lines where line.known == .xForwardedFor {
      bytes.forEachListElement(line.value) { elements.append($0) }
    }
    var last: IPAddressBytes?
    for element in elements.reversed() {
      guard let address = read(bytes, element) else { break }
      last = address
      if !trustedProxies.contains(where: { $0.contains(address) }) { break }
    }
    return last
  }

  /// An address, in brackets or not, with a port or not: proxies write all of these.
  private static func read(_ bytes: RawSpan, _ element: Range<Int>) -> IPAddressBytes? {
    var host = element
    if !host.isEmpty, bytes.byte(at: host.lowerBound) == 0x5B {
      var end = host.lowerBound
      while end < host.upperBound, bytes.byte(at: end) != 0x5D { end += 1 }
      guard end < host.upperBound, isPort(bytes, end + 1..<host.upperBound) else { return nil }
      return AddressReading.ipv6(bytes, host.lowerBound + 1..<end).flatMap { IPAddressBytes($0) }
    }
    if let address = AddressReading.ipv6(bytes, host) { return IPAddressBytes(address) }
    var end = host.lowerBound
    while end < host.upperBound, bytes.byte(at: end) != 0x3A { end += 1 }
    guard isPort(bytes, end..<host.upperBound) else { return nil }
    host = host.lowerBound..<end
    return AddressReading.ipv4(bytes, host).flatMap { IPAddressBytes(AddressReading.mapped($0)) }
  }

  /// Nothing, or a colon and digits.
  private static func isPort(_ bytes: RawSpan, _ range: Range<Int>) -> Bool {
    guard !range.isEmpty else { return true }
    guard bytes.byte(at: range.lowerBound) == 0x3A, range.count <= 6 else { return false }
    return range.dropFirst().allSatisfy { bytes.byte(at: $0) &- 0x30 < 10 }
  }
}
