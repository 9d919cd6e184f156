import Dispatch
import NIOCore
import Synchronization
import Testing
import WaitingTesting

@testable import SocketTransport

// Cases: ends with tasks, timers, sockets and connections left; several ends of one loop; an end before its thread has
// begun, and one while tasks or connections come.

@Suite("The end of an event loop", .timeLimit(.minutes(5)))
struct LoopEndTests {
  @Test("At the end what was added before is performed, timers fail, and the thread ends")
  func end() async throws {
    let group = try SocketEventLoopGroup(loops: 2)
    let performed = Mutex(0)
    let failed = Mutex(0)
    let timer = group.loops[0].scheduleTask(in: .hours(1)) {}
    timer.futureResult.whenFailure { _ in failed.withLock { $0 += 1 } }
    for loop in group.loops { loop.execute { performed.withLock { $0 += 1 } } }
    try await group.shutdownGracefully()
    #expect(performed.withLock { $0 } == 2 && failed.withLock { $0 } == 1)
    // Afterwards tasks are not performed, and another end changes nothing.
    group.loops[0].execute { performed.withLock { $0 += 1 } }
    try await group.shutdownGracefully()
    #expect(performed.withLock { $0 } == 2)
  }

  @Test("The end of a loop closes its channels and its listening sockets, and does what follows from that")
  func closes() async throws {
    let loop = try SocketEventLoop(name: "test")
    let rig = try await ChannelRig.make(on: loop, isDirect: true)
    let isClosed = Mutex(false)
    rig.channel.closeFuture.whenComplete { _ in isClosed.withLock { $0 = true } }
    let socket = try ListeningSocket.bind(
      to: SocketAddress(ipAddress: "127.0.0.1", port: 0), backlog: 1, isShared: false, on: loop)
    #expect(try await loop.submit { socket.accept {} }.get())
    await loop.endAndWait()
    #expect(rig.recorder.events == ["active", "inactive", "unregistered", "removed"])
    #expect(isClosed.withLock { $0 })
    #expect(try await rig.peerReceivesToEnd().isEmpty)
    let accepted = try socket.next()
    #expect(accepted == nil)
  }

  @Test("The end of a loop fails what is scheduled, and performs the tasks that follow from that")
  func failsTimers() async throws {
    let loop = try SocketEventLoop(name: "test")
    let seen = Mutex<[String]>([])
    @Sendable func note(_ event: String) { seen.withLock { $0.append(event) } }
    let scheduled = loop.scheduleTask(in: .hours(1)) { note("performed") }
    scheduled.futureResult.whenFailure { _ in
      note("failed")
      loop.execute { note("task") }
      loop.scheduleTask(in: .hours(1)) {}.futureResult.whenFailure { _ in note("second failed") }
    }
    await loop.endAndWait()
    #expect(Set(seen.withLock { $0 }) == ["failed", "task", "second failed"])
  }

  @Test("Each of several ends of one loop is reported when the loop has ended")
  func several() async throws {
    let loop = try SocketEventLoop(name: "test")
    let seen = Mutex<[String]>([])
    @Sendable func note(_ event: String) { seen.withLock { $0.append(event) } }
    let isReady = DispatchSemaphore(value: 0)
    loop.execute { isReady.wait() }
    loop.end { note("end") }
    loop.end { note("end") }
    loop.execute { loop.execute { note("task") } }
    isReady.signal()
    try await eventually("both ends") { seen.withLock { $0.count { $0 == "end" } } == 2 }
    #expect(seen.withLock { $0 } == ["task", "end", "end"])
    await loop.endAndWait()
  }

  @Test("A task that follows itself for ever does not keep the loop from ending")
  func endless() async throws {
    let loop = try SocketEventLoop(name: "test")
    @Sendable func again() { loop.execute { again() } }
    again()
    await loop.endAndWait()
  }

  @Test("A loop ends that is ended before its thread has begun")
  func atOnce() async throws {
    for _ in 0..<50 {
      let loop = try SocketEventLoop(name: "test")
      await loop.endAndWait()
    }
  }

  @Test("The thread of another loop is not taken for that of one that has ended")
  func threadOfAnother() async throws {
    var ended: [SocketEventLoop] = []
    for _ in 0..<30 {
      let loop = try SocketEventLoop(name: "test")
      let before = ended
      #expect(try await loop.submit { !before.contains(where: \.inEventLoop) }.get())
      await loop.endAndWait()
      ended.append(loop)
    }
  }

  @Test("A connection that is made or accepted while a loop ends is closed")
  func connectionMeanwhile() async throws {
    let loop = try SocketEventLoop(name: "test")
    let rig = try await ChannelRig.make(.unix, on: loop, isDirect: true, opens: false)
    let address = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
    let isClosed = Mutex(false)
    rig.channel.closeFuture.whenComplete { _ in isClosed.withLock { $0 = true } }
    let hasFailed = Mutex(false)
    loop.execute {
      // Performed after the beginning of the end.
      loop.end {}
      loop.execute {
        rig.channel.open()
        SocketChannel.connect(to: address, on: loop, timeout: .hours(1))
          .whenFailure { _ in hasFailed.withLock { $0 = true } }
      }
    }
    await loop.endAndWait()
    #expect(isClosed.withLock { $0 } && hasFailed.withLock { $0 })
    #expect(try await rig.peerReceivesToEnd().isEmpty)
  }
}
