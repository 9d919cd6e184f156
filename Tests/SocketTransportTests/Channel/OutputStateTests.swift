import Glibc
import NIOCore
import NIOEmbedded
import Testing

@testable import SocketTransport

@Suite("The output of a channel")
struct OutputStateTests {
  private let loop = EmbeddedEventLoop()

  private func promise() -> EventLoopPromise<Void> { loop.makePromise(of: Void.self) }

  /// Completes promises that an output has returned.
  /// - Returns: how many.
  private func complete(_ promises: [EventLoopPromise<Void>]?) -> Int? {
    for promise in promises ?? [] { promise.succeed() }
    return promises?.count
  }

  @Test("An output of which nothing waits ends at once, and a second end is refused")
  func atOnce() {
    var output = OutputState()
    #expect(output.isOpen && !output.hasEnded)
    let first = output.end(isDrained: true, nil)
    #expect(first == .now)
    #expect(!output.isOpen && output.hasEnded)
    let second = output.end(isDrained: true, nil)
    #expect(second == .past)
    let promises = output.takeEnd()
    #expect(promises == nil, "its caller has ended it")
  }

  @Test("An end behind what waits is taken once, with the promises of all who asked for it")
  func behindWhatWaits() {
    var output = OutputState()
    let ends = [
      output.end(isDrained: false, promise()), output.end(isDrained: false, nil),
      output.end(isDrained: true, promise()),
    ]
    #expect(ends == [.later, .later, .later])
    #expect(!output.isOpen && !output.hasEnded, "nothing more is written, and what waits is still sent")
    let count = complete(output.takeEnd())
    #expect(count == 2)
    #expect(output.hasEnded)
    let again = output.takeEnd()
    #expect(again == nil)
  }

  @Test("An output that is open has no end to take")
  func open() {
    var output = OutputState()
    let promises = output.takeEnd()
    #expect(promises == nil && output.isOpen)
  }

  @Test("Closing ends an output in any state, and returns the promises of an end that has not come")
  func closed() {
    var open = OutputState()
    let ofOpen = complete(open.close())
    var ending = OutputState()
    let end = ending.end(isDrained: false, promise())
    let ofEnding = complete(ending.close())
    let again = complete(ending.close())
    #expect(end == .later && ofOpen == 0 && ofEnding == 1 && again == 0)
    #expect(open.hasEnded && ending.hasEnded)
  }

  @Test("The first error of sending is kept, and a later one is not news")
  func failure() {
    var output = OutputState()
    let news = [
      output.fail(IOError(errnoCode: EPIPE, reason: "send")),
      output.fail(IOError(errnoCode: ECONNRESET, reason: "send")),
    ]
    #expect(news == [true, false])
    #expect(output.failure?.errnoCode == EPIPE && output.isOpen, "what the peer has sent is read first")
  }
}
