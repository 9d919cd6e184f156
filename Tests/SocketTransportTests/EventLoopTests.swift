import Glibc
import NIOCore
import Synchronization
import Testing

@testable import SocketTransport

// Cases: the order of tasks, of the loop itself and from other threads; timers; the end, with tasks and timers left.

@Suite("An event loop", .timeLimit(.minutes(2)))
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

  @Test("A task of the loop itself is performed after the task that adds it")
  func ownTasks() async throws {
    try await withLoop { loop in
      let seen = Mutex<[String]>([])
      try await loop.submit {
        loop.execute { seen.withLock { $0.append("second") } }
        seen.withLock { $0.append("first") }
      }.get()
      try await loop.submit {}.get()
      #expect(seen.withLock { $0 } == ["first", "second"])
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

  @Test("At the end what was added before is performed, timers fail, and the thread ends")
  func end() async throws {
    let group = try SocketEventLoopGroup(loops: 2)
    let performed = Counter()
    let failed = Counter()
    let timer = group.loops[0].scheduleTask(in: .hours(1)) {}
    timer.futureResult.whenFailure { _ in failed.add() }
    for loop in group.loops { loop.execute { performed.add() } }
    try await group.shutdownGracefully()
    #expect(performed.value == 2 && failed.value == 1)
    // Afterwards tasks are not performed, and another end changes nothing.
    group.loops[0].execute { performed.add() }
    try await group.shutdownGracefully()
    #expect(performed.value == 2)
  }

  @Test("A task that follows itself for ever does not keep the loop from ending")
  func endless() async throws {
    let group = try SocketEventLoopGroup(loops: 1)
    let loop = group.loops[0]
    @Sendable func again() { loop.execute { again() } }
    again()
    try await group.shutdownGracefully()
  }

  @Test("Loops take turns, and one of a group is asked for")
  func turns() async throws {
    let group = try SocketEventLoopGroup(loops: 3)
    let asked = (0..<6).map { _ in ObjectIdentifier(group.next()) }
    #expect(Set(asked[0..<3]) == Set(group.loops.map { ObjectIdentifier($0) }) && asked[0..<3] == asked[3..<6])
    #expect(group.makeIterator().map { ObjectIdentifier($0) } == group.loops.map { ObjectIdentifier($0) })
    try await group.shutdownGracefully()
  }
}
