import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// An error of a test's socket.
enum RawSocketError: Error {
  case system(String, Int32)
  /// The peer closed (or reset) before what was waited for had come; what did come.
  case ended(String)
  /// Nothing came in time; what did come.
  case silence(String)
}

/// Time after which a test gives up what it waits for: far longer than it takes, also on a machine that is busy with
/// other suites. No test asserts a time.
let patience: Duration = .seconds(120)

/// Longer than any test takes: for timeouts of the code under test that must not end anything, however long the machine
/// stands still.
let unreachable: Duration = .seconds(3_600)

/// A blocking TCP socket on loopback, made of system calls only. Every read and write gives up after ``patience``.
final class RawSocket: Sendable {
  let descriptor: Int32
  /// Read, and not yet asked for.
  private let ahead = Mutex<[UInt8]>([])
  private let isClosed = Mutex(false)

  /// - Parameter isPatient: whether reads and writes wait for as long as the socket is open.
  init(descriptor: Int32, isPatient: Bool = false) {
    self.descriptor = descriptor
    if !isPatient {
      var wait = timeval(tv_sec: Int(patience.components.seconds), tv_usec: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
      setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
    }
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  deinit { close() }

  /// - Parameter receiveBuffer: bytes that the system keeps for a reader who does not read; nil for its own choice.
  static func connect(port: UInt16, receiveBuffer: Int32? = nil) throws -> RawSocket {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    if var size = receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    guard try LoopbackAddress.connect(descriptor, to: port) == 0 else { throw RawSocketError.system("connect", errno) }
    return RawSocket(descriptor: descriptor)
  }

  func send(_ text: String) throws { try send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 || errno == EINTR else { throw RawSocketError.system("send", errno) }
      sent += max(count, 0)
    }
  }

  /// Sends until the peer takes no more for a moment, or all was sent.
  /// - Returns: how many bytes it took.
  func sendUntilFull(limit: Int) -> Int {
    let piece = [UInt8](repeating: 0x78, count: 65_536)
    var sent = 0
    var refusals = 0
    while sent < limit, refusals < 50 {
      let next = min(piece.count, limit - sent)
      let count = Glibc.send(descriptor, piece, next, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      if count > 0 {
        sent += count
        refusals = 0
      } else if errno == EAGAIN {
        refusals += 1
        usleep(10_000)
      } else {
        break
      }
    }
    return sent
  }

  /// Lets others run for a while.
  static func pause() throws { usleep(300_000) }

  /// One read of the system; empty at the end.
  private func readSome() throws -> [UInt8] {
    var piece = [UInt8](repeating: 0, count: 65_536)
    var count = 0
    // With a timeout the system does not go on by itself when the process was stopped meanwhile.
    repeat { count = recv(descriptor, &piece, piece.count, 0) } while count < 0 && errno == EINTR
    if count < 0 {
      guard errno == EAGAIN else { return [] }
      throw RawSocketError.silence(String(decoding: ahead.withLock { $0 }.prefix(2_000), as: UTF8.self))
    }
    return Array(piece[..<count])
  }

  /// Bytes up to and with `mark`.
  func read(through mark: String) throws -> String {
    let mark = Array(mark.utf8)
    while true {
      let found: String? = ahead.withLock { bytes in
        guard bytes.count >= mark.count else { return nil }
        for end in mark.count...bytes.count where bytes[(end - mark.count)..<end].elementsEqual(mark) {
          defer { bytes.removeFirst(end) }
          return String(decoding: bytes[..<end], as: UTF8.self)
        }
        return nil
      }
      if let found { return found }
      try readOn()
    }
  }

  /// A head up to its empty line.
  func readHead() throws -> String { try read(through: "\r\n\r\n") }

  func read(count: Int) throws -> [UInt8] {
    while ahead.withLock({ $0.count }) < count { try readOn() }
    return ahead.withLock { bytes in
      defer { bytes.removeFirst(count) }
      return Array(bytes[..<count])
    }
  }

  private func readOn() throws {
    let more = try readSome()
    guard !more.isEmpty else {
      throw RawSocketError.ended(String(decoding: ahead.withLock { $0 }.prefix(2_000), as: UTF8.self))
    }
    ahead.withLock { $0 += more }
  }

  /// All that comes until the peer closes or resets.
  func readToEnd() throws -> [UInt8] {
    var all = ahead.withLock { bytes in
      defer { bytes = [] }
      return bytes
    }
    while true {
      let more = try readSome()
      if more.isEmpty { return all }
      all += more
    }
  }

  /// Whether the peer ends the connection without sending anything more.
  func isEnded() throws -> Bool { try readToEnd().isEmpty }

  /// Whether the peer has reset the connection.
  var isReset: Bool {
    var (error, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
    getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size)
    return error != 0
  }

  /// Closes the sending side.
  func finish() { isClosed.withLock { if !$0 { shutdown(descriptor, Int32(SHUT_WR)) } } }

  /// Ends both directions, so that a thread that waits for this socket wakes.
  func finishBoth() { isClosed.withLock { if !$0 { shutdown(descriptor, Int32(SHUT_RDWR)) } } }

  func close() {
    isClosed.withLock { closed in
      if !closed { Glibc.close(descriptor) }
      closed = true
    }
  }

  /// Closes so that the peer sees a reset.
  func reset() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    close()
  }
}

/// A response as a plain client reads it.
struct PlainResponse: Sendable {
  var status: Int
  var head: String
  var body: [UInt8]
  /// The lines after the last chunk.
  var trailers = ""

  var text: String { String(decoding: body, as: UTF8.self) }

  func value(_ name: String) -> String? {
    for line in head.split(separator: "\r\n").dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      if parts[0].lowercased() == name.lowercased() { return parts[1].trimmingCharacters(in: .whitespaces) }
    }
    return nil
  }
}

extension RawSocket {
  /// Reads one response by its framing.
  func readResponse(toHead: Bool = false) throws -> PlainResponse {
    let head = try readHead()
    let status = Int(head.split(separator: " ", maxSplits: 2)[1].prefix(3)) ?? 0
    var response = PlainResponse(status: status, head: head, body: [])
    if toHead || status < 200 || status == 204 || status == 304 { return response }
    if let length = response.value("content-length") {
      response.body = try read(count: Int(length) ?? 0)
    } else if response.value("transfer-encoding") == "chunked" {
      (response.body, response.trailers) = try readChunks()
    } else {
      response.body = try readToEnd()
    }
    return response
  }

  func readChunks() throws -> ([UInt8], String) {
    var body: [UInt8] = []
    while true {
      let line = try read(through: "\r\n")
      let size = Int(line.dropLast(1), radix: 16) ?? 0
      if size == 0 { break }
      body += try read(count: size)
      _ = try read(count: 2)
    }
    var trailers = ""
    while true {
      let line = try read(through: "\r\n")
      if line == "\r\n" { return (body, trailers) }
      trailers += line
    }
  }
}

/// Polls until `condition` is true, on a thread that may block: a loop without a pause would take a processor from the
/// gateway under test.
func waitUntil(_ condition: () -> Bool) throws {
  let deadline = ContinuousClock.now + patience
  while !condition() {
    guard ContinuousClock.now < deadline else { throw RawSocketError.silence("a condition that did not become true") }
    usleep(1_000)
  }
}

/// Runs what blocks on a thread of its own: the threads of Swift's tasks are few, and the gateway under test needs
/// them.
func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
  }
}
