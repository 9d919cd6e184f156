import Foundation
import Glibc
import NIOCore
import Testing

/// A listener on loopback whose queue is full: connections to it stay on their way, since it drops their packets.
final class FullListener: Sendable {
  let address: SocketAddress
  private let descriptors: [CInt]

  init() throws {
    let (listener, address) = try plainListener(backlog: 0)
    self.address = address
    var descriptors = [listener]
    var isFull = false
    for _ in 0..<8 where !isFull {
      // A child of another test must not keep it open.
      let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
      let descriptor = socket(AF_INET, kind, 0)
      _ = address.withSockAddr { pointer, length in connect(descriptor, pointer, socklen_t(length)) }
      var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      isFull = Glibc.poll(&entry, 1, 200) == 0
      if isFull { close(descriptor) } else { descriptors.append(descriptor) }
    }
    self.descriptors = descriptors
    try #require(isFull)
  }

  deinit { for descriptor in descriptors { close(descriptor) } }

  /// Sockets of this machine that are connecting to it: SYN_SENT in proc_net_tcp(5).
  func connectingCount() throws -> Int {
    // Foundation reads a file that says that it is empty to its end only by a handle.
    let file = FileHandle(forReadingAtPath: "/proc/net/tcp")
    defer { try? file?.close() }
    let table = String(decoding: try file?.readToEnd() ?? Data(), as: UTF8.self)
    let suffix = String(format: ":%04X", address.port ?? 0)
    let sockets = table.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      return words.count > 3 && words[2].hasSuffix(suffix) && words[3] == "02" ? words[1] : nil
    }
    // By their own addresses: while others come and go, the system may show one twice.
    return Set(sockets).count
  }
}
