import Glibc
import NIOCore
import Synchronization
import Testing
import WaitingTesting

@testable import SocketTransport

// Cases: the order of tasks, of the loop itself and from other threads; timers; sockets beside them; groups.

@Suite("An event loop", .timeLimit(.minutes(5)))
struct EventLoopTests {
  private final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }
    func add() { count.add(1, ordering: .relaxed) }
  }

  @Test("Tasks from another thread are performed in their order, on the thread of the loop")
  func tasks() async throws {
    try await withLoop { loop in
      let seen = Mutex<[Int]>([])
      #expect(!loop.inEventLoop)
      for number in 0..<1_000 {
        loop.execute {
          #expect(loop.inEventLoop)
          seen.withLock { $0.append(number) }
        }
      }
      try await loop.submit {}.get()
      #expect(seen.withLock { $0 } == Array(0..<1_000))
    }
  }

  @Test("Each task from many threads at once is performed once, although the loop falls asleep in between")
  func manyThreads() async throws {
    try await withLoop { loop in
      let count = Counter()
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<8 {
          group.addTask {
            for turn in 0..<2_000 {
              loop.execute { count.add() }
              if turn % 100 == 0 { await Task.yield() }
            }
          }
        }
      }
      try await loop.submit {}.get()
      #expect(count.value == 16_000)
    }
  }

  @Test("A task of the loop itself is performed after the task that adds it, and after those that were there before")
  func ownTasks() async throws {
    try await withLoop { loop in
      let seen = Mutex<[String]>([])
      try await loop.submit {
        loop.execute {
          loop.execute { seen.withLock { $0.append("third") } }
          seen.withLock { $0.append("first") }
        }
        loop.execute { seen.withLock { $0.append("second") } }
      }.get()
      try await eventually("all of them") { seen.withLock(\.count) == 3 }
      #expect(seen.withLock { $0 } == ["first", "second", "third"])
    }
  }

  @Test("A loop that waits is woken for each task of another thread")
  func wokenEachTime() async throws {
    try await withLoop { loop in
      for number in 0..<2_000 {
        let result = try await loop.submit { number }.get()
        #expect(result == number)
      }
    }
  }

  @Test("A scheduled task has its result, not before its time, and a cancelled one fails")
  func scheduled() async throws {
    try await withLoop { loop in
      let began = NIODeadline.now()
      let value = try await loop.scheduleTask(in: .milliseconds(20)) { 7 }.futureResult.get()
      #expect(value == 7 && NIODeadline.now() - began >= .milliseconds(20))
      let cancelled = loop.scheduleTask(in: .hours(1)) { 7 }
      cancelled.cancel()
      await #expect(throws: EventLoopError.self) { try await cancelled.futureResult.get() }
      let onLoop = try await loop.submit { loop.scheduleTask(in: .nanoseconds(1)) { 8 } }.get()
      #expect(try await onLoop.futureResult.get() == 8)
      struct Trouble: Error {}
      await #expect(throws: Trouble.self) {
        try await loop.scheduleTask(in: .zero) { throw Trouble() }.futureResult.get()
      }
    }
  }

  @Test("A task that is scheduled while the loop waits for a later one is not late for it")
  func earlier() async throws {
    try await withLoop { loop in
      let late = loop.scheduleTask(in: .hours(1)) {}
      try await loop.scheduleTask(in: .milliseconds(1)) {}.futureResult.get()
      late.cancel()
    }
  }

  @Test("A task that follows itself for ever keeps the loop neither from its sockets nor from its timers")
  func selfFollowing() async throws {
    try await withLoop { loop in
      let rig = try await ChannelRig.make(.unix, on: loop, isDirect: true)
      let stops = Mutex(false)
      @Sendable func again() { if !stops.withLock({ $0 }) { loop.execute { again() } } }
      loop.execute { again() }
      rig.peer.send([1, 2, 3])
      try await eventually("its bytes") { rig.recorder.bytes == [1, 2, 3] }
      #expect(try await loop.scheduleTask(in: .milliseconds(1)) { 1 }.futureResult.get() == 1)
      stops.withLock { $0 = true }
    }
  }

  @Test("The loops of a group take turns, and each has a thread of its own")
  func turns() async throws {
    let group = try SocketEventLoopGroup(loops: 3)
    let loops = group.loops
    let own = loops.map { ObjectIdentifier($0) }
    let asked = (0..<6).map { _ in ObjectIdentifier(group.next()) }
    #expect(asked == own + own)
    #expect(group.makeIterator().map { ObjectIdentifier($0) } == own)
    for loop in loops {
      let (count, isOwn) = try await loop.submit { (loops.count { $0.inEventLoop }, loop.inEventLoop) }.get()
      #expect(count == 1 && isOwn)
    }
    try await group.shutdownGracefully()
  }
}
