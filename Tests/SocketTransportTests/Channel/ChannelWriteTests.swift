import Glibc
import NIOCore
import RandomTesting
import Synchronization
import Testing
import WaitingTesting

@testable import SocketTransport

// Cases: what the system takes at once and what it does not, the order of both, the marks of a full queue, promises,
// and the ends: of the output, of the channel, and of the peer.

@Suite("Writes of a channel", .timeLimit(.minutes(5)))
struct ChannelWriteTests {
  private static let size = 6_000_000

  @Test("A message is at the peer at once, and nothing of it waits", arguments: ChannelRig.Kind.allCases)
  func straight(kind: ChannelRig.Kind) async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(kind, on: loop)
      try await rig.onLoop { channel in
        channel.send(ByteBuffer(string: "a"))
        channel.write(ByteBuffer(string: "b"), promise: nil)
        #expect(channel.waitingBytes == 1)
        channel.send(ByteBuffer(string: "c"))
        #expect(channel.waitingBytes == 0)
      }
      #expect(try await rig.peerReceives(3) == Array("abc".utf8))
    }
  }

  @Test(
    "Bytes that the system does not take follow in order when there is room, and the marks of the queue are told",
    arguments: ChannelRig.Kind.allCases)
  func full(kind: ChannelRig.Kind) async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(kind, on: loop)
      let pattern = SocketTransportTests.pattern(Self.size)
      try await rig.onLoop { channel in
        channel.send(ByteBuffer(bytes: pattern))
        #expect(channel.waitingBytes > 0 && !channel.isWritable)
        // Behind what waits, by either way.
        channel.send(ByteBuffer(string: "x"))
        channel.writeAndFlush(ByteBuffer(string: "y"), promise: nil)
      }
      #expect(try await rig.peerReceives(Self.size + 2).matches(pattern + Array("xy".utf8)))
      #expect(try await rig.events(3) == ["active", "not writable", "writable"])
      try await eventually("everything has left") { try await rig.onLoop { $0.waitingBytes } == 0 }
      // And once more: the next time there is no room is told, too. The system may have made its buffers larger.
      let count = try await rig.onLoop { channel in
        var count = 0
        while channel.isWritable, count < 10 {
          channel.send(ByteBuffer(bytes: pattern))
          count += 1
        }
        return count
      }
      for _ in 0..<count { #expect(try await rig.peerReceives(Self.size).matches(pattern)) }
      #expect(try await rig.events(5).suffix(2) == ["not writable", "writable"])
    }
  }

  @Test("Bytes that are not flushed stay, count as waiting, and go out with the flush", arguments: [1, 3, 200])
  func unflushed(count: Int) async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(on: loop)
      try await rig.onLoop { channel in
        for number in 0..<count { channel.write(ByteBuffer(string: "\(number),"), promise: nil) }
      }
      #expect(rig.peer.received() == [])
      let text = (0..<count).map { "\($0)," }.joined()
      #expect(try await rig.onLoop { $0.waitingBytes } == text.utf8.count)
      try await rig.onLoop { $0.flush() }
      #expect(try await rig.peerReceives(text.utf8.count) == Array(text.utf8))
    }
  }

  @Test("A promise is kept when its bytes have left, and one of no bytes with those before it")
  func promises() async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(on: loop)
      let kept = Mutex<[Int]>([])
      try await rig.onLoop { channel in
        func write(_ number: Int, _ buffer: ByteBuffer) {
          let promise = loop.makePromise(of: Void.self)
          promise.futureResult.whenSuccess { kept.withLock { $0.append(number) } }
          channel.writeAndFlush(buffer, promise: promise)
        }
        write(0, ByteBuffer())
        #expect(kept.withLock { $0 } == [0])
        write(1, ByteBuffer(repeating: 1, count: Self.size))
        write(2, ByteBuffer())
        #expect(kept.withLock { $0 } == [0])
      }
      _ = try await rig.peerReceives(Self.size)
      try await eventually("both promises") { kept.withLock { $0 } == [0, 1, 2] }
    }
  }

  @Test("A callback of a write may write, and close")
  func reentrant() async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(on: loop)
      try await rig.onLoop { channel in
        let promise = loop.makePromise(of: Void.self)
        promise.futureResult.whenSuccess {
          channel.send(ByteBuffer(string: "2"))
          channel.close(promise: nil)
          channel.send(ByteBuffer(string: "3"))
        }
        channel.writeAndFlush(ByteBuffer(string: "1"), promise: promise)
      }
      #expect(try await rig.peerReceives(2) == Array("12".utf8))
      try await eventually("the end") { rig.peer.received() == nil }
    }
  }

  @Test(
    "The end of the output follows what waits, and nothing is written after it", arguments: ChannelRig.Kind.allCases)
  func outputEnd(kind: ChannelRig.Kind) async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(kind, on: loop)
      let pattern = SocketTransportTests.pattern(Self.size)
      let (ended, late) = try await rig.onLoop { channel in
        channel.send(ByteBuffer(bytes: pattern))
        let ended = loop.makePromise(of: Void.self)
        channel.close(mode: .output, promise: ended)
        return (ended.futureResult, channel.writeAndFlush(ByteBuffer(string: "late")))
      }
      #expect(try await rig.peerReceives(Self.size).matches(pattern))
      try await ended.get()
      try await eventually("the end") { rig.peer.received() == nil }
      await #expect(throws: ChannelError.self) { try await late.get() }
      #expect(try await rig.events(4).contains("output closed"))
      // The other direction is open.
      rig.peer.send("still")
      try await eventually("its bytes") { rig.recorder.text == "still" }
      rig.peer.endOutput()
      try await eventually("both ends") { rig.recorder.events.contains("unregistered") }
    }
  }

  @Test("Closing fails what waits, and all later writes")
  func close() async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(on: loop)
      let (waiting, later) = try await rig.onLoop { channel in
        let waiting = channel.writeAndFlush(ByteBuffer(repeating: 1, count: Self.size))
        channel.close(promise: nil)
        return (waiting, channel.writeAndFlush(ByteBuffer(string: "later")))
      }
      await #expect(throws: ChannelError.self) { try await waiting.get() }
      await #expect(throws: ChannelError.self) { try await later.get() }
      await #expect(throws: ChannelError.self) { try await rig.channel.close().get() }
      try await rig.channel.closeFuture.get()
    }
  }

  @Test("When the peer takes nothing more, its last bytes are read before the channel closes")
  func lastWords() async throws {
    try await withLoop { loop in
      // A reset after an answer: the answer of a server that does not want the rest of a body.
      let (own, peer) = try tcpPair()
      let recorder = try await loop.submit {
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
        let channel = SocketChannel(ListeningSocket.Accepted(descriptor: own, peer: address), on: loop)
        let recorder = Recorder(channel)
        try channel.pipeline.syncOperations.addHandler(recorder)
        channel.open()
        // All in one turn: the loop has not told the channel of anything.
        peer.send("no more")
        peer.endOutput()
        Glibc.shutdown(peer.descriptor, CInt(SHUT_RD))
        for _ in 0..<3 { channel.send(ByteBuffer(repeating: 1, count: 100_000)) }
        return recorder
      }.get()
      try await eventually("the end") { recorder.events.contains("unregistered") }
      #expect(recorder.text == "no more")
    }
  }

  @Test(
    "A reset that only a write is told of is an error, not the end of what the peer had to say",
    arguments: [false, true])
  func resetToldToWrite(isQueued: Bool) async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(on: loop, first: { $0.send("half of ") })
      try await eventually("what was sent") { rig.recorder.text == "half of " }
      try await rig.onLoop { channel in
        // All in one turn: the loop has not told the channel of anything.
        rig.peer.reset()
        if isQueued { channel.writeAndFlush(ByteBuffer(string: "more"), promise: nil) }
        channel.send(ByteBuffer(string: "more"))
      }
      try await eventually("the end") { rig.recorder.events.contains("unregistered") }
      #expect(rig.recorder.events.contains("error"), "\(rig.recorder.events)")
    }
  }

  @Test("Random writes come whole and in order, however fast each side is", arguments: 0..<12)
  func random(seed: Int) async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(seed % 2 == 0 ? .tcp : .unix, on: loop, isDirect: seed % 3 == 0)
      var random = SeededNumbers(seed: UInt64(seed))
      var toPeer: [UInt8] = []
      var fromPeer: [UInt8] = []
      var received: [UInt8] = []
      for step in 0..<300 {
        let size = Int.random(in: 0...[10, 1_000, 200_000][Int.random(in: 0..<3, using: &random)], using: &random)
        let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: step), count: size)
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1:
          toPeer += bytes
          try await rig.onLoop { $0.send(ByteBuffer(bytes: bytes)) }
        case 2:
          toPeer += bytes
          try await rig.onLoop { $0.write(ByteBuffer(bytes: bytes), promise: nil) }
        case 3: try await rig.onLoop { $0.flush() }
        case 4:
          let count = max(0, rig.peer.send(bytes))
          fromPeer += bytes[..<count]
        default: received += rig.peer.received(atMost: size) ?? []
        }
      }
      try await rig.onLoop { $0.flush() }
      try await eventually("everything, in both directions") {
        received += rig.peer.received() ?? []
        return received.count >= toPeer.count && rig.recorder.bytes.count >= fromPeer.count
      }
      #expect(received.matches(toPeer))
      #expect(rig.recorder.bytes.matches(fromPeer))
    }
  }
}
