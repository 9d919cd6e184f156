import Logging
import Operations
import Sessions
import Synchronization
import Testing

@testable import Gateway

// Many requests with one session that is not cached, as a page with images makes them after a revalidation.
@Suite("Shared look-ups")
struct SharedLookUpsTests {
  private static let first = ProcessSessions.Version(epoch: 0, accountChanges: 0)

  /// Look-ups that are answered when the test says so, with the number of the question.
  private final class Store: Sendable {
    let health: StoreHealth
    let lookUps: SharedLookUps<Int>
    private let questions = Mutex(0)
    private let open: AsyncStream<Void>
    private let opener: AsyncStream<Void>.Continuation

    init() {
      health = StoreHealth(
        StoreSettings(location: .sqlite(path: "/nowhere")),
        metrics: MetricsRegistry(version: "test", startTime: Timestamp(microseconds: 0)),
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, now: 0)
      lookUps = SharedLookUps(ProcessSessions(), health)
      (open, opener) = AsyncStream.makeStream()
    }

    var count: Int { questions.withLock { $0 } }

    func ask(_ handle: PublicSessionID, _ version: ProcessSessions.Version = first) async -> Int {
      let answer = await lookUps.answer(for: handle, version) { [self] in
        let number = questions.withLock { questions in
          questions += 1
          return questions
        }
        for await _ in open { break }
        return .found(number)
      }
      guard case .found(let number) = answer else { return 0 }
      return number
    }

    func answer() { opener.finish() }
  }

  @Test("All who ask for one session at the same time get the answer to one question, and later ones another")
  func shared() async {
    let (store, handle) = (Store(), PublicSessionID(high: 1, low: 2))
    // Each runs up to where it waits for the answer before the next begins.
    let early = (0..<64).map { _ in Task.immediate { await store.ask(handle) } }
    store.answer()
    for task in early { #expect(await task.value == 1) }
    #expect(await store.ask(handle) == 2)
  }

  @Test("An answer from before a change of accounts, or about another session, is given to nobody who asks later")
  func newer() async {
    let (store, handle) = (Store(), PublicSessionID(high: 1, low: 2))
    let newer = ProcessSessions.Version(epoch: 0, accountChanges: 1)
    let before = Task.immediate { await store.ask(handle) }
    let after = Task.immediate { await store.ask(handle, newer) }
    let joined = Task.immediate { await store.ask(handle, newer) }
    let other = Task.immediate { await store.ask(PublicSessionID(high: 1, low: 3)) }
    store.answer()
    let numbers = [await before.value, await after.value, await other.value]
    #expect(numbers.sorted() == [1, 2, 3])
    #expect(await joined.value == numbers[1])
  }

  @Test("Nobody waits for a look-up of a store that is known not to answer")
  func storeAway() async {
    let (store, handle) = (Store(), PublicSessionID(high: 1, low: 2))
    let stuck = Task.immediate { await store.ask(handle) }
    store.health.didNotAnswer("find", StoreError(code: .unavailable, message: "cannot be reached"))
    let answer = await store.lookUps.answer(for: handle, Self.first) { .found(7) }
    #expect({ if case .found(7) = answer { true } else { false } }(), "\(answer)")
    store.answer()
    #expect(await stuck.value == 1)
  }
}
