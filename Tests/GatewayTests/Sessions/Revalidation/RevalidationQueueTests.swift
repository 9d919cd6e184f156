import Sessions
import Testing

@testable import Gateway

@Suite("The queue of revalidations")
struct RevalidationQueueTests {
  private let queue = RevalidationQueue()

  @Test("An account is checked once at a time, 64 in all; who waits for one may exceed that")
  func atOnce() async throws {
    let subjects = try (0..<70).map { try #require(Subject("user.\($0)")) }
    for subject in subjects[..<64] { #expect(queue.begin(subject)) }
    #expect(await queue.acquireSlot(for: subjects[0], by: .now) == .underWay)
    #expect(!queue.begin(subjects[64]))
    #expect(await queue.acquireSlot(for: subjects[64], by: .now) == .begun)
    queue.end(subjects[0])
    queue.end(subjects[64])
    #expect(queue.begin(subjects[65]))
  }

  @Test("Overdue accounts beyond 1,024 wait for a place in their order, for so long as they can, and none gets lost")
  func places() async throws {
    let subjects = try (0..<2_000).map { try #require(Subject("user.\($0)")) }
    for subject in subjects[..<1_024] { #expect(await queue.acquireSlot(for: subject, by: .now) == .begun) }
    #expect(await queue.acquireSlot(for: subjects[1_024], by: .now) == .none, "it could not wait")
    let later = ContinuousClock.now + unreachable
    let waiting = subjects[1_100..<1_200].map { subject in Task { await queue.acquireSlot(for: subject, by: later) } }
    // Each end lets the next one in, although one in the queue has given up.
    for subject in subjects[..<100] { queue.end(subject) }
    for task in waiting { #expect(await task.value == .begun) }
    #expect(await queue.acquireSlot(for: subjects[1_300], by: .now) == .none, "every place is taken again")
    for subject in subjects[100..<1_024] + subjects[1_100..<1_200] { queue.end(subject) }
    for subject in subjects[..<64] { #expect(queue.begin(subject)) }
    #expect(!queue.begin(subjects[64]))
  }

  @Test("A request that waits for a revalidation continues when it ends, and at once if none is under way")
  func waiting() async throws {
    let subject = try #require(Subject("001.anna"))
    let later = ContinuousClock.now + unreachable
    #expect(await queue.waitForEnd(of: subject, by: later))
    #expect(queue.begin(subject))
    #expect(await queue.waitForEnd(of: subject, by: .now) == false)
    async let waited = queue.waitForEnd(of: subject, by: later)
    Task { queue.end(subject) }
    #expect(await waited)
  }

  @Test("At the end of the process all revalidations are waited for, those that hang until the deadline only")
  func end() async throws {
    let subjects = try (0..<3).map { try #require(Subject("user.\($0)")) }
    await queue.waitForAll(by: .now + unreachable)
    for subject in subjects { #expect(queue.begin(subject)) }
    await queue.waitForAll(by: .now + .milliseconds(10))
    Task { for subject in subjects { queue.end(subject) } }
    await queue.waitForAll(by: .now + unreachable)
    for subject in subjects { #expect(queue.begin(subject), "it was waited for") }
  }
}
