import Foundation
import Testing

@testable import Threads

// Cases: the thread and its name; no thread left.

@Suite("Dedicated threads")
struct DedicatedThreadTests {
  @Test(
    "Work is done on another thread, under the name that was given, of which 15 bytes are kept",
    arguments: [("cordon-test", "cordon-test"), ("cordon-loop-12345", "cordon-loop-123")])
  func name(given: String, kept: String) async throws {
    let names = AsyncStream<String>.makeStream()
    try DedicatedThread.start(named: given) {
      names.continuation.yield(CurrentThread.name)
      names.continuation.finish()
    }
    var found: [String] = []
    for await name in names.stream { found.append(name) }
    #expect(found == [kept])
  }

  @Test("If the system has no room for a thread, its error is thrown, and the work is neither done nor kept")
  func noThread() {
    final class Kept: Sendable {}
    weak var kept: Kept?
    do {
      let value = Kept()
      kept = value
      #expect(throws: ThreadError(errnoCode: EAGAIN)) {
        try DedicatedThread.start(named: "cordon-test", stackSize: NoThread.stackSize) {
          _ = value
          Issue.record("the thread runs")
        }
      }
    }
    #expect(kept == nil)
  }
}
