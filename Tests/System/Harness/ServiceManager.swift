import Foundation
import TemporaryDirectoryTesting

/// A socket that listens and that the test holds, as systemd does for a socket unit.
final class HeldSocket: Sendable {
  let descriptor: Int32

  /// Listens on a port of 127.0.0.1.
  init(port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var on: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    guard withLoopback(port: port, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 4_096) == 0 else {
      throw HarnessError.system("listen on port \(port)", errno: errno)
    }
  }

  /// Listens on a Unix socket.
  init(path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard withUnixAddress(path, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 4_096) == 0 else {
      throw HarnessError.system("listen on \(path)", errno: errno)
    }
  }

  deinit { close(descriptor) }

  /// The length of the accept queue, which every holder of the socket sees (Linux: `tcpi_sacked` of a socket that
  /// listens).
  var acceptQueue: Int {
    get throws {
      var info = tcp_info()
      var length = socklen_t(MemoryLayout<tcp_info>.size)
      guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0 else {
        throw HarnessError.system("TCP_INFO", errno: errno)
      }
      return Int(info.tcpi_sacked)
    }
  }
}

/// The service manager of a process: the socket of `NOTIFY_SOCKET`.
final class NotificationSocket: Sendable {
  let path: String
  private let descriptor: Int32

  init(in directory: TemporaryDirectory) throws {
    path = "\(directory.path)/notify"
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard withUnixAddress(path, { bind(descriptor, $0, $1) }) == 0 else {
      throw HarnessError.system("bind to \(path)", errno: errno)
    }
  }

  deinit { close(descriptor) }

  /// Waits for a datagram with this line, and answers all its lines.
  func wait(for line: String, by deadline: Deadline = .standard) throws -> [String] {
    while true {
      let lines = try next(by: deadline, "a notification with \(line)")
      if lines.contains(line) { return lines }
    }
  }

  /// Messages that no test has waited for yet.
  func rest() throws -> [[String]] {
    var datagrams: [[String]] = []
    while let lines = receive() { datagrams.append(lines) }
    return datagrams
  }

  private func next(by deadline: Deadline, _ what: String) throws -> [String] {
    try poll(what, by: deadline) { receive() }
  }

  private func receive() -> [String]? {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    guard count >= 0 else { return nil }
    return String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
  }
}

/// Starts `cordon run` as systemd does: with these sockets as descriptors 3 and up, and `LISTEN_PID` the process
/// itself.
func startActivated(
  _ file: String, sockets: [(name: String, socket: HeldSocket)], environment: [String: String] = [:]
) throws -> ServerProcess {
  var environment = environment
  if !sockets.isEmpty {
    environment["LISTEN_FDS"] = "\(sockets.count)"
    environment["LISTEN_FDNAMES"] = sockets.map(\.name).joined(separator: ":")
  }
  return try ServerProcess(
    "/bin/sh",
    ["-c", "export LISTEN_PID=$$; exec \"$0\" \"$@\"", try Machine.binary("cordon"), "run", "--config", file],
    environment: environment, inherited: sockets.map(\.socket.descriptor))
}

/// Calls `body` with the socket address of a path.
private func withUnixAddress<Result>(
  _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
) -> Result {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8).prefix($0.count - 1)) }
  return withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
  }
}
