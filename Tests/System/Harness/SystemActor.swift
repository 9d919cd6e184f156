import Foundation
import Synchronization

/// The executor of the system tests: a dedicated thread, one test after the other.
///
/// The tests block on sockets and processes, which the cooperative pool (two threads on CI) must not be used for: unit
/// tests of the same process would be blocked. The thread lives as long as the process, so that the children that it
/// starts with a parent-death signal live as long as the tests do.
@globalActor
actor SystemActor {
  static let shared = SystemActor()
  private static let executor = ThreadExecutor(name: "system tests")

  nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }

  /// Runs `body` on the tests' thread.
  static func run<Value: Sendable>(_ body: @SystemActor @Sendable () throws -> Value) async rethrows -> Value {
    try await body()
  }
}

/// A serial executor on one thread that never ends.
private final class ThreadExecutor: SerialExecutor {
  private let jobs = Watched<[UnownedJob]>([])

  init(name: String) {
    let jobs = jobs
    let thread = Thread { [self] in
      while true {
        let job = jobs.take { $0.isEmpty ? nil : $0.removeFirst() }
        job.runSynchronously(on: asUnownedSerialExecutor())
      }
    }
    thread.name = name
    thread.stackSize = 8 << 20
    thread.start()
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.update { $0.append(job) }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
