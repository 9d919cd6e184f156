internal import Sessions
internal import Synchronization

/// Admits the revalidations of this process: one for an account at a time, a limited number in all, evenly spaced.
/// Callers wait here for their turn, or for the end of another caller's.
final class RevalidationQueue: Sendable {
  private struct State {
    var slots = RevalidationSlots()
    var pace = RevalidationPace()
  }

  private let state = Mutex(State())

  /// Takes a slot for a background revalidation; false if one of the account is under way, or too many are.
  func begin(_ subject: Subject) -> Bool { state.withLock { $0.slots.begin(subject) } }

  /// Waits until a background revalidation may start: at once, or shortly after the one before.
  func waitForStart() async {
    let now = ContinuousClock.now
    let start = state.withLock { $0.pace.start(at: now) }
    if start > now { try? await Task.sleep(until: start, clock: .continuous) }
  }

  /// Takes a slot for a revalidation that a request waits for; if all are taken, waits for one until the deadline.
  func acquireSlot(for subject: Subject, by deadline: ContinuousClock.Instant) async -> RevalidationSlots.SlotResult {
    let (stream, signal) = AsyncStream<Never>.makeStream()
    let (slot, ticket) = state.withLock { $0.slots.acquire(subject, signal) }
    guard let ticket else { return slot }
    await stream.waitForEnd(by: deadline)
    return state.withLock { $0.slots.collect(ticket) }
  }

  /// Notes whether the revalidation of the account waits for the result of another process.
  func note(_ subject: Subject, waitsElsewhere: Bool) {
    state.withLock { $0.slots.note(subject, waitsElsewhere: waitsElsewhere) }
  }

  /// Frees the slot of an account.
  func end(_ subject: Subject) {
    for signal in state.withLock({ $0.slots.end(subject) }) { signal.finish() }
  }

  /// Waits until the revalidation of the account that is under way has ended.
  /// - Returns: whether it has, or none was under way.
  @discardableResult
  func waitForEnd(of subject: Subject, by deadline: ContinuousClock.Instant) async -> Bool {
    let (stream, signal) = AsyncStream<Never>.makeStream()
    guard state.withLock({ $0.slots.wait(for: subject, signal) }) else { return true }
    return await stream.waitForEnd(by: deadline)
  }

  /// Waits until no revalidation asks Apple, or until cancelled: Apple is not asked about these accounts again within
  /// the interval, so that an answer must not be lost.
  func waitForAll(by deadline: ContinuousClock.Instant) async {
    while !Task.isCancelled, ContinuousClock.now < deadline, let subject = state.withLock({ $0.slots.anyUnderWay }) {
      await waitForEnd(of: subject, by: deadline)
    }
  }
}
