#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The address of a Unix socket: a path, or a name in the abstract namespace (unix(7)).
package struct UnixSocketAddress: Sendable {
  private let bytes: [UInt8]

  /// The size of an address, in bytes; a path can have one fewer.
  private static let capacity = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

  /// - Parameter name: a path, or `@` and a name in the abstract namespace.
  /// - Returns: nil if it is empty, or too long for an address (108 bytes on Linux).
  package init?(_ name: String) {
    var bytes = Array(name.utf8)
    guard (1..<Self.capacity).contains(bytes.count) else { return nil }
    if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
    self.bytes = bytes
  }

  /// Opens a datagram socket that children do not inherit.
  /// - Parameter use: receives the socket, which it has to close, and this address for `bind` and `sendto`.
  /// - Returns: nil if no socket can be opened.
  package func withDatagramSocket<Result>(
    _ use: (_ socket: Int32, _ address: UnsafeRawPointer, _ length: UInt32) -> Result
  ) -> Result? {
    #if canImport(Glibc)
      let kind = CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
    #else
      let kind = SOCK_DGRAM | SOCK_CLOEXEC
    #endif
    let opened = socket(AF_UNIX, kind, 0)
    guard opened >= 0 else { return nil }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length = UInt32(MemoryLayout<sa_family_t>.size + bytes.count)
    return withUnsafeBytes(of: &address) { raw in
      raw.baseAddress.map { use(opened, $0, length) }
    }
  }
}
