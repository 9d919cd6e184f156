import Synchronization
import Testing

@testable import Gateway
@testable import Threads

@Suite("Rounds of looks at files")
struct FileRoundsTests {
  private let worker = SerialWorker(named: "files")
  private let looks = Counter()

  private final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    var count: Int { value.load(ordering: .relaxed) }
    func add() { value.add(1, ordering: .relaxed) }
  }

  /// A look that finds no change.
  private var quiet: FileRounds.Look {
    { [looks] in
      looks.add()
      return nil
    }
  }

  /// A round, to its end.
  private func round(of rounds: FileRounds) async {
    await withCheckedContinuation { continuation in rounds.begin { continuation.resume() } }
  }

  @Test("Each round looks at all files, and ends by itself if none has changed")
  func quietRounds() async {
    let rounds = FileRounds(by: worker.add, [quiet, quiet])
    for number in 1...3 {
      await round(of: rounds)
      #expect(looks.count == 2 * number)
    }
  }

  @Test("A round in which something has changed ends when all that has to be done is done")
  func change() async {
    let reactions = Counter()
    let changed: FileRounds.Look = {
      {
        await Task.yield()
        reactions.add()
      }
    }
    await round(of: FileRounds(by: worker.add, [changed, quiet, changed]))
    #expect(reactions.count == 2)
    #expect(looks.count == 1)
  }

  @Test("Without a thread left a round is passed over, and the next one looks")
  func noThread() async {
    let attempts = Counter()
    let rounds = FileRounds(
      by: { (work) throws(ThreadError) in
        attempts.add()
        guard attempts.count > 1 else { throw ThreadError(errnoCode: 11) }
        work()
      }, [quiet])
    await round(of: rounds)
    #expect(looks.count == 0)
    await round(of: rounds)
    #expect(looks.count == 1)
  }
}
