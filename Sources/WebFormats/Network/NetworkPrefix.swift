/// A block of IP addresses in CIDR notation (RFC 4632, RFC 4291, 2.3), or a single address.
///
/// An IPv4 prefix also contains the IPv4-mapped IPv6 form of its addresses (`::ffff:10.0.0.1`), which is how a
/// dual-stack socket reports an IPv4 peer.
package struct NetworkPrefix: Sendable, Equatable, CustomStringConvertible {
  /// The network address, 16 bytes; an IPv4 address in its IPv4-mapped form.
  let address: [UInt8]
  /// Leading bits of `address` that count, 0 to 128.
  let bits: Int
  /// The text that it was parsed from.
  package let description: String

  /// Parses `10.0.0.0/8`, `fd00::/8` or a single address.
  /// - Returns: nil if the text is not such a block, or has bits set beyond its length.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let address = IPAddress(String(parts[0])) else { return nil }
    let width = address.isIPv4 ? 32 : 128
    var length = width
    if parts.count == 2 {
      guard parts[1].utf8.count <= 3, let given = DecimalDigits.parse(parts[1].utf8, limit: width) else { return nil }
      length = given
    }
    let bits = address.isIPv4 ? length + 96 : length
    for bit in bits..<128 where address.bytes[bit / 8] & (0x80 >> UInt8(bit % 8)) != 0 { return nil }
    self.address = address.bytes
    self.bits = bits
    description = text
  }

  /// Whether every address of its kind is in the block.
  package var isEverything: Bool { bits == 0 || bits == 96 && address[10] == 0xFF }

  /// Whether every address in the block is one of this machine's own to itself: in 127.0.0.0/8, or `::1`.
  package var isLoopback: Bool { ["127.0.0.0/8", "::1"].contains { NetworkPrefix($0)?.covers(self) == true } }

  /// Whether another, smaller block is in this one.
  package func includes(_ smaller: NetworkPrefix) -> Bool { bits < smaller.bits && covers(smaller) }

  /// Whether another block is in this one, or the same.
  package func covers(_ other: NetworkPrefix) -> Bool {
    bits <= other.bits && IPAddress(bytes: other.address).map { contains($0) } == true
  }

  /// Whether `peer` is in the block.
  package func contains(_ peer: IPAddress) -> Bool {
    var bit = 0
    while bit + 8 <= bits {
      if address[bit / 8] != peer.bytes[bit / 8] { return false }
      bit += 8
    }
    guard bit < bits else { return true }
    let mask = UInt8(truncatingIfNeeded: 0xFF00 >> (bits - bit))
    return address[bit / 8] & mask == peer.bytes[bit / 8] & mask
  }
}
