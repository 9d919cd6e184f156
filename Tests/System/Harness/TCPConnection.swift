import Foundation
import Synchronization

/// One TCP connection, either side: bytes exactly as the test says, every wait with a deadline.
final class TCPConnection: Sendable {
  private let descriptor: Int32
  private let state = Mutex(State())

  private struct State {
    /// Received and not yet taken.
    var buffer: [UInt8] = []
    var ended = false
    var closed = false
  }

  init(descriptor: Int32) { self.descriptor = descriptor }

  /// Connects to a port of 127.0.0.1.
  /// - Parameters:
  ///   - host: the last byte of the address of 127.0.0.0/8 that the connection comes from; nil lets the system choose.
  ///   - receiveBuffer: bytes that the system may hold for a reader who does not read.
  convenience init(port: UInt16, from host: UInt8? = nil, receiveBuffer: Int32? = nil) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw HarnessError.system("socket", errno: errno) }
    if var size = receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    if let host {
      let code = withLoopback(port: 0, host: host) { bind(descriptor, $0, $1) }
      guard code == 0 else { throw HarnessError.system("bind to 127.0.0.\(host)", errno: errno) }
    }
    let code = withLoopback(port: port) { connect(descriptor, $0, $1) }
    guard code == 0 else {
      let code = errno
      _ = Glibc.close(descriptor)
      throw HarnessError.system("connect to port \(port)", errno: code)
    }
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    self.init(descriptor: descriptor)
  }

  deinit { close() }

  // MARK: Sending

  func send(_ text: String, by deadline: Deadline = .standard) throws { try send(Array(text.utf8), by: deadline) }

  /// Sends all of `bytes`.
  func send(_ bytes: [UInt8], by deadline: Deadline = .standard) throws {
    var sent = 0
    while sent < bytes.count {
      try wait(POLLOUT, "room to send", deadline)
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      }
      if count >= 0 {
        sent += count
      } else if errno != EAGAIN && errno != EINTR {
        throw HarnessError.system("send", errno: errno)
      }
    }
  }

  /// Sends as much as the peer takes, until it stops taking: answers how many bytes that were. For a sender that is
  /// never read.
  func sendUntilRefused(_ bytes: [UInt8], atMost limit: Int, patience: Deadline) -> Int {
    var sent = 0
    while sent < limit {
      guard (try? wait(POLLOUT, "room", patience)) != nil else { return sent }
      let count = bytes.withUnsafeBytes {
        Glibc.send(
          descriptor, $0.baseAddress, min($0.count, limit - sent),
          Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      }
      if count >= 0 { sent += count } else if errno != EAGAIN && errno != EINTR { return sent }
    }
    return sent
  }

  // MARK: Receiving

  /// Bytes that were received and not yet taken.
  var received: [UInt8] { state.withLock { $0.buffer } }

  /// Waits until `take` finds what it wants in the received bytes (it removes what it takes), or throws.
  func receive<Result>(
    _ what: String, by deadline: Deadline = .standard, _ take: (inout [UInt8], _ ended: Bool) throws -> Result?
  ) throws -> Result {
    while true {
      let (result, ended) = try state.withLock { state in (try take(&state.buffer, state.ended), state.ended) }
      if let result { return result }
      guard !ended else {
        let left = String(decoding: received, as: UTF8.self)
        throw HarnessError.endOfStream("while waiting for \(what); left over: \(left.debugDescription)")
      }
      try fill(what, deadline)
    }
  }

  /// Everything until the peer closes.
  func readToEnd(by deadline: Deadline = .standard) throws -> [UInt8] {
    try receive("the end of the connection", by: deadline) { buffer, ended in
      guard ended else { return nil }
      defer { buffer = [] }
      return buffer
    }
  }

  /// Everything up to and including `mark`.
  func read(through mark: String, by deadline: Deadline = .standard) throws -> [UInt8] {
    try receive(mark.debugDescription, by: deadline) { buffer, _ in
      guard let end = buffer.firstRange(of: Array(mark.utf8))?.upperBound else { return nil }
      defer { buffer.removeFirst(end) }
      return Array(buffer[..<end])
    }
  }

  /// Exactly `count` bytes.
  func read(count: Int, by deadline: Deadline = .standard) throws -> [UInt8] {
    try receive("\(count) bytes", by: deadline) { buffer, _ in
      guard buffer.count >= count else { return nil }
      defer { buffer.removeFirst(count) }
      return Array(buffer[..<count])
    }
  }

  /// Returns the next bytes, at least one; empty at the end.
  func readSome(_ what: String = "bytes", by deadline: Deadline = .standard) throws -> [UInt8] {
    try receive(what, by: deadline) { buffer, ended in
      guard !buffer.isEmpty || ended else { return nil }
      defer { buffer = [] }
      return buffer
    }
  }

  /// Reads `count` bytes and keeps none of them, for amounts that no test wants in memory.
  func discard(count: Int, by deadline: Deadline = .standard) throws {
    var left = count
    state.withLock { state in
      let taken = min(left, state.buffer.count)
      state.buffer.removeFirst(taken)
      left -= taken
    }
    let room = 1 << 18
    let space = UnsafeMutableRawPointer.allocate(byteCount: room, alignment: 16)
    defer { space.deallocate() }
    while left > 0 {
      try wait(POLLIN, "\(left) more bytes", deadline)
      let count = recv(descriptor, space, min(left, room), Int32(MSG_DONTWAIT))
      if count > 0 {
        left -= count
      } else if count == 0 {
        throw HarnessError.endOfStream("\(left) bytes too early")
      } else if errno != EAGAIN && errno != EINTR {
        throw HarnessError.system("recv", errno: errno)
      }
    }
  }

  /// Waits until the peer has closed, whatever it sends before.
  func waitForClose(by deadline: Deadline = .standard) throws { _ = try readToEnd(by: deadline) }

  // MARK: Ending

  /// Ends our direction: the peer reads the end of the stream.
  func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Closes at once, with a reset instead of an orderly end.
  func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    close()
  }

  func close() {
    let closes = state.withLock { state in
      defer { state.closed = true }
      return !state.closed
    }
    if closes { _ = Glibc.close(descriptor) }
  }

  /// Ends both directions, so that a thread that reads here wakes; `close` still has to follow.
  func shutdownBoth() {
    state.withLock { if !$0.closed { shutdown(descriptor, Int32(SHUT_RDWR)) } }
  }

  // MARK: Implementation

  private func fill(_ what: String, _ deadline: Deadline) throws {
    try wait(POLLIN, what, deadline)
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    if count > 0 {
      state.withLock { $0.buffer.append(contentsOf: buffer[..<count]) }
    } else if count == 0 {
      state.withLock { $0.ended = true }
    } else if errno == ECONNRESET || errno == EPIPE {
      state.withLock { $0.ended = true }
    } else if errno != EAGAIN && errno != EINTR {
      throw HarnessError.system("recv", errno: errno)
    }
  }

  private func wait(_ event: Int32, _ what: String, _ deadline: Deadline) throws {
    guard !state.withLock({ $0.closed }) else { throw HarnessError.endOfStream("closed by the test") }
    var entry = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    while true {
      let count = Glibc.poll(&entry, 1, deadline.milliseconds)
      if count > 0 { return }
      if count == -1 && errno == EINTR { continue }
      throw HarnessError.timedOut(what)
    }
  }
}

