import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A listener on loopback whose queue is full: connections to it stay on their way, since it drops their packets.
final class FullListener: Sendable {
  let port: UInt16
  private let descriptors: [Int32]

  init() throws {
    let (listener, port) = try ScriptedUpstream.bound(to: 0)
    self.port = port
    var descriptors = [listener]
    var isFull = listen(listener, 0) != 0
    for _ in 0..<8 where !isFull {
      // A child of another test must not keep it open.
      let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
      let descriptor = socket(AF_INET, kind, 0)
      _ = try LoopbackAddress.connect(descriptor, to: port)
      var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      isFull = poll(&entry, 1, 200) == 0
      if isFull { close(descriptor) } else { descriptors.append(descriptor) }
    }
    self.descriptors = descriptors
    if !isFull { throw RawSocketError.system("listen", 0) }
  }

  deinit { for descriptor in descriptors { close(descriptor) } }

  /// Sockets of this machine that are connecting to it: SYN_SENT in proc_net_tcp(5).
  func connectingCount() throws -> Int {
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
}
