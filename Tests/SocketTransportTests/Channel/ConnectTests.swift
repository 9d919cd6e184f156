import Glibc
import LoopbackTesting
import NIOCore
import Synchronization
import TemporaryDirectoryTesting
import Testing
import WaitingTesting

@testable import SocketTransport

// Cases: listening sockets that accept, pause, are shared, inherited and closed; connections to them, refused, too
// slow, cancelled, and at the end of their loop.

@Suite("Connections", .timeLimit(.minutes(5)))
struct ConnectTests {
  /// A listening socket whose connections get a recorder each.
  private final class Server: Sendable {
    let socket: ListeningSocket
    let accepted = Mutex<[Recorder]>([])
    let address: SocketAddress

    init(on loop: SocketEventLoop, to wanted: String = "127.0.0.1", port: Int = 0, isShared: Bool = false) throws {
      socket = try ListeningSocket.bind(
        to: SocketAddress(ipAddress: wanted, port: port), backlog: 16, isShared: isShared, on: loop)
      address = try SocketAddress(ipAddress: wanted, port: socket.port ?? 0)
    }

    /// On the loop.
    func acceptOne() throws {
      guard let next = try socket.next() else { return }
      let channel = SocketChannel(next, on: socket.loop)
      let recorder = Recorder(channel)
      try channel.pipeline.syncOperations.addHandler(recorder)
      channel.open()
      accepted.withLock { $0.append(recorder) }
    }

    func start() async throws {
      try await socket.loop.submit { _ = self.socket.accept { [unowned self] in try? acceptOne() } }.get()
    }

    var count: Int { accepted.withLock(\.count) }
  }

  @Test("A private Unix socket is for its own user only")
  func privateSocket() async throws {
    try await withLoop { loop in
      let folder = try TemporaryDirectory()
      let path = folder.file("private.sock")
      let socket = try ListeningSocket.bind(
        to: SocketAddress(unixDomainSocketPath: path), backlog: 1, isShared: false, isPrivate: true, on: loop)
      var status = stat()
      let found = lstat(path, &status)
      #expect(found == 0 && status.st_mode & 0o7777 == 0o600)
      withExtendedLifetime(socket) {}
    }
  }

  @Test(
    "A connection is made, accepted, used from both ends, and known by its addresses", arguments: ["127.0.0.1", "::1"])
  func connect(address: String) async throws {
    try await withLoop { loop in
      let server = try Server(on: loop, to: address)
      try await server.start()
      let channel = try await SocketChannel.connect(to: server.address, on: loop, timeout: patience).get()
      #expect(channel.isActive && channel.remoteAddress == server.address)
      try await loop.submit { channel.writeAndFlush(ByteBuffer(string: "hello")) }.get().get()
      try await eventually("its bytes") { server.accepted.withLock { $0.first?.text } == "hello" }
      #expect(channel.localAddress?.ipAddress == address && channel.localAddress?.port != server.address.port)
      try await channel.close().get()
      try await eventually("its end") { server.accepted.withLock { $0.first?.events.contains("unregistered") } == true }
    }
  }

  @Test("Small messages leave at once, urgent bytes stay in their place, and silent peers are asked")
  func options() async throws {
    @Sendable func option(_ descriptor: CInt, _ level: CInt, _ name: CInt) -> CInt {
      var value: CInt = -1
      var length = socklen_t(MemoryLayout<CInt>.size)
      getsockopt(descriptor, level, name, &value, &length)
      return value
    }
    try await withLoop { loop in
      let socket = try ListeningSocket.bind(
        to: SocketAddress(ipAddress: "127.0.0.1", port: 0), backlog: 16, isShared: false, on: loop)
      let address = try SocketAddress(ipAddress: "127.0.0.1", port: socket.port ?? 0)
      let found = Mutex<[CInt]>([])
      try await loop.submit {
        _ = socket.accept {
          guard let next = try? socket.next() else { return }
          found.withLock {
            $0 = [
              option(next.descriptor, CInt(IPPROTO_TCP), TCP_NODELAY),
              option(next.descriptor, SOL_SOCKET, SO_OOBINLINE),
              option(next.descriptor, SOL_SOCKET, SO_KEEPALIVE),
              option(next.descriptor, CInt(IPPROTO_TCP), TCP_KEEPIDLE),
            ]
          }
          Glibc.close(next.descriptor)
        }
      }.get()
      _ = try await SocketChannel.connect(to: address, on: loop, timeout: patience, isKeptAlive: true).get()
      try await eventually("the accepted socket") { !found.withLock(\.isEmpty) }
      #expect(found.withLock { $0 } == [1, 1, 1, 60])
    }
  }

