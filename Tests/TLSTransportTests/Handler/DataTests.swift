import NIOCore
import NIOEmbedded
import Testing

@testable import TLSTransport

@Suite("Plaintext")
struct DataTests {
  private static func pattern(_ count: Int) -> ByteBuffer {
    ByteBuffer(bytes: (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
  }

  @Test("A megabyte arrives unchanged, each way")
  func megabyte() throws {
    let pair = try ConnectedPair.established()
    let bytes = Self.pattern(1_048_576 + 77)
    for (from, to) in [(pair.client, pair.server), (pair.server, pair.client)] {
      try from.channel.writeOutbound(bytes)
      var ciphertext = try #require(try from.takeOutbound())
      // As a socket delivers it: in pieces that have nothing to do with records.
      while let piece = ciphertext.readSlice(length: min(ciphertext.readableBytes, 65_536)), piece.readableBytes > 0 {
        try to.receive(piece)
      }
      #expect(to.log.plaintext == bytes)
    }
    pair.close()
  }

  @Test("Many small writes of one flush are sent in one write, in order, and arrive in one read")
  func gathered() throws {
    let pair = try ConnectedPair.established()
    let writes = pair.server.wire.writes
    for number in 0..<100 { pair.server.write("\(number),") }
    #expect(pair.server.wire.writes == writes)
    pair.server.flush()
    #expect(pair.server.wire.writes == writes + 1)
    try pair.pump()
    #expect(pair.client.log.text == (0..<100).map { "\($0)," }.joined())
    #expect(pair.client.log.events.filter { $0 == .plaintext }.count == 1)
    pair.close()
  }

  @Test("Small and large writes of one flush keep their order")
  func mixed() throws {
    let pair = try ConnectedPair.established()
    let sizes = [10, 8_192, 8_193, 0, 3, 70_000, 8_192, 8_192, 8_192, 1, 16_384, 0, 200_000, 5]
    var expected = ByteBuffer()
    for (index, size) in sizes.enumerated() {
      let bytes = ByteBuffer(repeating: UInt8(index), count: size)
      expected.writeImmutableBuffer(bytes)
      pair.server.channel.pipeline.syncOperations.write(NIOAny(bytes), promise: nil)
    }
    pair.server.flush()
    try pair.pump()
    #expect(pair.client.log.plaintext == expected)
    pair.close()
  }

  @Test("The content of one read of the socket is one read of the application")
  func oneRead() throws {
    let pair = try ConnectedPair.established()
    var ciphertext = ByteBuffer()
    for number in 0..<50 {
      pair.client.write("request \(number)\n")
      pair.client.flush()
      ciphertext.writeImmutableBuffer(try #require(try pair.client.takeOutbound()))
    }
    let completes = pair.server.log.readCompletes
    try pair.server.receive(ciphertext)
    #expect(pair.server.log.events == [.handshake, .plaintext])
    #expect(pair.server.log.readCompletes == completes + 1)
    #expect(pair.server.log.text.hasSuffix("request 49\n"))
    pair.close()
  }

  @Test("Writes before the handshake wait for it and are fulfilled after it")
  func earlyWrites() throws {
    let pair = try ConnectedPair()
    let first = pair.client.channel.eventLoop.makePromise(of: Void.self)
    let second = pair.client.channel.eventLoop.makePromise(of: Void.self)
    var fulfilled: [Int] = []
    first.futureResult.assumeIsolated().whenSuccess { fulfilled.append(1) }
    second.futureResult.assumeIsolated().whenSuccess { fulfilled.append(2) }
    pair.client.write("before active, ", promise: first)
    try pair.activate()
    pair.client.write("before the end", promise: second)
    pair.client.flush()
    #expect(fulfilled.isEmpty)
    try pair.pump()
    #expect(fulfilled == [1, 2])
    #expect(pair.server.log.text == "before active, before the end")
    pair.close()
  }

  @Test("A write without a flush stays, a write of nothing is fulfilled")
  func flushes() throws {
    let pair = try ConnectedPair.established()
    let promise = pair.client.channel.eventLoop.makePromise(of: Void.self)
    var isFulfilled = false
    promise.futureResult.assumeIsolated().whenSuccess { isFulfilled = true }
    pair.client.write("", promise: promise)
    try pair.pump()
    #expect(!isFulfilled)
    pair.client.flush()
    #expect(isFulfilled)
    #expect(try pair.client.takeOutbound()?.readableBytes ?? 0 == 0)
    pair.close()
  }

  @Test("A response that the application sends from the handshake event arrives")
  func answersAtOnce() throws {
    let pair = try ConnectedPair()
    pair.server.log.reaction = { event, context in
      if event == .handshake { context.writeAndFlush(NIOAny(ByteBuffer(string: "welcome")), promise: nil) }
    }
    try pair.activate()
    try pair.pump()
    #expect(pair.client.log.text == "welcome")
    pair.close()
  }

  @Test("Pieces to encrypt keep to the limit, none is empty, small neighbours come together")
  func recordPlan() {
    let sizes = [0, 1, 0, 16_384, 100_000, 5, 0, 6, 65_536, 7, 0]
    var plan = RecordPlan(buffers: sizes.map { ByteBuffer(repeating: 1, count: $0) }, allocator: ByteBufferAllocator())
    #expect(plan.bytesLeft == sizes.reduce(0, +))
    var pieces: [Int] = []
    while let piece = plan.next(limit: 49_152) { pieces.append(piece.readableBytes) }
    #expect(pieces == [1, 16_384, 49_152, 49_152, 1_696, 11, 49_152, 16_384, 7])
    #expect(plan.bytesLeft == 0)
  }
}
