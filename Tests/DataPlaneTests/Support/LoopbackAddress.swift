import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Calls of the system with an address of loopback. By NIO's type: the fields of `sockaddr_in` belong to whichever
/// module the compiler has seen first, Glibc or one of NIO's that cannot be imported.
enum LoopbackAddress {
  /// - Returns: what `connect(2)` returns.
  static func connect(_ descriptor: Int32, to port: UInt16) throws -> Int32 {
    try address(port).withSockAddr { Glibc.connect(descriptor, $0, socklen_t($1)) }
  }

  /// - Returns: what `bind(2)` returns.
  static func bind(_ descriptor: Int32, to port: UInt16) throws -> Int32 {
    try address(port).withSockAddr { Glibc.bind(descriptor, $0, socklen_t($1)) }
  }

  /// The port that a socket is bound to; nil if that cannot be had.
  static func port(of descriptor: Int32) -> UInt16? {
    // Family, port in network order, address (ip(7)).
    var bytes = [UInt8](repeating: 0, count: 16)
    var length = socklen_t(bytes.count)
    let result = bytes.withUnsafeMutableBytes {
      getsockname(descriptor, $0.assumingMemoryBound(to: sockaddr.self).baseAddress!, &length)
    }
    return result == 0 ? UInt16(bytes[2]) << 8 | UInt16(bytes[3]) : nil
  }

  private static func address(_ port: UInt16) throws -> SocketAddress {
    try SocketAddress(ipAddress: "127.0.0.1", port: Int(port))
  }
}
