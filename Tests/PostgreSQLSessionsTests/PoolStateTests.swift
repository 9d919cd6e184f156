import Sessions
import Testing

@testable import PostgreSQLSessions

// Who does what in the pool, without threads, connections or time that passes.
@Suite("The state of the connection pool")
struct PoolStateTests {
  private let start = ContinuousClock.now
  private let gone = StoreError(code: .unavailable, message: "gone")
  private let exhausted = StoreError(code: .busy, message: "no connection left")

  private func after(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

  /// A pool of two in which the first worker has a connection and nothing to do.
  private func withOneIdle() throws -> PoolState<String> {
    var state = PoolState<String>(limit: 2, queueLimit: 2)
    guard case .start(0) = state.place("first", at: start) else { throw Unexpected() }
    guard case .job("first") = state.next(for: 0, isConnected: false) else { throw Unexpected() }
    guard case .wait = state.next(for: 0, isConnected: true) else { throw Unexpected() }
    return state
  }

  private struct Unexpected: Error {}

  @Test("Work goes to who has nothing to do, else to a new worker, else it waits, and beyond that it is refused")
  func places() throws {
    var state = try withOneIdle()
    guard case .wake(0) = state.place("a", at: start), case .job("a") = state.next(for: 0, isConnected: true) else {
      throw Unexpected()
    }
    guard case .start(1) = state.place("b", at: start), case .job("b") = state.next(for: 1, isConnected: false) else {
      throw Unexpected()
    }
    guard case .queued = state.place("c", at: start), case .queued = state.place("d", at: start) else {
      throw Unexpected()
    }
    guard case .refused(let error?) = state.place("e", at: start) else { throw Unexpected() }
    #expect(error.code == .busy)
    guard case .job("c") = state.next(for: 0, isConnected: true), case .job("d") = state.next(for: 1, isConnected: true)
    else { throw Unexpected() }
    #expect(state.workers == 2 && state.connected == 2)
  }

  @Test("While no connection can be had, what waits is refused at once, and one attempt is made after each pause")
  func trouble() throws {
    var state = PoolState<String>(limit: 1, queueLimit: 10)
    guard case .start(0) = state.place("a", at: start), case .job = state.next(for: 0, isConnected: false) else {
      throw Unexpected()
    }
    guard case .queued = state.place("b", at: start) else { throw Unexpected() }
    guard case .refuse(let jobs) = state.noteFailure(of: 0, with: "a", gone, at: start) else { throw Unexpected() }
    #expect(jobs == ["a", "b"])
    guard case .wait = state.next(for: 0, isConnected: false) else { throw Unexpected() }
    guard case .refused(let error?) = state.place("c", at: after(50)) else { throw Unexpected() }
    #expect(error.message == "gone")
    // After the pause one may try, and the others are still refused.
    guard case .wake(0) = state.place("d", at: after(100)), case .refused = state.place("e", at: after(100)) else {
      throw Unexpected()
    }
    guard case .job("d") = state.next(for: 0, isConnected: false),
      case .refuse(["d"]) = state.noteFailure(of: 0, with: "d", gone, at: after(110))
    else { throw Unexpected() }
    // The pauses grow.
    guard case .wait = state.next(for: 0, isConnected: false), case .refused = state.place("f", at: after(290)),
      case .wake(0) = state.place("g", at: after(310)), case .job = state.next(for: 0, isConnected: false)
    else { throw Unexpected() }
    // It worked: everything goes on.
    guard case .wait = state.next(for: 0, isConnected: true), case .wake(0) = state.place("h", at: after(311)) else {
      throw Unexpected()
    }
  }

  @Test(
    "Where the server gives no more connections, a worker that has one does the work, and no more are tried for a while"
  )
  func full() throws {
    var state = try withOneIdle()
    guard case .wake(0) = state.place("a", at: start), case .job = state.next(for: 0, isConnected: true) else {
      throw Unexpected()
    }
    guard case .start(1) = state.place("b", at: start), case .job = state.next(for: 1, isConnected: false) else {
      throw Unexpected()
    }
    guard case .handOver(wake: nil) = state.noteFailure(of: 1, with: "b", exhausted, at: start) else {
      throw Unexpected()
    }
    #expect(state.workers == 1)
    guard case .queued = state.place("c", at: after(1)) else { throw Unexpected() }
    guard case .job("b") = state.next(for: 0, isConnected: true), case .job("c") = state.next(for: 0, isConnected: true)
    else { throw Unexpected() }
    guard case .start(2) = state.place("d", at: after(2_001)) else { throw Unexpected() }
  }

  @Test("After closing nothing new is taken, what waits is finished, and the workers end")
  func closing() throws {
    var state = try withOneIdle()
    #expect(state.close() == [0])
    guard case .refused(nil) = state.place("late", at: start) else { throw Unexpected() }
    guard case .end = state.next(for: 0, isConnected: true) else { throw Unexpected() }
    #expect(state.workers == 0)
  }
}