/// Calls `body` with the socket address of a port of 127.0.0.1, or of another address of 127.0.0.0/24.
func withLoopback<Result>(
  port: UInt16, host: UInt8 = 1, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
) -> Result {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = (UInt32(0x7F00_0000) | UInt32(host)).bigEndian
  return withUnsafePointer(to: address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
  }
}

/// Ports of 127.0.0.1 without a listener, below the range that the kernel gives to outgoing connections, so that none
/// of those takes one in between.
enum FreePort {
  /// Those that this process alone gives out: another test process would else find a port free that was taken here and
  /// is not listened on yet.
  private static let range = claimRange()
  private static let next = Mutex(range?.lowerBound ?? 0)

  static func take() throws -> UInt16 {
    guard let range else { throw HarnessError.missing("a range of ports: end other test processes") }
    for _ in range {
      let port = next.withLock { next in
        next = next + 1 < range.upperBound ? next + 1 : range.lowerBound
        return next
      }
      if isFree(port) { return port }
    }
    throw HarnessError.missing("a free port")
  }

  /// Claims a range, by its first port over UDP, for as long as the process runs.
  private static func claimRange() -> Range<UInt16>? {
    let size: UInt16 = 3_000
    for first in stride(from: UInt16(20_000), to: 32_000, by: Int(size)) {
      let claim = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      if withLoopback(port: first, { bind(claim, $0, $1) }) == 0 { return first..<first + size }
      close(claim)
    }
    return nil
  }

  private static func isFree(_ port: UInt16) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    return withLoopback(port: port) { bind(descriptor, $0, $1) } == 0
  }
}
