import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A listener on loopback whose queue is full: connections to it stay on their way, since it drops their packets.
package final class FullListener: Sendable {
  /// Its port of 127.0.0.1.
  package let port: UInt16
  private let descriptors: [Int32]

  /// A call of the system that failed, or a queue that took every connection.
  private struct ListenError: Error {
    let call: String
    let code: Int32
  }

  /// Listens on a free port, and connects until a connection stays on its way.
  package init() throws {
    let listener = Self.makeSocket()
    var descriptors = [listener]
    do {
      guard Self.withLoopback(port: 0, { bind(listener, $0, $1) }) == 0, listen(listener, 0) == 0 else {
        throw ListenError(call: "listen", code: errno)
      }
      let port = try Self.port(of: listener)
      var isFull = false
      for _ in 0..<8 where !isFull {
        let descriptor = Self.makeSocket()
        _ = Self.withLoopback(port: port) { connect(descriptor, $0, $1) }
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        isFull = poll(&entry, 1, 200) == 0
        if isFull { close(descriptor) } else { descriptors.append(descriptor) }
      }
      guard isFull else { throw ListenError(call: "poll", code: 0) }
      self.port = port
      self.descriptors = descriptors
    } catch {
      for descriptor in descriptors { close(descriptor) }
      throw error
    }
  }

  deinit { for descriptor in descriptors { close(descriptor) } }

  /// Counts the sockets of this machine that are connecting to it: SYN_SENT in proc_net_tcp(5).
  package func connectingCount() throws -> Int {
    // Foundation reads a file that says that it is empty to its end only by a handle.
    let file = FileHandle(forReadingAtPath: "/proc/net/tcp")
    defer { try? file?.close() }
    let table = String(decoding: try file?.readToEnd() ?? Data(), as: UTF8.self)
    let suffix = String(format: ":%04X", Int(port))
    let sockets = table.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      return words.count > 3 && words[2].hasSuffix(suffix) && words[3] == "02" ? words[1] : nil
    }
    // By their own addresses: while others come and go, the system may show one twice.
    return Set(sockets).count
  }

  /// A socket that a child of another test does not keep open.
  private static func makeSocket() -> Int32 {
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    return socket(AF_INET, kind, 0)
  }

  private static func port(of descriptor: Int32) throws -> UInt16 {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    guard result == 0 else { throw ListenError(call: "getsockname", code: errno) }
    return UInt16(bigEndian: address.sin_port)
  }

  /// Calls `body` with the socket address of a port of 127.0.0.1.
  private static func withLoopback(port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
  }
}
