/// An IP address as 16 bytes in network order; an IPv4 address in its IPv4-mapped form (RFC 4291, 2.5.5.2).
package struct IPAddress: Sendable, Hashable {
  /// Always 16.
  package let bytes: [UInt8]

  /// Parses a numeric address of either family: no zone, no brackets, no names.
  package init?(_ text: String) { self.init(Array(text.utf8)) }

  /// Parses a numeric address of either family.
  package init?(_ text: [UInt8]) {
    guard let address = IPAddress(v4: text) ?? IPAddress(v6: text) else { return nil }
    self = address
  }

  /// Parses a dotted quad, without leading zeros.
  package init?(v4 text: some Collection<UInt8>) {
    let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var octets: [UInt8] = []
    for part in parts {
      guard let number = DecimalDigits.parse(canonical: part, limit: 255) else { return nil }
      octets.append(UInt8(number))
    }
    self.init(bytes: Self.mapped(octets))
  }

  /// Parses an IPv6 address (RFC 4291, 2.2). The last 32 bits may be a dotted quad.
  package init?(v6 text: some Collection<UInt8>) {
    let text = Array(text)
    var address: [UInt8] = []
    /// The position of `::` in `address`.
    var gap: Int?
    var start = 0
    if text.starts(with: "::".utf8) {
      gap = 0
      start = 2
    }
    while start < text.count {
      let end = text[start...].firstIndex(of: UInt8(ascii: ":")) ?? text.count
      if end == text.count, let tail = IPAddress(v4: text[start...]) {
        address += tail.bytes[12...]
        break
      }
      guard address.count < 16, let group = Hex.number(text[start..<end], maximumDigits: 4) else { return nil }
      address += [UInt8(truncatingIfNeeded: group >> 8), UInt8(truncatingIfNeeded: group)]
      guard end < text.count else { break }
      start = end + 1
      // A single colon at the end is followed by nothing.
      guard start < text.count else { return nil }
      if text[start] == UInt8(ascii: ":") {
        guard gap == nil else { return nil }
        gap = address.count
        start += 1
      }
    }
    if let gap {
      // `::` is short for at least one group.
      guard address.count <= 14 else { return nil }
      address.insert(contentsOf: Array(repeating: 0, count: 16 - address.count), at: gap)
    }
    self.init(bytes: address)
  }

  /// - Returns: nil unless there are 16 bytes.
  package init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  /// The IPv4-mapped form of the four bytes of an IPv4 address.
  package static func mapped(_ octets: [UInt8]) -> [UInt8] { mappedPrefix + octets }

  /// The first 96 bits of an IPv4-mapped address.
  private static let mappedPrefix: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF]

  /// Whether this is an IPv4 address.
  package var isIPv4: Bool { bytes.starts(with: Self.mappedPrefix) }

  /// Whether only the same machine can be reached by it: 127.0.0.0/8, also in its IPv4-mapped form, and `::1`.
  package var isLoopback: Bool {
    isIPv4 ? bytes[12] == 127 : bytes[15] == 1 && bytes[..<15].allSatisfy { $0 == 0 }
  }

  /// Whether it is the address of every interface: `0.0.0.0` or `::`.
  package var isUnspecified: Bool { bytes[(isIPv4 ? 12 : 0)...].allSatisfy { $0 == 0 } }
}

extension IPAddress: CustomStringConvertible {
  /// The form of RFC 5952, as `inet_ntop` writes it; an IPv4 address as a dotted quad.
  package var description: String {
    let quad = bytes[12...].map { String($0) }.joined(separator: ".")
    if isIPv4 { return quad }
    let groups = stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
    let gap = Self.longestZeros(in: groups)
    // IPv4-compatible addresses (RFC 4291, 2.5.5.1) end in a dotted quad too.
    if gap == 0..<6 { return "::\(quad)" }
    func text(_ groups: ArraySlice<UInt16>) -> String {
      groups.map { String($0, radix: 16) }.joined(separator: ":")
    }
    guard gap.count > 1 else { return text(groups[...]) }
    return "\(text(groups[..<gap.lowerBound]))::\(text(groups[gap.upperBound...]))"
  }

  /// The first of the longest runs of zeros.
  private static func longestZeros(in groups: [UInt16]) -> Range<Int> {
    var longest = 0..<0
    var start = 0
    for index in groups.indices {
      if groups[index] != 0 {
        start = index + 1
      } else if index + 1 - start > longest.count {
        longest = start..<index + 1
      }
    }
    return longest
  }
}
