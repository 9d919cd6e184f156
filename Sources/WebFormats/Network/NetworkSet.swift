/// A set of networks, indexed for the lookup of an address. The time depends on the number of different lengths, not on
/// the number of networks.
package struct NetworkSet: Sendable, Hashable {
  /// The networks of each length; at most 129 lengths.
  private let blocks: [Block]

  private struct Block: Hashable {
    let mask: Bits
    let networks: Set<Bits>
  }

  /// The bits of an IPv6 address, or of an IPv4 address in its IPv4-mapped form.
  private struct Bits: Hashable {
    var high: UInt64 = 0
    var low: UInt64 = 0

    init(_ bytes: [UInt8]) {
      for byte in bytes.prefix(8) { high = high << 8 | UInt64(byte) }
      for byte in bytes.dropFirst(8) { low = low << 8 | UInt64(byte) }
    }

    /// Leading ones.
    init(length: Int) {
      high = length >= 64 ? .max : ~(.max >> UInt64(length))
      low = length <= 64 ? 0 : ~(.max >> UInt64(length - 64))
    }

    func masked(by mask: Bits) -> Bits {
      var result = self
      result.high &= mask.high
      result.low &= mask.low
      return result
    }
  }

  /// Indexes networks, which may overlap or repeat.
  package init(_ networks: some Sequence<NetworkPrefix>) {
    var byLength: [Int: Set<Bits>] = [:]
    for network in networks { byLength[network.bits, default: []].insert(Bits(network.address)) }
    blocks = byLength.sorted { $0.key < $1.key }.map { Block(mask: Bits(length: $0.key), networks: $0.value) }
  }

  /// Whether any of the networks contains an address.
  package func contains(_ address: IPAddress) -> Bool {
    let bits = Bits(address.bytes)
    for block in blocks where block.networks.contains(bits.masked(by: block.mask)) { return true }
    return false
  }
}
