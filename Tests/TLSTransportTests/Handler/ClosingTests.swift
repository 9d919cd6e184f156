import NIOCore
import NIOEmbedded
import Testing

@testable import TLSTransport

@Suite("The end of a connection")
struct ClosingTests {
  @Test("A close is announced: the other side sees the end of the input, and no error")
  func closeNotify() throws {
    let pair = try ConnectedPair.established()
    pair.server.write("last words")
    pair.server.flush()
    pair.server.channel.close(promise: nil)
    #expect(!pair.server.channel.isActive)
    try pair.pump()
    #expect(pair.client.log.events == [.handshake, .plaintext, .inputClosed])
    #expect(pair.client.log.text == "last words")
    pair.client.wire.hangUp()
    #expect(pair.client.log.events.last == .inactive)
    #expect(pair.client.log.errors.isEmpty)
    #expect(pair.server.log.errors.isEmpty)
  }

  @Test("An end without announcement is an error, before the channel is inactive")
  func truncation() throws {
    let pair = try ConnectedPair.established()
    pair.server.write("half of what I")
    pair.server.flush()
    try pair.pump()
    pair.client.wire.hangUp()
    #expect(pair.client.log.events == [.handshake, .plaintext, .error(.uncleanShutdown), .inactive])
    pair.close()
  }

  @Test("An error of the socket is reported once, unchanged", arguments: [true, false])
  func socketError(completed: Bool) throws {
    let pair = try ConnectedPair()
    try pair.activate()
    if completed { try pair.pump() }
    pair.client.channel.pipeline.fireErrorCaught(IOError(errnoCode: 104, reason: "reset"))
    pair.client.wire.hangUp()
    #expect(pair.client.log.events == (completed ? [.handshake] : []) + [.otherError, .inactive])
    pair.close()
  }

  @Test("A half-close of the socket without announcement is an error too, and closes")
  func halfClosedTruncation() throws {
    let pair = try ConnectedPair.established()
    pair.client.wire.halfClose()
    #expect(pair.client.log.events == [.handshake, .error(.uncleanShutdown), .inactive])
    pair.close()
  }

  @Test("A half-close of the socket after close_notify is reported once")
  func halfClose() throws {
    let pair = try ConnectedPair.established()
    pair.server.channel.close(promise: nil)
    try pair.pump()
    pair.client.wire.halfClose()
    pair.client.wire.hangUp()
    #expect(pair.client.log.events == [.handshake, .inputClosed, .inactive])
  }

  @Test("A client that has ended its output still gets the response")
  func outputClosed() throws {
    let pair = try ConnectedPair.established()
    pair.client.write("request")
    pair.client.flush()
    pair.client.channel.close(mode: .output, promise: nil)
    try pair.pump()
    #expect(pair.server.log.events == [.handshake, .plaintext, .inputClosed])
    pair.server.write("answer")
    pair.server.flush()
    try pair.pump()
    #expect(pair.client.log.text == "answer")
    let promise = pair.client.channel.eventLoop.makePromise(of: Void.self)
    pair.client.write("more", promise: promise)
    #expect(throws: ChannelError.outputClosed) { try promise.futureResult.wait() }
    pair.close()
  }

  @Test("An abrupt close is not announced: the other side knows that something is missing")
  func abruptClose() throws {
    let pair = try ConnectedPair.established()
    pair.server.write("half of what I")
    pair.server.flush()
    try pair.server.channel.triggerUserOutboundEvent(TLSAbruptClose()).wait()
    pair.server.channel.close(promise: nil)
    try pair.pump()
    pair.client.wire.hangUp()
    #expect(pair.client.log.events == [.handshake, .plaintext, .error(.uncleanShutdown), .inactive])
  }

  @Test("Writes that wait for the handshake fail when the connection ends", arguments: [true, false])
  func failedWrites(byPeer: Bool) throws {
    let pair = try ConnectedPair()
    try pair.activate()
    let promise = pair.client.channel.eventLoop.makePromise(of: Void.self)
    pair.client.write("never sent", promise: promise)
    pair.client.flush()
    if byPeer { pair.client.wire.hangUp() } else { pair.client.channel.close(promise: nil) }
    #expect(throws: ChannelError.ioOnClosedChannel) { try promise.futureResult.wait() }
    #expect(pair.client.log.events == (byPeer ? [.error(.closedDuringHandshake), .inactive] : [.inactive]))
    pair.close()
  }

