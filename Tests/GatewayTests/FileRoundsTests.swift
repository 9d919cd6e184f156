import Dispatch
import Synchronization
import Testing

@testable import Gateway
@testable import Threads

@Suite("Rounds of looks at files")
struct FileRoundsTests {
  private final class Counts: Sendable {
    let looks = Atomic<Int>(0)
    let reactions = Atomic<Int>(0)
  }

  private let worker = SerialWorker(named: "files")
  private let counts = Counts()

  /// Waits for everything that the worker has to do.
  private func settle() async { await worker.run {} }

  @Test("Each round looks at all files, and does nothing if none has changed")
  func quiet() async {
    let look: FileRounds.Look = { [counts] in
      counts.looks.add(1, ordering: .relaxed)
      return nil
    }
    let rounds = FileRounds(by: worker.add, [look, look])
    for round in 1...3 {
      rounds.begin()
      await settle()
      #expect(counts.looks.load(ordering: .relaxed) == 2 * round)
    }
  }

  @Test("A change is reacted to, and no round begins until that is done", .timeLimit(.minutes(5)))
  func change() async throws {
    let (releases, release) = AsyncStream<Void>.makeStream()
    let rounds = FileRounds(
      by: worker.add,
      [
        { [counts] in
          guard counts.looks.add(1, ordering: .relaxed).newValue == 1 else { return nil }
          return {
            for await _ in releases { break }
            counts.reactions.add(1, ordering: .relaxed)
          }
        }
      ])
    rounds.begin()
    await settle()
    rounds.begin()
    await settle()
    #expect(counts.looks.load(ordering: .relaxed) == 1)
    #expect(counts.reactions.load(ordering: .relaxed) == 0)
    release.yield()
    while counts.looks.load(ordering: .relaxed) == 1 {
      rounds.begin()
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(counts.reactions.load(ordering: .relaxed) == 1)
  }

  @Test("While a file system does not answer no further round waits for it", .timeLimit(.minutes(5)))
  func hung() async {
    let answer = DispatchSemaphore(value: 0)
    let rounds = FileRounds(
      by: worker.add,
      [
        { [counts] in
          if counts.looks.add(1, ordering: .relaxed).newValue == 1 { answer.wait() }
          return nil
        }
      ])
    for _ in 0..<10 { rounds.begin() }
    answer.signal()
    await settle()
    #expect(counts.looks.load(ordering: .relaxed) == 1)
    rounds.begin()
    await settle()
    #expect(counts.looks.load(ordering: .relaxed) == 2)
  }

  @Test("Without a thread left a round is passed over, and the next one looks")
  func noThread() {
    let look: FileRounds.Look = { [counts] in
      counts.looks.add(1, ordering: .relaxed)
      return nil
    }
    let attempts = Counts()
    let rounds = FileRounds(
      by: { (work) throws(ThreadError) in
        guard attempts.looks.add(1, ordering: .relaxed).newValue > 1 else { throw ThreadError(errnoCode: 11) }
        work()
      }, [look])
    rounds.begin()
    #expect(counts.looks.load(ordering: .relaxed) == 0)
    rounds.begin()
    #expect(counts.looks.load(ordering: .relaxed) == 1)
  }
}
