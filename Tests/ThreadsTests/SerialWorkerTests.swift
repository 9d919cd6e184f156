import Foundation
import Synchronization
import Testing
import WaitingTesting

@testable import Threads

// Cases: the result, the order of the work, work after the thread has ended, work that blocks; the end of the thread,
// at once or after a while; no thread left.

@Suite("The worker on a thread of its own")
struct SerialWorkerTests {
  private let worker = SerialWorker(named: "cordon-test")

  @Test("Work is done in the order of the requests, also after a pause, and its result is returned")
  func order() async {
    let done = Mutex<[Int]>([])
    for number in 0..<100 {
      let result = await worker.run {
        done.withLock { $0.append(number) }
        return number
      }
      #expect(result == number)
    }
    let order = done.withLock { $0 }
    #expect(order == Array(0..<100))
  }

  @Test("Work that blocks keeps other work of the worker waiting, and no other task", .timeLimit(.minutes(5)))
  func blocked() async {
    let block = Block()
    // More than there are threads for tasks.
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<256 {
        group.addTask { [worker] in
          await worker.run { while !block.isReleased.load(ordering: .acquiring) { usleep(1_000) } }
        }
      }
      for _ in 0..<256 { await Task.detached {}.value }
      block.isReleased.store(true, ordering: .releasing)
    }
  }

  @Test("Work that is added while other work blocks is done after it, and its caller does not wait")
  func added() async throws {
    let block = Block()
    let done = Mutex<[Int]>([])
    try worker.add {
      while !block.isReleased.load(ordering: .acquiring) { usleep(1_000) }
      done.withLock { $0.append(0) }
    }
    for number in 1..<100 { try worker.add { done.withLock { $0.append(number) } } }
    let early = done.withLock { $0 }
    #expect(early == [])
    block.isReleased.store(true, ordering: .releasing)
    await worker.run {}
    let order = done.withLock { $0 }
    #expect(order == Array(0..<100))
  }

  @Test("The thread has the worker's name")
  func name() async {
    let name = await worker.run { CurrentThread.name }
    #expect(name == "cordon-test")
  }

  @Test("Without work a worker has no thread: nothing keeps it", .timeLimit(.minutes(5)))
  func end() async throws {
    weak var ended: SerialWorker?
    do {
      let worker = SerialWorker(named: "cordon-test")
      ended = worker
      await worker.run {}
    }
    try await eventually("the end of the thread") { ended == nil }
  }

  @Test("A thread that lingers does the next work, too, without another thread")
  func lingering() async throws {
    // Longer than any pause of a busy machine.
    let worker = SerialWorker(named: "cordon-test", lingering: .seconds(3_600))
    let folder = await worker.run { CurrentThread.folder }
    let first = try #require(folder)
    for _ in 0..<100 {
      let next = await worker.run { CurrentThread.folder }
      #expect(next == first)
    }
    try worker.add {}
    let last = await worker.run { CurrentThread.folder }
    #expect(last == first)
  }

  @Test("Work is done whether it comes before or after the end of a thread that lingers", .timeLimit(.minutes(5)))
  func endOfLingering() async throws {
    weak var ended: SerialWorker?
    do {
      let worker = SerialWorker(named: "cordon-test", lingering: .milliseconds(1))
      ended = worker
      for number in 0..<300 {
        let result = await worker.run { number }
        #expect(result == number)
        // About as long as it lingers, on either side.
        try await Task.sleep(for: .microseconds(5 * number))
      }
    }
    try await eventually("the end of the thread") { ended == nil }
  }

  @Test("If the system has no thread left, work is done by the caller, or refused with the system's error")
  func noThread() async {
    let worker = SerialWorker(named: "cordon-test", stackSize: NoThread.stackSize)
    let done = Mutex<[Int]>([])
    for number in 0..<3 {
      #expect(throws: ThreadError(errnoCode: EAGAIN)) { try worker.add { done.withLock { $0.append(-1) } } }
      worker.perform { done.withLock { $0.append(number) } }
      let last = done.withLock { $0.last }
      #expect(last == number, "done when the call returns")
    }
    let result = await worker.run { 3 }
    let order = done.withLock { $0 }
    #expect(result == 3 && order == [0, 1, 2])
  }

  private final class Block: Sendable {
    let isReleased = Atomic<Bool>(false)
  }
}
