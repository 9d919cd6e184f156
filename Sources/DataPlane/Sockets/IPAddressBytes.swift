#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// An IP address as 16 bytes in network order; an IPv4 address in its IPv4-mapped form (RFC 4291 2.5.5.2).
package struct IPAddressBytes: Sendable, Equatable, Hashable {
  package let bytes: [UInt8]

  /// Parses a numeric address as `inet_pton` does: no zone, no brackets, no names.
  package init?(_ text: String) {
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

  /// - Returns: nil unless there are 16 bytes.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  /// Whether this is an IPv4 address.
  package var isIPv4: Bool { bytes[10] == 0xFF && bytes[11] == 0xFF && bytes[..<10].allSatisfy { $0 == 0 } }
}

extension IPAddressBytes: CustomStringConvertible {
  /// As `inet_ntop` writes it (RFC 5952); an IPv4 address as a dotted quad.
  package var description: String {
    if isIPv4 { return bytes[12...].map { String($0) }.joined(separator: ".") }
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return "unknown" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
