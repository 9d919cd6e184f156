import Glibc
import NIOCore
import NIOEmbedded
import SocketTransport
import Synchronization
import Testing

@testable import DataPlane

// Cases: what goes straight to the socket, and when it may not: something waits in the channel, the socket is full, the
// channel is closed, has no socket, or has handlers in between; who gets what is read.

@Suite("Writes to a socket")
struct OrderedWriterTests {
  /// The last handler of a channel, as the connections of clients and upstreams are.
  private final class Owner: ChannelInboundHandler, SocketReader {
    typealias InboundIn = ByteBuffer

    let writer: OrderedWriter

    init(isAtSocket: Bool) { writer = OrderedWriter(isAtSocket: isAtSocket) }

    func handlerAdded(context: ChannelHandlerContext) { writer.attach(context, reader: self) }
    func handlerRemoved(context: ChannelHandlerContext) { writer.detach() }

    func socketRead(_ bytes: consuming ByteBuffer) {}
    func socketReadComplete() -> Bool { false }
  }

  /// A channel on one end of a pair of sockets; used on its event loop only.
  private final class Rig {
    let channel: SocketChannel
    let peer: CInt
    let owner: Owner
    var writer: OrderedWriter { owner.writer }

    init(_ channel: SocketChannel, peer: CInt, isAtSocket: Bool) throws {
      self.channel = channel
      self.peer = peer
      owner = Owner(isAtSocket: isAtSocket)
      try channel.pipeline.syncOperations.addHandler(owner)
      channel.open()
    }

    /// The bytes that the peer has received so far.
    func received() -> [UInt8] {
      var bytes: [UInt8] = []
      var piece = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = recv(peer, &piece, piece.count, CInt(MSG_DONTWAIT))
        guard count > 0 else { return bytes }
        bytes += piece[..<count]
      }
    }

