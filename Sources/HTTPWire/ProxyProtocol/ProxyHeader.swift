/// The header of the PROXY protocol, versions 1 and 2 (haproxy.org, `doc/proxy-protocol.txt`, 2020/03/05): the
/// announcement of the client's address by a load balancer at the start of a connection.
///
/// Read from listed peers only: its sender can claim any address.
package struct ProxyHeader: Equatable, Sendable {
  /// The origin of the connection.
  package enum Source: Equatable, Sendable {
    /// The connection is the peer's own (`LOCAL`: a health check).
    case peer
    /// The peer does not know its client's address (`UNKNOWN`, `AF_UNSPEC`).
    case unknown
    /// An IP address, 16 bytes in network order; an IPv4 address in its IPv4-mapped form (RFC 4291, 2.5.5.2).
    case address([UInt8])
    /// A Unix socket, which has no address that could mean anything here.
    case unix
  }

  /// The client's address, or the reason that there is none.
  package let source: Source
  /// Bytes of the header; what follows is the client's.
  package let byteCount: Int

  /// A header that was read.
  package init(source: Source, byteCount: Int) {
    self.source = source
    self.byteCount = byteCount
  }

  /// The result of reading the first bytes of a connection.
  package enum Reading: Equatable, Sendable {
    /// No header yet, but nothing speaks against one.
    case incomplete
    /// The header is whole; its ``ProxyHeader/byteCount`` bytes are to be dropped.
    case complete(ProxyHeader)
    /// No header, or a malformed one. The connection must be closed without a response to an unknown reader.
    case malformed
  }

  /// Most bytes that a header has: 16, and the 65,535 that its length can say. Most bytes to keep for it.
  package static let largest = 16 + 65_535

  /// Reads a header from the first bytes of a connection.
  package static func read(_ bytes: RawSpan) -> Reading {
    guard bytes.byteCount > 0 else { return .incomplete }
    return bytes.byte(at: 0) == ProxyLine.first ? ProxyLine.read(bytes) : ProxyBlock.read(bytes)
  }
}
