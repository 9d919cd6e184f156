import Foundation
import Synchronization
import Testing

@testable import Gateway

// Cases: the result, the order of the work, work after the thread has ended, work that blocks.

@Suite("The thread for files")
struct FileThreadTests {
  private let files = FileThread()

  @Test("Work is done in the order of the requests, also after a pause, and its result is returned")
  func order() async {
    let done = Mutex<[Int]>([])
    for number in 0..<100 {
      let result = await files.run {
        done.withLock { $0.append(number) }
        return number
      }
      #expect(result == number)
    }
    let order = done.withLock { $0 }
    #expect(order == Array(0..<100))
  }

  @Test("Work that blocks keeps other work with files waiting, and no other task", .timeLimit(.minutes(2)))
  func blocked() async {
    let block = Block()
    // More than there are threads for tasks.
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<256 {
        group.addTask { [files] in
          await files.run { while !block.isReleased.load(ordering: .acquiring) { usleep(1_000) } }
        }
      }
      for _ in 0..<256 { await Task.detached {}.value }
      block.isReleased.store(true, ordering: .releasing)
    }
  }

  private final class Block: Sendable {
    let isReleased = Atomic<Bool>(false)
  }
}
