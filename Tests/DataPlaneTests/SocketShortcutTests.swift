import Glibc
import NIOCore
import NIOPosix
import Testing

@testable import DataPlane

// Cases: what goes past the channel's queue, and when it may not: something waits in the queue, the socket is full, the
// channel is closed or has no socket.

@Suite("The way to the socket past the channel")
struct SocketShortcutTests {
  /// A channel on one end of a pair of sockets, with the shortcut of its socket; used on its event loop only.
  private final class Rig {
    let channel: any Channel
    let peer: CInt
    var shortcut = SocketShortcut()

    init(_ channel: any Channel, peer: CInt) {
      self.channel = channel
      self.peer = peer
      shortcut.open(channel)
    }

    /// What has come to the peer so far.
    func received() -> [UInt8] {
      var bytes: [UInt8] = []
      var piece = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = recv(peer, &piece, piece.count, CInt(MSG_DONTWAIT))
        guard count > 0 else { return bytes }
        bytes += piece[..<count]
      }
    }
  }

  private func withRig(_ body: @escaping @Sendable (Rig) throws -> Void) async throws {
    var pair: [CInt] = [-1, -1]
    try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &pair) == 0)
    let peer = pair[1]
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .withConnectedSocket(pair[0]).get()
    try await channel.eventLoop.submit { try body(Rig(channel, peer: peer)) }.get()
    try? await channel.close()
    close(peer)
  }

  @Test("Bytes are at the peer at once, and nothing is left of them")
  func straight() async throws {
    try await withRig { rig in
      var bytes = ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n")
      #expect(rig.shortcut.send(&bytes))
      #expect(bytes.readableBytes == 0)
      #expect(rig.received() == Array("GET / HTTP/1.1\r\n\r\n".utf8))
    }
  }

  @Test("While something waits in the channel's queue nothing overtakes it")
  func order() async throws {
    try await withRig { rig in
      // More than the sockets take: the rest waits in the queue.
      let body = [UInt8](repeating: 0x62, count: 4_000_000)
      let write = rig.shortcut.hasWritten()
      let sent = rig.channel.eventLoop.makePromise(of: Void.self)
      rig.channel.writeAndFlush(ByteBuffer(bytes: body), promise: sent)
      var head = ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n")
      #expect(!rig.shortcut.send(&head))
      #expect(head.readableBytes == 18)
      let before = rig.received()
      #expect(before.count < body.count && before.allSatisfy { $0 == 0x62 })
      // There is room again, and still something is in the queue.
      #expect(!rig.shortcut.send(&head))
      #expect(rig.received().isEmpty)
      // Only the last write says that all has left.
      let last = rig.shortcut.hasWritten()
      rig.shortcut.hasLeft(write)
      #expect(!rig.shortcut.send(&head))
      rig.shortcut.hasLeft(last)
      #expect(rig.shortcut.send(&head))
    }
  }

  @Test("What a full socket does not take stays, for the channel to send")
  func full() async throws {
    try await withRig { rig in
      var bytes = ByteBuffer(repeating: 0x61, count: 4_000_000)
      #expect(!rig.shortcut.send(&bytes))
      let taken = 4_000_000 - bytes.readableBytes
      #expect(taken > 0 && bytes.readableBytes > 0)
      #expect(rig.received().count == taken)
      #expect(!rig.shortcut.send(&bytes), "a part of it does not fit again")
    }
  }

  @Test("Once it is closed nothing goes out, and a peer that is gone is no error of it")
  func closed() async throws {
    try await withRig { rig in
      var bytes = ByteBuffer(string: "a")
      shutdown(rig.peer, CInt(SHUT_RDWR))
      #expect(!rig.shortcut.send(&bytes))
      #expect(bytes.readableBytes == 1)
    }
    try await withRig { rig in
      var bytes = ByteBuffer(string: "a")
      rig.shortcut.close()
      #expect(!rig.shortcut.send(&bytes))
      #expect(rig.received().isEmpty)
    }
  }
}
