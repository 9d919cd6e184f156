internal import WebFormats

/// Version 2 (section 2.2): a signature of twelve bytes, version and command, family and transport, the length of what
/// follows, addresses, and type-length-value fields, which are passed over.
enum ProxyBlock {
  private static let signature: [UInt8] = [
    0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
  ]
  /// Bytes before the addresses.
  private static let fixed = 16

  static func read(_ bytes: RawSpan) -> ProxyHeader.Reading {
    for offset in 0..<min(bytes.byteCount, signature.count) where bytes.byte(at: offset) != signature[offset] {
      return .malformed
    }
    guard bytes.byteCount >= fixed else { return .incomplete }
    let (command, family) = (bytes.byte(at: 12), bytes.byte(at: 13))
    let length = Int(bytes.byte(at: 14)) << 8 | Int(bytes.byte(at: 15))
    // The high half is the version.
    guard command == 0x20 || command == 0x21 else { return .malformed }
    // Of a LOCAL connection the rest is thrown away, whatever it says.
    let shape = command == 0x20 ? Shape(addressLength: 0, source: .peer) : shape(family)
    guard let shape, length >= shape.addressLength else { return .malformed }
    guard bytes.byteCount >= fixed + length else { return .incomplete }
    let source: ProxyHeader.Source =
      switch shape.source {
      case .ipv4: .address(IPAddress.mapped(bytes.array(fixed..<fixed + 4)))
      case .ipv6: .address(bytes.array(fixed..<fixed + 16))
      case .unix: .unix
      case .peer: .peer
      case .unknown: .unknown
      }
    return .complete(ProxyHeader(source: source, byteCount: fixed + length))
  }

  /// Layout of the addresses of a family.
  private struct Shape {
    let addressLength: Int
    let source: Source

    enum Source { case peer, unknown, ipv4, ipv6, unix }
  }

  /// The families that are assigned, each with streams and datagrams: a balancer that speaks QUIC says datagram.
  private static func shape(_ family: UInt8) -> Shape? {
    switch family {
    case 0x00: Shape(addressLength: 0, source: .unknown)
    case 0x11, 0x12: Shape(addressLength: 12, source: .ipv4)
    case 0x21, 0x22: Shape(addressLength: 36, source: .ipv6)
    case 0x31, 0x32: Shape(addressLength: 216, source: .unix)
    default: nil
    }
  }
}