    /// Bytes that wait in the channel.
    var waiting: Int { channel.waitingBytes }
  }

  /// - Parameter body: returns how many bytes are to come to the peer afterwards.
  /// - Returns: these bytes.
  @discardableResult
  private func withRig(
    isAtSocket: Bool = true, _ body: @escaping @Sendable (Rig) throws -> Int
  ) async throws -> [UInt8] {
    var pair: [CInt] = [-1, -1]
    try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &pair) == 0)
    let peer = pair[1]
    let group = try SocketEventLoopGroup(loops: 1)
    let (own, loop) = (pair[0], group.loops[0])
    let count = try await loop.submit {
      let channel = SocketChannel(ListeningSocket.Accepted(descriptor: own, peer: nil), on: loop)
      return try body(Rig(channel, peer: peer, isAtSocket: isAtSocket))
    }.get()
    let socket = RawSocket(descriptor: peer)
    let rest = try await blocking { try socket.read(count: count) }
    try await group.shutdownGracefully()
    return rest
  }

  private static let head = ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n")

  @Test("A header alone is at the peer at once, and nothing of it in the channel")
  func straight() async throws {
    try await withRig { rig in
      rig.writer.send(header: Self.head, content: nil)
      #expect(rig.received() == Array(Self.head.readableBytesView) && rig.waiting == 0)
      #expect(rig.writer.hasSentAll())
      return 0
    }
  }

  @Test("Content follows its header, and the next header follows both")
  func content() async throws {
    try await withRig { rig in
      for _ in 0..<2 {
        rig.writer.send(header: Self.head, content: ByteBuffer(string: "body"))
        rig.writer.write(ByteBuffer(string: "more"))
        rig.writer.flush()
        #expect(rig.writer.hasSentAll())
        rig.writer.send(header: Self.head, content: nil)
        let once = Array(Self.head.readableBytesView)
        #expect(rig.received() == once + Array("bodymore".utf8) + once)
      }
      return 0
    }
  }

  @Test("Nothing overtakes bytes that wait in the channel")
  func order() async throws {
    // More than the sockets take: the rest waits in the channel.
    let size = 4_000_000
    let rest = try await withRig { rig in
      rig.writer.write(ByteBuffer(repeating: 0x62, count: size))
      rig.writer.flush()
      #expect(!rig.writer.hasSentAll())
      rig.writer.send(header: Self.head, content: nil)
      let some = rig.received()
      #expect(some.count < size && some.allSatisfy { $0 == 0x62 })
      // There is room again, and still something is in the channel.
      rig.writer.send(header: Self.head, content: nil)
      #expect(rig.received().isEmpty)
      return size - some.count + 36
    }
    #expect(rest.dropLast(36).allSatisfy { $0 == 0x62 })
    let head = Array(Self.head.readableBytesView)
    #expect(Array(rest.suffix(36)) == head + head)
  }

  @Test("Bytes that are to go out with others are not overtaken, and direct writes follow when they have left")
  func together() async throws {
    try await withRig { rig in
      rig.writer.write(ByteBuffer(string: "a"))
      #expect(!rig.writer.hasSentAll())
      rig.writer.send(ByteBuffer(string: "b"))
      #expect(rig.received() == Array("ab".utf8))
      rig.writer.send(ByteBuffer(string: "c"))
      // The channel knows nothing of it.
      #expect(rig.received() == Array("c".utf8) && rig.waiting == 0 && rig.writer.hasSentAll())
      return 0
    }
  }

  @Test("Bytes that a full socket does not take follow through the channel")
  func full() async throws {
    let size = 4_000_000
    let taken = Mutex(0)
    let all = try await withRig { rig in
      rig.writer.send(header: ByteBuffer(repeating: 0x61, count: size), content: nil)
      taken.withLock { $0 = size - rig.waiting }
      rig.writer.send(header: Self.head, content: nil)
      return size + 18
    }
    #expect(taken.withLock { $0 > 0 && $0 < size })
    #expect(all.prefix(size).allSatisfy { $0 == 0x61 })
    #expect(Array(all.dropFirst(size)) == Array(Self.head.readableBytesView))
  }

  @Test("With handlers between the writer and the socket everything goes through the channel")
  func notAtSocket() async throws {
    try await withRig(isAtSocket: false) { rig in
      rig.writer.write(ByteBuffer(string: "a"))
      rig.writer.send(header: Self.head, content: nil)
      #expect(rig.received() == Array("aGET / HTTP/1.1\r\n\r\n".utf8))
      return 0
    }
  }

  @Test("A closed writer sends nothing, and a peer that is gone is not an error")
  func closed() async throws {
    try await withRig { rig in
      shutdown(rig.peer, CInt(SHUT_RDWR))
      rig.writer.send(header: Self.head, content: nil)
      #expect(rig.received().isEmpty)
      return 0
    }
    try await withRig { rig in
      rig.writer.close()
      rig.writer.send(header: Self.head, content: ByteBuffer(string: "a"))
      #expect(rig.received().isEmpty)
      return 0
    }
  }

  @Test("Bytes come past the pipeline where nothing is in between, until the handler leaves")
  func reading() async throws {
    for isAtSocket in [true, false] {
      try await withRig(isAtSocket: isAtSocket) { rig in
        #expect((rig.channel.reader === rig.owner) == isAtSocket)
        rig.writer.detach()
        #expect(rig.channel.reader == nil)
        return 0
      }
    }
  }

  @Test("In a channel without a socket bytes keep their order")
  func embedded() throws {
    let channel = EmbeddedChannel()
    let owner = Owner(isAtSocket: true)
    try channel.pipeline.syncOperations.addHandler(owner)
    owner.writer.send(header: ByteBuffer(string: "a"), content: ByteBuffer(string: "b"))
    owner.writer.write(ByteBuffer(string: "c"))
    owner.writer.flush()
    owner.writer.send(header: ByteBuffer(string: "d"), content: nil)
    var text = ""
    while let next = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: next) }
    #expect(text == "abcd")
    owner.writer.detach()
    owner.writer.send(header: ByteBuffer(string: "e"), content: nil)
    #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
    _ = try channel.finish(acceptAlreadyClosed: true)
  }
}