  @Test("Writes that were not flushed, and those after the close, fail")
  func writesAroundClose() throws {
    let pair = try ConnectedPair.established()
    let before = pair.client.channel.eventLoop.makePromise(of: Void.self)
    let after = pair.client.channel.eventLoop.makePromise(of: Void.self)
    pair.client.write("not flushed", promise: before)
    pair.client.channel.close(promise: nil)
    pair.client.write("too late", promise: after)
    #expect(throws: ChannelError.ioOnClosedChannel) { try before.futureResult.wait() }
    #expect(throws: ChannelError.self) { try after.futureResult.wait() }
    try pair.pump()
    #expect(pair.server.log.text == "")
    pair.close()
  }

  @Test("Writes that wait fail with the reason when the handshake fails")
  func failedHandshake() throws {
    let pair = try ConnectedPair(serverName: "other.example.test")
    try pair.activate()
    let promise = pair.client.channel.eventLoop.makePromise(of: Void.self)
    pair.client.write("never sent", promise: promise)
    pair.client.flush()
    try pair.pump()
    #expect(throws: TLSError.verificationFailed(.hostNameMismatch)) { try promise.futureResult.wait() }
  }

  @Test("An application that closes at the first plaintext gets no more")
  func closesWhileReading() throws {
    let pair = try ConnectedPair.established()
    pair.server.log.reaction = { event, context in
      if event == .plaintext { context.close(promise: nil) }
    }
    let big = ByteBuffer(repeating: 7, count: 100_000)
    try pair.client.channel.writeOutbound(big)
    let ciphertext = try #require(try pair.client.takeOutbound())
    for _ in 0..<2 { try? pair.server.receive(ciphertext) }
    #expect(pair.server.log.events == [.handshake, .plaintext, .inactive])
    pair.close()
  }

  @Test("An application may write again from the completion of a write")
  func writesWhileTold() throws {
    let failing = try ConnectedPair()
    try failing.activate()
    let early = failing.client.channel.eventLoop.makePromise(of: Void.self)
    let late = failing.client.channel.eventLoop.makePromise(of: Void.self)
    early.futureResult.assumeIsolated().whenFailure { _ in failing.client.write("again", promise: late) }
    failing.client.write("never sent", promise: early)
    failing.client.channel.close(promise: nil)
    #expect(throws: ChannelError.ioOnClosedChannel) { try late.futureResult.wait() }
    failing.close()

    let pair = try ConnectedPair.established()
    let done = pair.client.channel.eventLoop.makePromise(of: Void.self)
    done.futureResult.assumeIsolated().whenSuccess {
      pair.client.write("second")
      pair.client.flush()
    }
    pair.client.write("first ", promise: done)
    pair.client.flush()
    try pair.pump()
    #expect(pair.server.log.text == "first second")
    pair.close()
  }

  @Test("An output cannot be closed alone before the handshake is finished")
  func earlyOutputClose() throws {
    let pair = try ConnectedPair()
    try pair.activate()
    #expect(throws: ChannelError.operationUnsupported) { try pair.client.channel.close(mode: .output).wait() }
    pair.close()
  }

  @Test("Nothing is left of a handler after its connection", arguments: [true, false])
  func noLeak(completed: Bool) throws {
    var pair: ConnectedPair? = try ConnectedPair()
    try pair?.activate()
    if completed { try pair?.pump() }
    let client = WeakHandler(pair?.client.handler)
    let server = WeakHandler(pair?.server.handler)
    #expect(client.handler != nil)
    pair?.close()
    pair = nil
    #expect(client.handler == nil)
    #expect(server.handler == nil)
  }

  private final class WeakHandler {
    weak var handler: TLSHandler?
    init(_ handler: TLSHandler?) { self.handler = handler }
  }
}
