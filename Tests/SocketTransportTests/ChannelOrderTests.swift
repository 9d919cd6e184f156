import NIOCore
import Testing

@testable import SocketTransport

@Suite("The ends and the order of a channel")
struct ChannelOrderTests {
  @Test("Bytes written before a channel was opened are sent when it is", arguments: Manner.allCases)
  func beforeOpen(manner: Manner) async throws {
    try await withBench(manner, opens: false) { bench in
      try bench.on { channel, _ in
        channel.send([1, 2].buffer)
        channel.writeAndFlush([3].buffer, promise: nil)
        channel.open()
      }
      let bytes = try bench.peer.read(3)
      #expect(bytes == [1, 2, 3])
    }
  }

  @Test(
    "An output that is ended by the callback of a write ends after what that callback writes",
    arguments: Manner.allCases)
  func endInCallback(manner: Manner) async throws {
    try await withBench(manner) { bench in
      let all = pattern(4_000_000)
      try bench.on { channel, _ in
        let promise = channel.eventLoop.makePromise(of: Void.self)
        promise.futureResult.whenSuccess {
          channel.writeAndFlush(all.buffer, promise: nil)
          channel.close(mode: .output, promise: nil)
        }
        channel.writeAndFlush([7].buffer, promise: promise)
      }
      let bytes = try bench.peer.readToEnd()
      #expect(bytes.matches([7] + all))
    }
  }

  @Test("An output that is ended waits for what was written and not flushed", arguments: Manner.allCases)
  func endUnflushed(manner: Manner) async throws {
    try await withBench(manner) { bench in
      try bench.on { channel, _ in
        channel.write([1].buffer, promise: nil)
        channel.close(mode: .output, promise: nil)
        channel.flush()
      }
      let bytes = try bench.peer.readToEnd()
      #expect(bytes == [1])
    }
  }

  @Test(
    "Bytes of the peer are read before a failed write ends the channel, although no read is asked for",
    arguments: [Manner.unixPipeline, .unixReader])
  func failedWriteHeld(manner: Manner) async throws {
    try await withBench(manner, opens: false) { bench in
      let last = pattern(100_000)
      try bench.on { channel, witness in
        witness.asks = false
        channel.open()
        try bench.peer.send(last)
        bench.peer.close()
        channel.send([1].buffer)
      }
      try bench.journal.wait(for: "closed")
      #expect(bench.journal.bytes.matches(last))
    }
  }

  @Test(
    "A write that fails within a read ends the channel after what is left to read, and not within that read",
    arguments: [Manner.unixPipeline, .unixReader], [false, true])
  func failedWriteWithinRead(manner: Manner, asksBefore: Bool) async throws {
    try await withBench(manner, opens: false) { bench in
      let last = pattern(100_000)
      try bench.peer.send(last)
      bench.peer.close()
      try bench.on { channel, witness in
        witness.onRead = { channel in
          if asksBefore { channel.read0() }
          channel.send([1].buffer)
        }
        channel.open()
      }
      try bench.journal.wait(for: "closed")
      #expect(bench.journal.bytes.matches(last))
      #expect(!bench.journal.entries.contains("read within a read"))
    }
  }

  @Test("Nothing is read after the input was closed here", arguments: Manner.allCases)
  func inputClosedHere(manner: Manner) async throws {
    try await withBench(manner) { bench in
      try bench.on { channel, _ in channel.close(mode: .input, promise: nil) }
      try bench.peer.send([1, 2, 3])
      try bench.settle()
      #expect(bench.journal.bytes.isEmpty)
    }
  }

  @Test(
    "A channel whose input has ended is closed in order when the rest of its output was sent",
    arguments: Manner.allCases)
  func bothEnds(manner: Manner) async throws {
    try await withBench(manner) { bench in
      bench.peer.endOutput()
      try bench.journal.wait(for: "input closed")
      let all = pattern(4_000_000)
      let ended = Later<Bool>()
      try bench.on { channel, _ in
        channel.writeAndFlush(all.buffer, promise: nil)
        let promise = channel.eventLoop.makePromise(of: Void.self)
        promise.futureResult.whenComplete { result in ended.complete(result.map { !channel.isActive }) }
        channel.close(mode: .output, promise: promise)
      }
      let bytes = try bench.peer.readToEnd()
      #expect(bytes.matches(all))
      let wasClosed = try ended.get()
      #expect(wasClosed)
      try bench.journal.wait(for: "closed")
      #expect(!bench.journal.entries.contains("error"))
    }
  }
}
