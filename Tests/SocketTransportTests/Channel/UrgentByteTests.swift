import Glibc
import NIOCore
import Testing
import WaitingTesting

@testable import SocketTransport

// Cases: urgent bytes of a client that was accepted, and of a server that was connected to; in the middle, at the end,
// and while no read is asked for; on a Unix socket.

@Suite("Urgent bytes", .timeLimit(.minutes(5)))
struct UrgentByteTests {
  @Test(
    "Bytes after an urgent one are read without waiting for more, and the urgent one in its place",
    arguments: [false, true])
  func urgent(isDirect: Bool) async throws {
    try await withLoop { loop in
      let listener = try ListeningSocket.bind(
        to: SocketAddress(ipAddress: "127.0.0.1", port: 0), backlog: 16, isShared: false, on: loop)
      let address = try SocketAddress(ipAddress: "127.0.0.1", port: listener.port ?? 0)
      let peer = try Peer.connected(to: address)
      let recorder = try await loop.submit {
        let accepted = try #require(try listener.next())
        let channel = SocketChannel(accepted, on: loop)
        let recorder = Recorder(channel)
        try channel.pipeline.syncOperations.addHandler(recorder)
        if isDirect { channel.reader = recorder }
        channel.open()
        return recorder
      }.get()
      var expected = ""
      for round in 1...3 {
        // On the loop, which sees all of it at once.
        try await loop.submit {
          peer.send("before ")
          peer.sendUrgent("!")
          peer.send(" behind \(round)\n")
        }.get()
        expected += "before ! behind \(round)\n"
        let all = expected
        try await eventually("all of it, not \(recorder.text)") { recorder.text.count >= all.count }
        #expect(recorder.text == all)
      }
      // The last byte is urgent.
      try await loop.submit {
        peer.send("before ")
        peer.sendUrgent("!")
        peer.endOutput()
      }.get()
      try await eventually("the end") { recorder.events.contains("removed") }
      #expect(recorder.text == expected + "before !")
    }
  }

  @Test("Urgent bytes of a server that was connected to are read in their place")
  func urgentResponse() async throws {
    try await withLoop { loop in
      let (listener, address) = try plainListener(backlog: 1)
      defer { close(listener) }
      let channel = try await SocketChannel.connect(to: address, on: loop, timeout: patience).get()
      let peer = Peer(accept(listener, nil, nil))
      let recorder = try await loop.submit {
        let channel = try #require(channel as? SocketChannel)
        let recorder = Recorder(channel)
        try channel.pipeline.syncOperations.addHandler(recorder)
        return recorder
      }.get()
      try await loop.submit {
        peer.send("before ")
        peer.sendUrgent("!")
        peer.send(" behind")
      }.get()
      try await eventually("all of it, not \(recorder.text)") { recorder.text.count >= 15 }
      #expect(recorder.text == "before ! behind")
    }
  }

  @Test("Bytes after an urgent one of a Unix socket are read without waiting for more")
  func unix() async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(.unix, on: loop)
      try await rig.onLoop { _ in
        rig.peer.send("before ")
        rig.peer.sendUrgent("!")
        rig.peer.send(" behind")
      }
      // Without the option, which accepted Unix sockets do not inherit, the system leaves the byte out; older systems
      // refuse to send it.
      try await eventually("the rest") { rig.recorder.text == "before  behind" }
    }
  }

  @Test("Urgent bytes are not read while no read is asked for")
  func urgentHeld() async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(on: loop, readsByItself: false)
      try await rig.onLoop { _ in
        rig.peer.send("before ")
        rig.peer.sendUrgent("!")
        rig.peer.send(" behind")
      }
      for _ in 0..<20 { try await rig.onLoop { _ in } }
      #expect(rig.recorder.bytes.isEmpty)
      // The system ends a read at an urgent byte.
      try await rig.onLoop { $0.read0() }
      try await eventually("the first part") { rig.recorder.text == "before " }
      for _ in 0..<20 { try await rig.onLoop { _ in } }
      #expect(rig.recorder.text == "before ")
      try await rig.onLoop { $0.read0() }
      try await eventually("the rest") { rig.recorder.text.hasSuffix(" behind") }
    }
  }
}
