import Dispatch
import NIOCore
import Synchronization
import Testing

@testable import SocketTransport

@Suite("The thread and the end of an event loop")
struct LoopEndTests {
  // MARK: Tasks

  @Test("Tasks of one thread are performed in their order, on the thread of the loop")
  func order() async throws {
    try await withThreadOfLoop { loop in
      let journal = Journal()
      for number in 0..<100 {
        loop.execute { journal.note(loop.inEventLoop ? "\(number)" : "elsewhere") }
      }
      try journal.wait(for: "99")
      #expect(journal.entries == (0..<100).map(String.init))
      #expect(!loop.inEventLoop)
    }
  }

  @Test("Tasks of a task are performed after those that were there before")
  func ofTask() async throws {
    try await withThreadOfLoop { loop in
      let journal = Journal()
      try loop.run {
        loop.execute {
          loop.execute { journal.note("third") }
          journal.note("first")
        }
        loop.execute { journal.note("second") }
      }
      try journal.wait(for: "third")
      #expect(journal.entries == ["first", "second", "third"])
    }
  }

  @Test("A loop that waits is woken for each task of another thread")
  func wokenEachTime() async throws {
    try await withThreadOfLoop { loop in
      for number in 0..<2_000 {
        let result = try loop.run { number }
        #expect(result == number)
      }
    }
  }

  @Test("No task of many threads is lost")
  func manyThreads() async throws {
    try await withThreadOfLoop { loop in
      let count = Mutex(0)
      let done = Later<Bool>()
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        for _ in 0..<2_500 {
          loop.execute {
            let all = count.withLock { count in
              count += 1
              return count
            }
            if all == 10_000 { done.complete(.success(true)) }
          }
        }
      }
      _ = try done.get("10,000 tasks")
    }
  }

  @Test("A task that follows itself for ever keeps the loop neither from its sockets nor from its timers")
  func selfFollowing() async throws {
    try await withBench(.unixReader) { bench in
      let stops = Mutex(false)
      let loop = bench.loop
      @Sendable func again() { if !stops.withLock({ $0 }) { loop.execute { again() } } }
      loop.execute { again() }
      try bench.peer.send([1, 2, 3])
      try bench.journal.wait(forBytes: 3)
      try loop.scheduleTask(in: .milliseconds(1)) { 1 }.futureResult.expect(1)
      stops.withLock { $0 = true }
    }
  }

  @Test("The loops of a group take turns, and each has a thread of its own")
  func group() async throws {
    try await blocking {
      let group = try SocketEventLoopGroup(loops: 3)
      let loops = group.loops
      let turns = (0..<6).map { _ in group.next() }
      for (turn, loop) in zip(turns, loops + loops) { #expect(turn === loop) }
      for own in loops {
        #expect(try own.run { loops.filter(\.inEventLoop).count } == 1)
        #expect(try own.run { own.inEventLoop })
      }
      let ended = Later<Bool>()
      group.shutdownGracefully(queue: .global()) { error in ended.complete(.success(error == nil)) }
      #expect(try ended.get())
    }
  }

  // MARK: The end

  @Test("The end of a loop closes its channels and its listening sockets, and does what follows from that")
  func endCloses() async throws {
    try await blocking {
      let loop = try SocketEventLoop(name: "test")
      let bench = try Bench.add(.tcpReader, on: loop)
      try bench.open()
      let address = try SocketAddress(ipAddress: "127.0.0.1", port: 0)
      let socket = try ListeningSocket.bind(to: address, backlog: 1, isShared: false, on: loop)
      #expect(try loop.run { socket.accept {} })
      try loop.endAndWait()
      #expect(bench.journal.entries == ["active", "inactive", "removed", "closed"])
      #expect(try bench.peer.readToEnd().isEmpty)
      let accepted = try socket.next()
      #expect(accepted == nil)
    }
  }

  @Test("The end of a loop fails what is scheduled, and performs the tasks that follow from that")
  func endFailsTimers() async throws {
    try await blocking {
      let loop = try SocketEventLoop(name: "test")
      let journal = Journal()
      let scheduled = loop.scheduleTask(in: .hours(1)) { journal.note("performed") }
      scheduled.futureResult.whenFailure { _ in
        journal.note("failed")
        loop.execute { journal.note("task") }
        loop.scheduleTask(in: .hours(1)) {}.futureResult.whenFailure { _ in journal.note("second failed") }
      }
      try loop.endAndWait()
      #expect(Set(journal.entries) == ["failed", "task", "second failed"])
    }
  }

  @Test("A loop that has ended drops tasks")
  func afterEnd() async throws {
    try await blocking {
      let loop = try SocketEventLoop(name: "test")
      try loop.endAndWait()
      let journal = Journal()
      loop.execute { journal.note("performed") }
      try loop.endAndWait()
      #expect(journal.entries.isEmpty)
    }
  }

  @Test("Each of several ends of one loop is reported when the loop has ended")
  func severalEnds() async throws {
    try await blocking {
      let loop = try SocketEventLoop(name: "test")
      let journal = Journal()
      let holds = Later<Bool>()
      loop.execute { _ = try? holds.get() }
      loop.end { journal.note("end") }
      loop.end { journal.note("end") }
      loop.execute { loop.execute { journal.note("task") } }
      holds.complete(.success(true))
      try journal.wait(for: "end", times: 2)
      #expect(journal.entries == ["task", "end", "end"])
      try loop.endAndWait()
    }
  }

  @Test("A task that follows itself for ever does not keep a loop from ending")
  func endWithSelfFollowing() async throws {
    try await blocking {
      let loop = try SocketEventLoop(name: "test")
      @Sendable func again() {
        loop.execute { again() }
        loop.scheduleTask(in: .zero) {}.futureResult.whenFailure { _ in again() }
      }
      @Sendable func once() { loop.execute { once() } }
      once()
      try loop.endAndWait()
    }
  }

  @Test("A loop ends that is ended before its thread has begun")
  func endAtOnce() async throws {
    try await blocking {
      for _ in 0..<50 {
        let loop = try SocketEventLoop(name: "test")
        try loop.endAndWait()
      }
    }
  }

  @Test("The thread of another loop is not taken for that of one that has ended")
  func threadOfAnother() async throws {
    try await blocking {
      var ended: [SocketEventLoop] = []
      for _ in 0..<30 {
        let loop = try SocketEventLoop(name: "test")
        let before = ended
        #expect(try loop.run { !before.contains(where: \.inEventLoop) })
        try loop.endAndWait()
        ended.append(loop)
      }
    }
  }

  @Test("A connection that is made or accepted while a loop ends is closed")
  func connectionMeanwhile() async throws {
    try await blocking {
      let loop = try SocketEventLoop(name: "test")
      let bench = try Bench.add(.unixReader, on: loop)
      let journal = Journal()
      try loop.run {
        // Performed after the beginning of the end.
        loop.end {}
        loop.execute {
          bench.channel.open()
          guard let address = try? SocketAddress(ipAddress: "127.0.0.1", port: 1) else { return }
          SocketChannel.connect(to: address, on: loop, timeout: .hours(1))
            .whenFailure { _ in journal.note("failed") }
        }
      }
      try bench.journal.wait(for: "closed")
      try loop.endAndWait()
      #expect(journal.entries == ["failed"])
      #expect(try bench.peer.readToEnd().isEmpty)
    }
  }
}
