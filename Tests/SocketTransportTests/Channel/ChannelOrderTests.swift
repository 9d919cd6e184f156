import NIOCore
import Testing
import WaitingTesting

@testable import SocketTransport

// Cases: bytes and ends that are written before the channel is opened, within a callback, and without a flush; a write
// that fails before what the peer had sent was read; both ends, and the input alone, closed here; a reset.

@Suite("The ends and the order of a channel", .timeLimit(.minutes(5)))
struct ChannelOrderTests {
  @Test(
    "Bytes written before a channel was opened are sent when it is",
    arguments: ChannelRig.Kind.allCases, [false, true])
  func beforeOpen(kind: ChannelRig.Kind, isDirect: Bool) async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(
        kind, on: loop, isDirect: isDirect,
        before: { channel in
          channel.send([1, 2].buffer)
          channel.writeAndFlush([3].buffer, promise: nil)
        })
      #expect(try await rig.peerReceives(3) == [1, 2, 3])
    }
  }

  @Test(
    "An output that is ended by the callback of a write ends after what that callback writes",
    arguments: ChannelRig.Kind.allCases, [false, true])
  func endInCallback(kind: ChannelRig.Kind, isDirect: Bool) async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(kind, on: loop, isDirect: isDirect)
      let all = pattern(4_000_000)
      try await rig.onLoop { channel in
        let promise = channel.eventLoop.makePromise(of: Void.self)
        promise.futureResult.whenSuccess {
          channel.writeAndFlush(all.buffer, promise: nil)
          channel.close(mode: .output, promise: nil)
        }
        channel.writeAndFlush([7].buffer, promise: promise)
      }
      #expect(try await rig.peerReceivesToEnd().matches([7] + all))
    }
  }

  @Test(
    "An output that is ended waits for what was written and not flushed",
    arguments: ChannelRig.Kind.allCases, [false, true])
  func endUnflushed(kind: ChannelRig.Kind, isDirect: Bool) async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(kind, on: loop, isDirect: isDirect)
      try await rig.onLoop { channel in
        channel.write([1].buffer, promise: nil)
        channel.close(mode: .output, promise: nil)
        channel.flush()
      }
      #expect(try await rig.peerReceivesToEnd() == [1])
    }
  }

  @Test(
    "Bytes of the peer are read before a failed write ends the channel, although no read is asked for",
    arguments: [false, true])
  func failedWriteHeld(isDirect: Bool) async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(
        .unix, on: loop, isDirect: isDirect, readsByItself: false, opens: false)
      let last = pattern(100_000)
      try await rig.onLoop { channel in
        // All in one turn: the loop has not told the channel of anything.
        channel.open()
        #expect(rig.peer.send(last) == last.count)
        rig.peer.close()
        channel.send([1].buffer)
      }
      try await eventually("the end") { rig.recorder.events.contains("removed") }
      #expect(rig.recorder.bytes.matches(last))
    }
  }

  @Test(
    "A write that fails within a read ends the channel after what is left to read, and not within that read",
    arguments: [false, true], [false, true])
  func failedWriteWithinRead(isDirect: Bool, asksBefore: Bool) async throws {
    try await withLoop { loop in
      let last = pattern(100_000)
      let rig = try await ChannelRig.make(
        .unix, on: loop, isDirect: isDirect,
        first: { peer in
          #expect(peer.send(last) == last.count)
          peer.close()
        },
        onEvent: { event, channel in
          guard event == "bytes" else { return }
          if asksBefore { channel.read0() }
          channel.send([1].buffer)
        })
      try await eventually("the end") { rig.recorder.events.contains("removed") }
      #expect(rig.recorder.bytes.matches(last))
      #expect(!rig.recorder.events.contains("read within a read"))
    }
  }

  @Test("Nothing is read after the input was closed here", arguments: ChannelRig.Kind.allCases, [false, true])
  func inputClosedHere(kind: ChannelRig.Kind, isDirect: Bool) async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(kind, on: loop, isDirect: isDirect)
      try await rig.onLoop { $0.close(mode: .input, promise: nil) }
      rig.peer.send([1, 2, 3])
      // The loop sees the bytes of this one later.
      let marker = try await ChannelRig.make(.unix, on: loop)
      marker.peer.send("x")
      try await eventually("the later bytes") { marker.recorder.text == "x" }
      #expect(rig.recorder.bytes.isEmpty)
    }
  }

  @Test(
    "A channel whose input has ended is closed in order when the rest of its output was sent",
    arguments: ChannelRig.Kind.allCases, [false, true])
  func bothEnds(kind: ChannelRig.Kind, isDirect: Bool) async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(kind, on: loop, isDirect: isDirect)
      rig.peer.endOutput()
      #expect(try await rig.events(2) == ["active", "input closed"])
      let all = pattern(4_000_000)
      let isActive = try await rig.onLoop { channel in
        channel.writeAndFlush(all.buffer, promise: nil)
        let promise = channel.eventLoop.makePromise(of: Void.self)
        let isActive = promise.futureResult.map { channel.isActive }
        channel.close(mode: .output, promise: promise)
        return isActive
      }
      #expect(try await rig.peerReceivesToEnd().matches(all))
      #expect(try await isActive.get() == false)
      try await eventually("the end") { rig.recorder.events.contains("removed") }
      #expect(!rig.recorder.events.contains("error"))
    }
  }

  @Test("A channel that is to reset its connection does so when it closes: the peer sees no end in order")
  func resetOnClose() async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(on: loop)
      try await rig.onLoop { channel in
        channel.resetsOnClose = true
        channel.close(promise: nil)
      }
      await #expect(throws: EndedByReset.self) { try await rig.peerReceivesToEnd() }
    }
  }
}
