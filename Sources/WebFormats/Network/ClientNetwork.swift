/// The client that limits count an address for: an IPv4 address, or the /64 network of an IPv6 address, because one
/// client has all of its addresses.
package struct ClientNetwork: Sendable, Hashable {
  /// The first 64 bits of an IPv6 address; of an IPv4 address its 32 bits below the bit 32, as no client has an address
  /// in ::/32 (RFC 4291, 2.4).
  package let bits: UInt64

  /// The client of an address. An IPv4-mapped IPv6 address counts as its IPv4 address.
  package init(_ address: IPAddress) {
    func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    bits = address.isIPv4 ? 1 << 32 | number(address.bytes[12...]) : number(address.bytes[..<8])
  }
}