  @Test("A connection that is refused fails with the reason of the system")
  func refused() async throws {
    try await withLoop { loop in
      let server = try Server(on: loop)
      try await loop.submit { server.socket.close() }.get()
      let error = await #expect(throws: IOError.self) {
        try await SocketChannel.connect(to: server.address, on: loop, timeout: patience).get()
      }
      #expect(error?.errnoCode == ECONNREFUSED)
      let path = try SocketAddress(unixDomainSocketPath: "/nonexistent/socket")
      let missing = await #expect(throws: IOError.self) {
        try await SocketChannel.connect(to: path, on: loop, timeout: patience).get()
      }
      #expect(missing?.errnoCode == ENOENT)
    }
  }

  @Test("A connection that takes too long fails, and its loop may end while others are on their way")
  func tooSlow() async throws {
    let full = try FullListener()
    let address = try SocketAddress(ipAddress: "127.0.0.1", port: Int(full.port))
    let hasFailed = Mutex(false)
    try await withLoop { loop in
      await #expect(throws: ChannelError.connectTimeout(.milliseconds(100))) {
        try await SocketChannel.connect(to: address, on: loop, timeout: .milliseconds(100)).get()
      }
      try await loop.submit {
        SocketChannel.connect(to: address, on: loop, timeout: .hours(1))
          .whenFailure { _ in hasFailed.withLock { $0 = true } }
      }.get()
      withExtendedLifetime(full) {}
    }
    #expect(hasFailed.withLock { $0 })
  }

  @Test("A connection to a Unix socket whose queue is full waits for room, until its time or its loop ends")
  func fullQueue() async throws {
    let folder = try TemporaryDirectory()
    let address = try SocketAddress(unixDomainSocketPath: folder.file("full.sock"))
    let hasFailed = Mutex(false)
    try await withLoop { loop in
      let socket = try ListeningSocket.bind(to: address, backlog: 0, isShared: false, on: loop)
      // One fits in.
      _ = try await SocketChannel.connect(to: address, on: loop, timeout: patience).get()
      await #expect(throws: ChannelError.connectTimeout(.milliseconds(100))) {
        try await SocketChannel.connect(to: address, on: loop, timeout: .milliseconds(100)).get()
      }
      let waiting = try await loop.submit {
        SocketChannel.beginConnecting(to: address, on: loop, timeout: patience).channel
      }.get()
      let accepted = try #require(try await loop.submit { try socket.next() }.get())
      let channel = try await waiting.get()
      #expect(channel.isActive)
      Glibc.close(accepted.descriptor)
      try await loop.submit {
        SocketChannel.connect(to: address, on: loop, timeout: .hours(1))
          .whenFailure { _ in hasFailed.withLock { $0 = true } }
      }.get()
      withExtendedLifetime(socket) {}
    }
    #expect(hasFailed.withLock { $0 })
  }

  @Test("Connections that wait for room in the queue of a Unix socket are made in their order, before later ones")
  func fullQueueOrder() async throws {
    let folder = try TemporaryDirectory()
    defer { folder.remove() }
    let address = try SocketAddress(unixDomainSocketPath: folder.file("order.sock"))
    let order = Mutex<[Int]>([])
    try await withLoop { loop in
      let socket = try ListeningSocket.bind(to: address, backlog: 0, isShared: false, on: loop)
      // One fits in.
      _ = try await SocketChannel.connect(to: address, on: loop, timeout: patience).get()
      let begin: @Sendable (Int) -> Void = { number in
        SocketChannel.beginConnecting(to: address, on: loop, timeout: patience).channel
          .whenSuccess { _ in order.withLock { $0.append(number) } }
      }
      let acceptOne: @Sendable () -> Void = {
        if let accepted = try? socket.next() { Glibc.close(accepted.descriptor) }
      }
      try await loop.submit { for number in 0..<3 { begin(number) } }.get()
      // This one finds room at once.
      try await loop.submit {
        acceptOne()
        begin(3)
      }.get()
      try await eventually("all connections") {
        try await loop.submit { acceptOne() }.get()
        return order.withLock(\.count) == 4
      }
    }
    #expect(order.withLock { $0 } == [0, 1, 2, 3])
  }

  @Test("An attempt that is cancelled fails and has closed its socket, and one that is connected goes on")
  func cancelled() async throws {
    let full = try FullListener()
    let address = try SocketAddress(ipAddress: "127.0.0.1", port: Int(full.port))
    try await withLoop { loop in
      let (counts, channel) = try await loop.submit {
        let attempt = SocketChannel.beginConnecting(to: address, on: loop, timeout: .hours(1))
        let before = try full.connectingCount()
        attempt.cancel()
        attempt.cancel()
        return ([before, try full.connectingCount()], attempt.channel)
      }.get()
      #expect(counts[0] - counts[1] == 1)
      await #expect(throws: CancellationError.self) { try await channel.get() }

      let server = try Server(on: loop)
      try await server.start()
      let other = try await loop.submit {
        let attempt = SocketChannel.beginConnecting(to: server.address, on: loop, timeout: patience)
        let cancelled = loop.makePromise(of: (any Channel).self)
        attempt.channel.assumeIsolated().whenComplete { result in
          attempt.cancel()
          cancelled.completeWith(result)
        }
        return cancelled.futureResult
      }.get().get()
      #expect(other.isActive)
    }
  }

  @Test("While a listening socket is paused connections wait, and are accepted later")
  func pause() async throws {
    try await withLoop { loop in
      let server = try Server(on: loop)
      try await server.start()
      try await loop.submit { server.socket.pause() }.get()
      let first = try await SocketChannel.connect(to: server.address, on: loop, timeout: patience).get()
      for _ in 0..<20 { try await loop.submit {}.get() }
      #expect(server.count == 0 && first.isActive)
      #expect(try await loop.submit { server.socket.resume() }.get())
      try await eventually("the first") { server.count == 1 }
      _ = try await SocketChannel.connect(to: server.address, on: loop, timeout: patience).get()
      try await eventually("the second") { server.count == 2 }
    }
  }

  @Test("Sockets that share an address are all bound to it; one that does not share finds it taken")
  func shared() async throws {
    try await withLoop { loop in
      let first = try Server(on: loop, isShared: true)
      let port = first.socket.port ?? 0
      let second = try Server(on: loop, port: port, isShared: true)
      #expect(second.socket.port == port)
      let error = #expect(throws: IOError.self) { try Server(on: loop, port: port) }
      #expect(error?.errnoCode == EADDRINUSE)
    }
  }

  @Test("Connections that wait when a socket is closed are handed over")
  func rest() async throws {
    try await withLoop { loop in
      let server = try Server(on: loop)
      let clients = try await loop.submit {
        (0..<3).map { _ in SocketChannel.connect(to: server.address, on: loop, timeout: patience) }
      }.get()
      for client in clients { _ = try await client.get() }
      let rest = try await loop.submit {
        let rest = server.socket.takeRest(atMost: 10)
        server.socket.close()
        return rest
      }.get()
      #expect(rest.count == 3)
      for accepted in rest {
        #expect(accepted.peer?.ipAddress == "127.0.0.1")
        Glibc.close(accepted.descriptor)
      }
      #expect(
        try await loop.submit { try server.socket.next() == nil && server.socket.takeRest(atMost: 1).isEmpty }.get())
    }
  }

  @Test("A socket that the process was started with listens as one of its own does")
  func inherited() async throws {
    try await withLoop { loop in
      let (descriptor, address) = try plainListener(backlog: 1)
      let socket = try ListeningSocket.inherited(descriptor, isTCP: true, backlog: 16, on: loop)
      let count = Mutex(0)
      try await loop.submit {
        _ = socket.accept {
          // It does not block where none waits.
          while let next = try? socket.next() {
            Glibc.close(next.descriptor)
            count.withLock { $0 += 1 }
          }
        }
      }.get()
      #expect(socket.port == address.port)
      for number in 1...3 {
        _ = try await SocketChannel.connect(to: address, on: loop, timeout: patience).get()
        try await eventually("number \(number)") { count.withLock { $0 } == number }
      }
    }
  }

  @Test("At the end of a loop its channels are closed and let go, and its sockets listen no longer")
  func endOfLoop() async throws {
    weak var channel: SocketChannel?
    let port = Mutex(0)
    let events = Mutex<[String]>([])
    try await withLoop { loop in
      let server = try Server(on: loop)
      try await server.start()
      port.withLock { $0 = server.socket.port ?? 0 }
      let rig = try await ChannelRig.make(
        on: loop, onEvent: { event, _ in if event != "complete" { events.withLock { $0.append(event) } } })
      channel = rig.channel
      #expect(channel != nil)
    }
    let last = events.withLock { $0.filter { $0 != "input closed" } }
    #expect(last == ["active", "inactive", "unregistered", "removed"])
    #expect(channel == nil, "a channel that is closed must not be kept")
    try await withLoop { loop in
      let address = try SocketAddress(ipAddress: "127.0.0.1", port: port.withLock { $0 })
      await #expect(throws: IOError.self) {
        try await SocketChannel.connect(to: address, on: loop, timeout: patience).get()
      }
    }
  }

  @Test("A closed channel is let go while its loop goes on")
  func letGo() async throws {
    try await withLoop { loop in
      weak var channel: SocketChannel?
      do {
        let rig = try await ChannelRig.make(on: loop, isDirect: true)
        channel = rig.channel
        try await rig.channel.close().get()
      }
      try await eventually("the channel to go") { channel == nil }
    }
  }
}
