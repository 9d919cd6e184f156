import Synchronization
import Testing

@testable import Gateway

// The end of the process: what it waits for, and for how long, with and without a second signal.
@Suite("The shutdown of the process")
struct ShutdownCoordinatorTests {
  private let ending = ShutdownCoordinator()
  /// For a busy machine.
  private let patient = ShutdownCoordinator(moment: unreachable)

  /// Work that goes on until it is released, like an operation of a store that does not answer.
  private func work() -> (work: Task<Void, Never>, release: @Sendable () -> Void) {
    let (held, continuation) = AsyncStream<Never>.makeStream()
    // Cancelling it has no effect on the operation.
    let operation = Task { for await _ in held {} }
    return (Task { await operation.value }, { continuation.finish() })
  }

  @Test("Work that does not end is left behind at the deadline, and goes on")
  func deadline() async {
    let (work, release) = work()
    #expect(await !ending.finish(work, by: .now))
    release()
    #expect(await ending.finish(work, by: .now + unreachable))
  }

  @Test("Work that has ended already is not left behind, though the deadline is over")
  func ended() async {
    let (work, release) = work()
    release()
    await work.value
    #expect(await patient.finish(work, by: .now - .seconds(1)))
  }

  @Test("A forced close ends a wait for work that does not end, long before its deadline")
  func forced() async {
    let (work, release) = work()
    let began = ContinuousClock.now
    async let hasEnded = ending.finish(work, by: .now + unreachable)
    ending.force()
    #expect(await !hasEnded)
    #expect(await !ending.finish(work, by: .now + unreachable), "nor is anything waited for afterwards")
    #expect(ContinuousClock.now - began < .seconds(600))
    release()
  }

  @Test("A forced close cancels what is being waited for")
  func cancelled() async {
    let (beginnings, begun) = AsyncStream<Void>.makeStream()
    let isCancelled = Atomic<Bool>(false)
    async let wait: Void = ending.wait {
      begun.yield()
      do { try await Task.sleep(for: unreachable) } catch { isCancelled.store(true, ordering: .releasing) }
    }
    for await _ in beginnings { break }
    ending.force()
    await wait
    let wasCancelled = isCancelled.load(ordering: .acquiring)
    #expect(wasCancelled)
  }

  @Test("After a forced close work still has a moment, which is enough for a store that answers")
  func moment() async {
    patient.force()
    let work = Task {}
    await work.value
    #expect(await patient.finish(work, by: .now + unreachable))
  }
}
