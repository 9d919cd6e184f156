import NIOCore
import Testing
import WaitingTesting

@testable import SocketTransport

// Cases: what came before the channel was opened, with it and later; more than a buffer; reads that are not asked for;
// both ends of the input, with reads that are asked for and without; errors.

@Suite("Reads of a channel", .timeLimit(.minutes(5)))
struct ChannelReadTests {
  @Test(
    "Bytes that came before the channel was opened, and later ones, are read in their order",
    arguments: ChannelRig.Kind.allCases, [false, true])
  func order(kind: ChannelRig.Kind, isDirect: Bool) async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(kind, on: loop, isDirect: isDirect, first: { $0.send("one ") })
      // Read when it was opened, not in a later turn.
      #expect(rig.recorder.text == "one ")
      for word in ["two ", "three ", "four "] {
        let before = rig.recorder.bytes.count
        rig.peer.send(word)
        try await eventually("the next word") { rig.recorder.bytes.count == before + word.utf8.count }
      }
      #expect(rig.recorder.text == "one two three four ")
    }
  }

  @Test(
    "More than a buffer holds is read to its last byte, in every mode",
    arguments: [ReceiveBufferMode.frugal, .usual, .wide, .bulk], [false, true])
  func much(mode: ReceiveBufferMode, isDirect: Bool) async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(on: loop, isDirect: isDirect, before: { $0.receiveBufferMode = mode })
      let bytes = (0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
      var sent = 0
      try await eventually("all of it") {
        if sent < bytes.count { sent += max(0, rig.peer.send(Array(bytes[sent...]))) }
        return rig.recorder.bytes.count == bytes.count
      }
      #expect(rig.recorder.bytes.matches(bytes))
    }
  }

  @Test("A message of exactly one buffer is read, and the channel waits for the next one", arguments: [false, true])
  func exact(isDirect: Bool) async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(on: loop, isDirect: isDirect, before: { $0.receiveBufferMode = .frugal })
      for round in 1...3 {
        rig.peer.send([UInt8](repeating: UInt8(round), count: ReceiveBufferMode.frugal.size))
        try await eventually("round \(round)") { rig.recorder.bytes.count == round * ReceiveBufferMode.frugal.size }
      }
    }
  }

  @Test(
    "Nothing is read that is not asked for, and one read brings what has come meanwhile",
    arguments: ChannelRig.Kind.allCases, [false, true])
  func held(kind: ChannelRig.Kind, isDirect: Bool) async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(
        kind, on: loop, isDirect: isDirect, readsByItself: false, first: { $0.send("a") })
      rig.peer.send("b")
      for _ in 0..<20 { try await rig.onLoop { _ in } }
      #expect(rig.recorder.bytes.isEmpty)
      try await rig.onLoop { $0.read0() }
      try await eventually("both") { rig.recorder.text == "ab" }
      // Asked for before it comes.
      try await rig.onLoop { $0.read0() }
      rig.peer.send("c")
      try await eventually("the third") { rig.recorder.text == "abc" }
      rig.peer.send("d")
      for _ in 0..<20 { try await rig.onLoop { _ in } }
      #expect(rig.recorder.text == "abc")
    }
  }

  @Test("One read that is asked for brings one buffer, however much there is", arguments: [false, true])
  func oneBuffer(isDirect: Bool) async throws {
    try await withLoop { loop in
      let size = ReceiveBufferMode.frugal.size
      let rig = try await ChannelRig.make(
        on: loop, isDirect: isDirect, readsByItself: false, before: { $0.receiveBufferMode = .frugal })
      rig.peer.send([UInt8](repeating: 1, count: 3 * size))
      for round in 1...3 {
        try await rig.onLoop { $0.read0() }
        try await eventually("one buffer") { rig.recorder.bytes.count >= round * size }
        for _ in 0..<20 { try await rig.onLoop { _ in } }
        #expect(rig.recorder.bytes.count == round * size)
      }
    }
  }

  @Test("A channel with much to read lets others have their turn")
  func turns() async throws {
    try await withLoop { loop in
      let busy = try await ChannelRig.make(on: loop, before: { $0.receiveBufferMode = .frugal })
      let other = try await ChannelRig.make(on: loop)
      var sent = 0
      var rounds = 0
      while rounds < 50 {
        sent += max(0, busy.peer.send([UInt8](repeating: 0, count: 65_536)))
        let before = other.recorder.bytes.count
        other.peer.send("x")
        try await eventually("the other's turn") { other.recorder.bytes.count > before }
        rounds += 1
      }
      let all = sent
      try await eventually("all of the busy one's bytes") { busy.recorder.bytes.count == all }
    }
  }

  @Test(
    "The end of the input ends the input only, where that is allowed, after the last bytes",
    arguments: ChannelRig.Kind.allCases, [false, true])
  func halfClose(kind: ChannelRig.Kind, isDirect: Bool) async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(kind, on: loop, isDirect: isDirect)
      rig.peer.send("last")
      rig.peer.endOutput()
      #expect(try await rig.events(2) == ["active", "input closed"])
      #expect(rig.recorder.text == "last")
      try await rig.onLoop { $0.send(ByteBuffer(string: "answer")) }
      #expect(try await rig.peerReceives(6) == Array("answer".utf8))
      #expect(try await rig.onLoop { $0.isActive })
      // Both ends have ended now.
      try await rig.onLoop { $0.close(mode: .output, promise: nil) }
      #expect(try await rig.events(5).suffix(3) == ["inactive", "unregistered", "removed"])
    }
  }

  @Test("The end of the input ends a connection that does not outlive it", arguments: ChannelRig.Kind.allCases)
  func wholeClose(kind: ChannelRig.Kind) async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(kind, on: loop, halfCloses: false)
      rig.peer.send("last")
      rig.peer.endOutput()
      #expect(try await rig.events(4) == ["active", "inactive", "unregistered", "removed"])
      #expect(rig.recorder.text == "last")
      try await eventually("the end") { rig.peer.received() == nil }
    }
  }

  @Test(
    "The end of the input is noticed although no read is asked for, if nothing came before it",
    arguments: ChannelRig.Kind.allCases, [false, true])
  func endWithoutRead(kind: ChannelRig.Kind, isDirect: Bool) async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(kind, on: loop, isDirect: isDirect, readsByItself: false)
      rig.peer.endOutput()
      #expect(try await rig.events(2) == ["active", "input closed"])
      #expect(try await rig.onLoop { $0.isActive })
    }
  }

  @Test(
    "A few bytes before the end are read with it, although no read is asked for",
    arguments: ChannelRig.Kind.allCases, [false, true])
  func endBehindFewBytes(kind: ChannelRig.Kind, isDirect: Bool) async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(kind, on: loop, isDirect: isDirect, readsByItself: false)
      rig.peer.send("last")
      rig.peer.endOutput()
      #expect(try await rig.events(2) == ["active", "input closed"])
      #expect(rig.recorder.text == "last")
      #expect(try await rig.onLoop { $0.isActive })
    }
  }

  /// Bytes that are read before the end although no read is asked for.
  private static let ahead = 64 * 1024

  @Test(
    "More bytes before the end are read when they are asked for, and the end is noticed after the last one",
    arguments: [false, true])
  func endBehindHeldBytes(isDirect: Bool) async throws {
    try await withLoop { loop in
      let size = ReceiveBufferMode.frugal.size
      let rig = try await ChannelRig.make(
        .unix, on: loop, isDirect: isDirect, readsByItself: false, before: { $0.receiveBufferMode = .frugal })
      rig.peer.send([UInt8](repeating: 3, count: Self.ahead + 2 * size + 1))
      rig.peer.endOutput()
      try await eventually("what is read ahead") { rig.recorder.bytes.count >= Self.ahead }
      for round in 0...2 {
        for _ in 0..<20 { try await rig.onLoop { _ in } }
        #expect(rig.recorder.bytes.count == Self.ahead + round * size && rig.recorder.events == ["active"])
        try await rig.onLoop { $0.read0() }
        try await eventually("one buffer") { rig.recorder.bytes.count > Self.ahead + round * size }
      }
      // Nobody asks for another read.
      #expect(try await rig.events(2) == ["active", "input closed"])
      #expect(rig.recorder.bytes.count == Self.ahead + 2 * size + 1)
    }
  }

  @Test(
    "Bytes before the end are read at once, with the end, when reading goes on by itself",
    arguments: ChannelRig.Kind.allCases, [false, true])
  func endBehindMuch(kind: ChannelRig.Kind, isDirect: Bool) async throws {
    try await withLoop { loop in
      let size = 5 * ReceiveBufferMode.frugal.size
      let rig = try await ChannelRig.make(
        kind, on: loop, isDirect: isDirect, before: { $0.receiveBufferMode = .frugal })
      rig.peer.send([UInt8](repeating: 3, count: size))
      rig.peer.endOutput()
      #expect(try await rig.events(2) == ["active", "input closed"])
      #expect(rig.recorder.bytes.count == size)
    }
  }

  @Test("A Unix socket whose peer has closed is closed after its last bytes, although no read is asked for")
  func hangUp() async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(.unix, on: loop, readsByItself: false)
      rig.peer.send("last")
      rig.peer.endBoth()
      #expect(try await rig.events(5) == ["active", "input closed", "inactive", "unregistered", "removed"])
      #expect(rig.recorder.text == "last")
    }
  }

  @Test(
    "A Unix socket whose peer has closed is closed after the bytes that waited for a read", arguments: [false, true])
  func hangUpBehindHeldBytes(isDirect: Bool) async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(.unix, on: loop, isDirect: isDirect, readsByItself: false)
      rig.peer.send([UInt8](repeating: 3, count: Self.ahead + 1))
      rig.peer.endBoth()
      try await eventually("what is read ahead") { rig.recorder.bytes.count >= Self.ahead }
      for _ in 0..<20 { try await rig.onLoop { _ in } }
      #expect(rig.recorder.bytes.count == Self.ahead && rig.recorder.events == ["active"])
      try await rig.onLoop { $0.read0() }
      #expect(try await rig.events(5) == ["active", "input closed", "inactive", "unregistered", "removed"])
      #expect(rig.recorder.bytes.count == Self.ahead + 1)
    }
  }

  @Test("A channel whose bytes before the end nobody reads can be closed")
  func closeWithHeldBytes() async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(.unix, on: loop, readsByItself: false)
      rig.peer.send([UInt8](repeating: 3, count: Self.ahead + 1))
      rig.peer.endOutput()
      try await eventually("what is read ahead") { rig.recorder.bytes.count >= Self.ahead }
      try await rig.onLoop { $0.close(promise: nil) }
      #expect(try await rig.events(4) == ["active", "inactive", "unregistered", "removed"])
      try await eventually("the end") { rig.peer.received() == nil }
    }
  }

  @Test("A reset after the end closes the channel")
  func resetBehindEnd() async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(on: loop, readsByItself: false)
      rig.peer.send("last")
      rig.peer.endOutput()
      #expect(try await rig.events(2) == ["active", "input closed"])
      #expect(try await rig.onLoop { $0.isActive })
      rig.peer.reset()
      try await eventually("the end") { rig.recorder.events.contains("removed") }
      #expect(try await rig.onLoop { !$0.isActive })
    }
  }

  @Test("An end that came before the channel was opened is noticed")
  func earlyEnd() async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(
        on: loop,
        first: { peer in
          peer.send("all")
          peer.endOutput()
        })
      try await eventually("the end") { rig.recorder.events == ["active", "input closed"] }
      #expect(rig.recorder.text == "all")
    }
  }

  @Test("A reset closes the channel, whether or not a read is asked for", arguments: [false, true])
  func reset(readsByItself: Bool) async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(on: loop, readsByItself: readsByItself)
      rig.peer.reset()
      let events = try await rig.events(4).filter { $0 != "error" }
      #expect(events.prefix(3) == ["active", "inactive", "unregistered"])
      #expect(try await rig.onLoop { !$0.isActive })
    }
  }

  @Test("A handler that closes its channel while it reads gets nothing more", arguments: [false, true])
  func closeWhileReading(isDirect: Bool) async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(
        on: loop, isDirect: isDirect, before: { $0.receiveBufferMode = .frugal },
        onEvent: { event, channel in if event == "bytes" { channel.close(promise: nil) } })
      rig.peer.send([UInt8](repeating: 3, count: 5 * ReceiveBufferMode.frugal.size))
      #expect(try await rig.events(4) == ["active", "inactive", "unregistered", "removed"])
      #expect(rig.recorder.bytes.count == ReceiveBufferMode.frugal.size)
    }
  }

  @Test("A connection that is closed in the turn in which another's bytes come is not taken for the next of its number")
  func reusedNumber() async throws {
    try await withLoop { loop in
      // Both have bytes in the same turn. The first closes both; their numbers go to new connections at once.
      for _ in 0..<30 {
        let rigs = [try await ChannelRig.make(on: loop), try await ChannelRig.make(on: loop)]
        try await loop.submit {
          for rig in rigs { rig.peer.send("x") }
          loop.execute { for rig in rigs { rig.channel.close(promise: nil) } }
        }.get()
        let next = try await ChannelRig.make(on: loop)
        next.peer.send("mine")
        try await eventually("its own bytes") { next.recorder.text == "mine" }
        #expect(next.recorder.events == ["active"])
      }
    }
  }
}
