import Dispatch
import Foundation
import Glibc
import Testing

@testable import Operations

@Suite("Writes to file descriptors")
struct DescriptorOutputTests {
  /// Two connected sockets, which programs that other tests start do not inherit.
  private final class Pair: Sendable {
    let writing: Int32
    let reading: Int32

    init(isBlocking: Bool = false) throws {
      var pair: [Int32] = [-1, -1]
      let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
      try #require(socketpair(AF_UNIX, kind, 0, &pair) == 0)
      (writing, reading) = (pair[0], pair[1])
      if !isBlocking { try #require(fcntl(pair[0], F_SETFL, O_NONBLOCK) == 0) }
    }

    deinit {
      close(writing)
      close(reading)
    }

    /// Writes until there is no more room.
    /// - Returns: the number of bytes.
    func fill() -> Int {
      let bytes = [UInt8](repeating: 0, count: 4_096)
      var sum = 0
      while true {
        let count = send(writing, bytes, bytes.count, Int32(MSG_DONTWAIT))
        guard count > 0 else { return sum }
        sum += count
      }
    }

    /// Reads so many bytes, or fewer at the end.
    func read(_ count: Int) -> [UInt8] {
      var result: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while result.count < count {
        let received = recv(reading, &buffer, min(buffer.count, count - result.count), 0)
        guard received > 0 else { return result }
        result += buffer[..<received]
      }
      return result
    }

    /// Writes on a thread of its own. The reader sees an end afterwards, whatever came of it.
    func write(_ bytes: [UInt8]) -> Writer {
      let writer = Writer()
      Thread.detachNewThread {
        writer.identity.continuation.yield(pthread_self())
        do {
          try DescriptorOutput.writeAll(bytes, to: self.writing, stallLimit: .seconds(120))
          writer.end.continuation.finish()
        } catch {
          writer.end.continuation.finish(throwing: error)
        }
        shutdown(self.writing, Int32(SHUT_WR))
        writer.release.wait()
      }
      return writer
    }
  }

  /// A thread that writes, and exists until it is released.
  private struct Writer: Sendable {
    let identity = AsyncStream<pthread_t>.makeStream()
    let end = AsyncThrowingStream<Never, any Error>.makeStream()
    let release = DispatchSemaphore(value: 0)

    /// Waits until everything was written.
    func finish() async throws {
      release.signal()
      for try await _ in end.stream {}
    }
  }

  /// More than there is room for.
  private static let message = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 251) }

  @Test("A non-blocking descriptor that is full is waited for, and gets every byte")
  func full() async throws {
    let pair = try Pair()
    let waiting = pair.fill()
    let writer = pair.write(Self.message)
    #expect(waiting > 0 && pair.read(waiting).count == waiting)
    #expect(pair.read(Self.message.count) == Self.message)
    try await writer.finish()
  }

  @Test("A non-blocking descriptor that takes nothing is not waited for beyond the limit")
  func stalled() throws {
    let pair = try Pair()
    let error = try #require(throws: WriteError.self) {
      try DescriptorOutput.writeAll(Self.message, to: pair.writing, stallLimit: .milliseconds(20))
    }
    #expect(error.number == EAGAIN)
    let written = Self.message.count - error.unwritten
    #expect(written > 0 && pair.read(written) == Array(Self.message.prefix(written)))
    _ = pair.fill()
    #expect(throws: WriteError(number: EAGAIN, unwritten: 3)) {
      try DescriptorOutput.writeAll([1, 2, 3], to: pair.writing, stallLimit: .zero)
    }
  }

  @Test("A write that a signal interrupts goes on")
  func interrupted() async throws {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in }
    var former = sigaction()
    try #require(sigaction(SIGURG, &action, &former) == 0)
    defer { sigaction(SIGURG, &former, nil) }
    let pair = try Pair(isBlocking: true)
    let waiting = pair.fill()
    let writer = pair.write([1, 2, 3])
    var threads = writer.identity.stream.makeAsyncIterator()
    let next = await threads.next()
    let thread = try #require(next)
    // By the last of them the thread is in the system call.
    for _ in 0..<100 {
      pthread_kill(thread, SIGURG)
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(pair.read(waiting).count == waiting)
    #expect(pair.read(3) == [1, 2, 3])
    try await writer.finish()
  }

  @Test("A descriptor that cannot be written is an error, with all bytes left")
  func failing() throws {
    #expect(throws: WriteError(number: EBADF, unwritten: 2)) { try DescriptorOutput.writeAll([1, 2], to: -1) }
    #expect(throws: Never.self) { try DescriptorOutput.writeAll([], to: -1) }
    signal(SIGPIPE, SIG_IGN)
    let pair = try Pair()
    shutdown(pair.reading, Int32(SHUT_RD))
    #expect(throws: WriteError(number: EPIPE, unwritten: 2)) {
      try DescriptorOutput.writeAll([1, 2], to: pair.writing, stallLimit: .seconds(60))
    }
  }
}
