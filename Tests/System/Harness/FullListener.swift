import Glibc

/// A listener on loopback whose queue is full until it accepts: the system drops the packets of further connections,
/// which stay on their way.
final class FullListener {
  let port: UInt16
  private let descriptor: Int32
  private let filling: TCPConnection

  init() throws {
    let port = try FreePort.take()
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard withLoopback(port: port, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 0) == 0 else {
      let code = errno
      _ = Glibc.close(descriptor)
      throw HarnessError.system("listen on port \(port)", errno: code)
    }
    self.port = port
    self.descriptor = descriptor
    filling = try TCPConnection(port: port)
  }

  func close() {
    filling.close()
    _ = Glibc.close(descriptor)
  }

  /// Accepts the connection that fills the queue, and the one that the system lets in afterwards.
  /// - Returns: the latter.
  func acceptNext(by deadline: Deadline = .standard) throws -> TCPConnection {
    let accepted = try [accept(by: deadline), accept(by: deadline)]
    filling.close()
    return accepted[1]
  }

  private func accept(by deadline: Deadline) throws -> TCPConnection {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard Glibc.poll(&entry, 1, deadline.milliseconds) == 1 else { throw HarnessError.timedOut("a connection") }
    let accepted = Glibc.accept(descriptor, nil, nil)
    guard accepted >= 0 else { throw HarnessError.system("accept", errno: errno) }
    return TCPConnection(descriptor: accepted)
  }
}
