#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// An IP address as 16 bytes in network order; an IPv4 address in its IPv4-mapped form (RFC 4291 2.5.5.2).
public struct IPAddressBytes: Sendable, Equatable, Hashable {
  public let bytes: [UInt8]

  /// Parses a numeric address as `inet_pton` does: no zone, no brackets, no names.
  public init?(_ text: String) {
    var v4 = in_addr()
    if inet_pton(AF_INET, text, &v4) == 1 {
      let octets = withUnsafeBytes(of: &v4) { [UInt8]($0) }
      bytes = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF] + octets
      return
    }
    var v6 = in6_addr()
    guard inet_pton(AF_INET6, text, &v6) == 1 else { return nil }
    bytes = withUnsafeBytes(of: &v6) { [UInt8]($0) }
  }

  /// Whether this is an IPv4 address.
  public var isIPv4: Bool { bytes[10] == 0xFF && bytes[11] == 0xFF && bytes[..<10].allSatisfy { $0 == 0 } }
}
