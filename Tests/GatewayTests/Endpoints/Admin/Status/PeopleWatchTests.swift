import AccessPolicy
import FoundationEssentials
import Logging
import Operations
import Sessions
import Synchronization
import Testing

@testable import Gateway

// Numbers for metrics and the status page, before a store that fails.
@Suite("The counts of accounts and of access")
struct PeopleWatchTests {
  private let store = MemoryStore()
  private let metrics = MetricsRegistry(version: "test", startTime: Timestamp(microseconds: 0))
  private let clock = TestClock()

  private func watch() -> PeopleWatch {
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    return PeopleWatch(
      store: store,
      storeHealth: StoreHealth(
        StoreSettings(location: .sqlite(path: "/nowhere")), metrics: metrics, logger: logger, now: clock.milliseconds))
  }

  private func ban(_ name: String) async throws {
    _ = try await store.ban(
      try #require(Subject(name)), Ban(until: nil, reason: nil, since: clock.now, by: "cli"))
  }

  @Test("Counts stay as they were while the store fails, each failure is counted, and they go on afterwards")
  func failure() async throws {
    let watch = watch()
    store.state.withLock { $0.isAway = true }
    await watch.count()
    #expect(watch.latest(GroupDirectory([])) == nil && metrics.storeFailures.total("people") == 1)
    store.state.withLock { $0.isAway = false }
    _ = try store.signIn("001.a", .random(), at: clock.now)
    try await ban("001.b")
    await watch.count()
    let counts = try #require(watch.latest(GroupDirectory([])))
    #expect(counts.bans == 1 && counts.accounts == 1 && counts.sessions == 1)
    try await ban("001.c")
    store.state.withLock { $0.isAway = true }
    await watch.count()
    #expect(watch.latest(GroupDirectory([])) == counts && metrics.storeFailures.total("people") == 2)
    store.state.withLock { $0.isAway = false }
    await watch.count()
    #expect(watch.latest(GroupDirectory([]))?.bans == 2 && metrics.storeFailures.total("people") == 2)
  }

  @Test("A store that is not in time to count its accounts leaves them out; any other error of it is a failure")
  func accounts() async throws {
    try await ban("001.a")
    store.state.withLock { $0.failures["counts"] = StoreError(code: .busy, message: "too many") }
    let late = watch()
    await late.count()
    let counts = try #require(late.latest(GroupDirectory([])))
    #expect(counts.bans == 1 && counts.accounts == nil && metrics.storeFailures.total("people") == 0)
    store.state.withLock { $0.failures["counts"] = StoreError(code: .corrupt, message: "damaged") }
    let failing = watch()
    await failing.count()
    #expect(failing.latest(GroupDirectory([])) == nil && metrics.storeFailures.total("people") == 1)
  }
}
