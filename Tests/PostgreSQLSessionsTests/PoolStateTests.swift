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
    guard state.job(for: 0, isConnected: false) == "first" else { throw Unexpected() }
    guard case .wait = state.next(for: 0, isConnected: true, at: start) else { throw Unexpected() }
    return state
  }

  private struct Unexpected: Error {}

  @Test("Work goes to who has nothing to do, else to a new worker, else it waits, and beyond that it is refused")
  func places() throws {
    var state = try withOneIdle()
    guard case .wake(0) = state.place("a", at: start), state.job(for: 0, isConnected: true) == "a" else {
      throw Unexpected()
    }
    guard case .start(1) = state.place("b", at: start), state.job(for: 1, isConnected: false) == "b" else {
      throw Unexpected()
    }
    guard case .queued = state.place("c", at: start), case .queued = state.place("d", at: start) else {
      throw Unexpected()
    }
    guard case .refused(let error?) = state.place("e", at: start) else { throw Unexpected() }
    #expect(error.code == .busy)
    guard state.job(for: 0, isConnected: true) == "c", state.job(for: 1, isConnected: true) == "d"
    else { throw Unexpected() }
    #expect(state.workers == 2 && state.connected == 2)
  }

  /// The only worker of a pool has failed with a first job, which took so long.
  private func withOutage(after duration: Duration) throws -> PoolState<String> {
    var state = PoolState<String>(limit: 1, queueLimit: 10)
    guard case .start(0) = state.place("a", at: start), state.job(for: 0, isConnected: false) == "a",
      case .queued = state.place("b", at: start),
      case .refuse(["a", "b"]) = state.noteFailure(of: 0, with: "a", gone, after: duration, at: start),
      case .wait = state.next(for: 0, isConnected: false, at: start)
    else { throw Unexpected() }
    return state
  }

  @Test("While a server does not answer, what is asked is refused at once, but for one attempt after each pause")
  func silent() throws {
    var state = try withOutage(after: .seconds(5))
    guard case .refused(let error?) = state.place("c", at: after(50)) else { throw Unexpected() }
    #expect(error.message == "gone")
    // After the pause one may try, and the others are still refused.
    guard case .wake(0) = state.place("d", at: after(100)), case .refused = state.place("e", at: after(100)),
      state.job(for: 0, isConnected: false) == "d",
      case .refuse(["d"]) = state.noteFailure(of: 0, with: "d", gone, after: .seconds(5), at: after(5_100))
    else { throw Unexpected() }
  }

  @Test("While a server refuses connections, what is asked waits for the next attempt if that is near")
  func refusing() throws {
    var state = try withOutage(after: .milliseconds(2))
    // It is made when the pause is over, for all who wait.
    guard case .wake(0) = state.place("c", at: after(50)), case .queued = state.place("d", at: after(60)),
      case .job(let assignment) = state.next(for: 0, isConnected: false, at: start)
    else { throw Unexpected() }
    #expect(assignment.job == "c" && assignment.connectAfter == after(100))
    guard
      case .refuse(["c", "d"]) = state.noteFailure(of: 0, with: "c", gone, after: .milliseconds(2), at: after(102)),
      case .wait = state.next(for: 0, isConnected: false, at: start), case .wake(0) = state.place("e", at: after(150)),
      case .queued = state.place("f", at: after(160)), state.job(for: 0, isConnected: false) == "e"
    else { throw Unexpected() }
    // It works: everything goes on.
    #expect(state.job(for: 0, isConnected: true) == "f")
    guard case .wait = state.next(for: 0, isConnected: true, at: start),
      case .wake(0) = state.place("g", at: after(300))
    else {
      throw Unexpected()
    }
  }

  /// Ways in which an attempt ends without telling whether the server answers.
  private enum Inconclusive: CaseIterable {
    /// The worker has connected and lost the connection again, or its job was too old to be begun.
    case withoutConnection
    /// Its thread could not be started.
    case withoutThread
  }

  @Test(
    "An attempt that says nothing about the server leaves the next one to the next job",
    arguments: [Duration.milliseconds(2), .seconds(5)], Inconclusive.allCases)
  private func inconclusive(failure: Duration, end: Inconclusive) throws {
    var state = PoolState<String>(limit: 2, queueLimit: 10)
    guard case .start(0) = state.place("a", at: start), state.job(for: 0, isConnected: false) == "a",
      case .refuse(["a"]) = state.noteFailure(of: 0, with: "a", gone, after: failure, at: start)
    else { throw Unexpected() }
    // The first worker is not done yet, so that another one is started.
    guard case .start(1) = state.place("b", at: after(1_000)) else { throw Unexpected() }
    switch end {
    case .withoutConnection:
      guard state.job(for: 1, isConnected: false) == "b", case .wait = state.next(for: 1, isConnected: false, at: start)
      else {
        throw Unexpected()
      }
    case .withoutThread: state.abandon(1)
    }
    guard case .wait = state.next(for: 0, isConnected: false, at: start),
      case .wake(let worker) = state.place("c", at: after(1_001)),
      state.job(for: worker, isConnected: false) == "c"
    else { throw Unexpected() }
    // This one works.
    guard case .wait = state.next(for: worker, isConnected: true, at: start),
      case .wake(worker) = state.place("d", at: after(1_002))
    else { throw Unexpected() }
  }

  @Test("Work that waited for an attempt which says nothing makes the next one itself")
  func inconclusiveWithQueue() throws {
    var state = try withOutage(after: .milliseconds(2))
    guard case .wake(0) = state.place("c", at: after(1_000)), state.job(for: 0, isConnected: false) == "c",
      case .queued = state.place("d", at: after(1_001)), state.job(for: 0, isConnected: false) == "d",
      case .queued = state.place("e", at: after(1_002))
    else { throw Unexpected() }
    #expect(state.job(for: 0, isConnected: true) == "e")
  }

  @Test("The pauses are a tenth of what the outage has lasted, between a tenth of a second and two seconds")
  func pauses() throws {
    var state = try withOutage(after: .seconds(5))
    for (moment, pause) in [(110, 100), (5_000, 500), (15_000, 1_500), (60_000, 2_000)] {
      guard case .wake(0) = state.place("c", at: after(moment)), state.job(for: 0, isConnected: false) == "c",
        case .refuse = state.noteFailure(of: 0, with: "c", gone, after: .seconds(5), at: after(moment)),
        case .wait = state.next(for: 0, isConnected: false, at: start),
        case .refused = state.place("d", at: after(moment + pause - 1)),
        case .wake(0) = state.place("e", at: after(moment + pause)), state.job(for: 0, isConnected: false) == "e",
        case .refuse = state.noteFailure(of: 0, with: "e", gone, after: .seconds(5), at: after(moment + pause)),
        case .wait = state.next(for: 0, isConnected: false, at: start)
      else { throw Unexpected() }
    }
  }

  @Test(
    "With no more connections from the server, a worker that has one does the work, and none is tried for a while"
  )
  func full() throws {
    var state = try withOneIdle()
    guard case .wake(0) = state.place("a", at: start), case .job = state.next(for: 0, isConnected: true, at: start)
    else {
      throw Unexpected()
    }
    guard case .start(1) = state.place("b", at: start), case .job = state.next(for: 1, isConnected: false, at: start)
    else {
      throw Unexpected()
    }
    guard case .handOver(wake: nil) = state.noteFailure(of: 1, with: "b", exhausted, after: .zero, at: start) else {
      throw Unexpected()
    }
    #expect(state.workers == 1)
    guard case .queued = state.place("c", at: after(1)) else { throw Unexpected() }
    guard state.job(for: 0, isConnected: true) == "b", state.job(for: 0, isConnected: true) == "c"
    else { throw Unexpected() }
    guard case .start(2) = state.place("d", at: after(2_001)) else { throw Unexpected() }
  }

  @Test("A connection that cannot be opened while others are open is not an outage: another worker does the work")
  func refusedBesideOpenOnes() throws {
    var state = try withOneIdle()
    guard case .wake(0) = state.place("a", at: start), case .start(1) = state.place("b", at: start) else {
      throw Unexpected()
    }
    guard state.job(for: 0, isConnected: true) == "a", state.job(for: 1, isConnected: false) == "b",
      case .handOver(wake: nil) = state.noteFailure(of: 1, with: "b", gone, after: .milliseconds(2), at: start)
    else { throw Unexpected() }
    guard case .queued = state.place("c", at: after(1)), state.job(for: 0, isConnected: true) == "b",
      state.job(for: 0, isConnected: true) == "c"
    else { throw Unexpected() }
    // When the server is down, the last worker with a connection notices, and the outage begins.
    guard case .start(2) = state.place("d", at: after(2_001)), state.job(for: 2, isConnected: false) == "d",
      case .wait = state.next(for: 0, isConnected: true, at: start),
      case .handOver(wake: 0?) = state.noteFailure(of: 2, with: "d", gone, after: .zero, at: after(2_002)),
      state.job(for: 0, isConnected: false) == "d",
      case .refuse(["d"]) = state.noteFailure(of: 0, with: "d", gone, after: .zero, at: after(2_003))
    else { throw Unexpected() }
  }

  @Test("After a connection that could not be opened for seconds, a worker that has one makes the next attempt")
  func slowFailureBesideOpenOnes() throws {
    var state = try withOneIdle()
    guard case .wake(0) = state.place("a", at: start), case .start(1) = state.place("b", at: start) else {
      throw Unexpected()
    }
    guard state.job(for: 0, isConnected: true) == "a", state.job(for: 1, isConnected: false) == "b",
      case .wait = state.next(for: 0, isConnected: true, at: start),
      case .refuse(["b"]) = state.noteFailure(of: 1, with: "b", gone, after: .seconds(5), at: after(5_000)),
      case .wait = state.next(for: 1, isConnected: false, at: start)
    else { throw Unexpected() }
    guard case .wake(0) = state.place("c", at: after(7_001)), state.job(for: 0, isConnected: true) == "c",
      case .wait = state.next(for: 0, isConnected: true, at: start), case .wake(0) = state.place("d", at: after(7_002))
    else { throw Unexpected() }
  }

  @Test("An old connection may be closed before it is renewed while another worker has one, and the last one is kept")
  func givingUp() throws {
    var state = try withOneIdle()
    guard case .wake(0) = state.place("a", at: start), case .start(1) = state.place("b", at: start),
      state.job(for: 0, isConnected: true) == "a", state.job(for: 1, isConnected: false) == "b"
    else { throw Unexpected() }
    #expect(state.giveUpConnection(of: 0, at: start) == false)
    #expect(state.giveUpConnection(of: 1, at: start) == false)
    guard case .wait = state.next(for: 1, isConnected: true, at: start), case .wake(1) = state.place("c", at: start),
      state.job(for: 1, isConnected: true) == "c"
    else { throw Unexpected() }
    #expect(state.giveUpConnection(of: 0, at: start) == true)
    #expect(state.giveUpConnection(of: 0, at: start) == false)
    #expect(state.giveUpConnection(of: 1, at: start) == false)
    // Somebody else has taken the place: the other worker does the job, which is no outage.
    guard case .handOver(wake: nil) = state.noteFailure(of: 0, with: "a", exhausted, after: .zero, at: start),
      state.job(for: 1, isConnected: true) == "a"
    else { throw Unexpected() }
    #expect(state.workers == 1 && state.connected == 1)
  }

  @Test("A connection that has waited for a minute may have been ended, and is no reason to close another one")
  func believed() throws {
    var state = try withOneIdle()
    guard case .wake(0) = state.place("a", at: start), case .start(1) = state.place("b", at: start),
      state.job(for: 0, isConnected: true, at: start) == "a", state.job(for: 1, isConnected: false, at: start) == "b",
      case .wait = state.next(for: 1, isConnected: true, at: start)
    else { throw Unexpected() }
    #expect(state.giveUpConnection(of: 0, at: after(60_000)) == false)
    #expect(state.connected == 2)
    #expect(state.giveUpConnection(of: 0, at: after(59_999)) == true)
    #expect(state.connected == 1)
  }

  @Test("There is a shortage while the server has no connection left and no worker has one")
  func shortage() throws {
    var state = try withOneIdle()
    #expect(state.shortage == nil)
    guard case .wake(0) = state.place("a", at: start), case .start(1) = state.place("b", at: start),
      state.job(for: 0, isConnected: true) == "a", state.job(for: 1, isConnected: false) == "b",
      case .handOver(wake: nil) = state.noteFailure(of: 1, with: "b", exhausted, after: .zero, at: start)
    else { throw Unexpected() }
    #expect(state.shortage == nil, "the other worker has a connection")
    guard state.job(for: 0, isConnected: false) == "b",
      case .refuse(["b"]) = state.noteFailure(of: 0, with: "b", exhausted, after: .zero, at: start)
    else { throw Unexpected() }
    #expect(state.shortage?.code == .busy)
    guard case .wait = state.next(for: 0, isConnected: false, at: start),
      case .wake(0) = state.place("c", at: after(200)), state.job(for: 0, isConnected: false) == "c",
      case .wait = state.next(for: 0, isConnected: true, at: after(201))
    else { throw Unexpected() }
    #expect(state.shortage == nil)
    #expect(try withOutage(after: .zero).shortage == nil, "a server that is down is another trouble")
  }

  @Test("After closing nothing new is taken, what waits is finished, and the workers end")
  func closing() throws {
    var state = try withOneIdle()
    #expect(state.close() == [0])
    guard case .refused(nil) = state.place("late", at: start) else { throw Unexpected() }
    guard case .end = state.next(for: 0, isConnected: true, at: start) else { throw Unexpected() }
    #expect(state.workers == 0)
  }
}

extension PoolState {
  /// The job that a worker gets; nil where it gets none.
  fileprivate mutating func job(
    for worker: Worker, isConnected: Bool, at now: ContinuousClock.Instant = .now
  ) -> Job? {
    guard case .job(let assignment) = next(for: worker, isConnected: isConnected, at: now) else { return nil }
    return assignment.job
  }
}
