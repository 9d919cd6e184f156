import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A listener on loopback whose queue is full: connections to it stay on their way, since the system drops their
/// packets.
package final class FullListener: Sendable {
  /// Its port of 127.0.0.1.
  package let port: UInt16
  private let descriptors: [Int32]

  /// A call of the system that failed, or a queue that did not become full.
  private struct ListenError: Error {
    let call: String
    let code: Int32
  }

  /// The time in which the system handles a few packets, in milliseconds, on a machine that is busy as well.
  private static let patience: Int32 = 60_000

  /// Listens on a free port, and connects until the queue has no room.
  package init() throws {
    let listener = Self.makeSocket()
    var descriptors = [listener]
    do {
      guard Self.withLoopback(port: 0, { bind(listener, $0, $1) }) == 0, listen(listener, 0) == 0 else {
        throw ListenError(call: "listen", code: errno)
      }
      let port = try Self.port(of: listener)
      var queue = try Self.queue(of: listener)
      while queue.count <= queue.limit {
        let descriptor = Self.makeSocket()
        descriptors.append(descriptor)
        _ = Self.withLoopback(port: port) { connect(descriptor, $0, $1) }
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&entry, 1, Self.patience) == 1 else { throw ListenError(call: "connect", code: errno) }
        // The client's end is connected a moment before that of the server is in the queue.
        let before = queue.count
        for _ in 0..<Self.patience where queue.count == before {
          queue = try Self.queue(of: listener)
          if queue.count == before { usleep(1_000) }
        }
        guard queue.count > before else { throw ListenError(call: "listen", code: 0) }
      }
      self.port = port
      self.descriptors = descriptors
    } catch {
      for descriptor in descriptors { close(descriptor) }
      throw error
    }
  }

  deinit { for descriptor in descriptors { close(descriptor) } }

  /// Counts the sockets of this machine that are connecting to it.
  package func connectingCount() throws -> Int {
    // While sockets of others come and go, the system may leave one out.
    var found = try connecting()
    while true {
      let known = found.count
      found.formUnion(try connecting())
      if found.count == known { return known }
    }
  }

  /// The sockets in SYN_SENT in proc_net_tcp(5), by their own addresses: the system may show one twice.
  private func connecting() throws -> Set<Substring> {
    // Foundation reads a file that says that it is empty to its end only by a handle.
    let file = FileHandle(forReadingAtPath: "/proc/net/tcp")
    defer { try? file?.close() }
    let table = String(decoding: try file?.readToEnd() ?? Data(), as: UTF8.self)
    let suffix = String(format: ":%04X", Int(port))
    return Set(
      table.split(separator: "\n").compactMap { line in
        let words = line.split(separator: " ")
        return words.count > 3 && words[2].hasSuffix(suffix) && words[3] == "02" ? words[1] : nil
      })
  }

  /// A socket that a child of another test does not keep open.
  private static func makeSocket() -> Int32 {
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    return socket(AF_INET, kind, 0)
  }

  /// The connections that wait to be accepted. One more than the limit fit into the queue (tcp(7), TCP_INFO).
  private static func queue(of listener: Int32) throws -> (count: UInt32, limit: UInt32) {
    var info = tcp_info()
    var length = socklen_t(MemoryLayout<tcp_info>.size)
    guard getsockopt(listener, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0 else {
      throw ListenError(call: "getsockopt", code: errno)
    }
    return (info.tcpi_unacked, info.tcpi_sacked)
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
