import Synchronization

/// The timer by which jobs that take too long are given up: one for all connections to a file, so that an idle gateway
/// wakes up as rarely as possible. It is not set again for each job: where all have the same limit, those that begin
/// later are looked at when it ends.
final class StallTimer: Sendable {
  /// It stands still while the machine sleeps.
  typealias Instant = SuspendingClock.Instant
  /// Gives up what has taken too long, and returns when the next job will have; nil if none is under way. `due` is when
  /// this was to be done.
  typealias Look = @Sendable (_ due: Instant) -> Instant?

  private struct State {
    var looks: [Look] = []
    /// The time for which it is set; nil while nothing is under way.
    var deadline: Instant?
  }

  private let state = Mutex(State())

  /// Adds a look, which is called each time that the timer ends.
  func add(_ look: @escaping Look) { state.withLock { $0.looks.append(look) } }

  /// Sets the timer, unless it is set for an earlier time.
  func set(to deadline: Instant) {
    let isEarlier = state.withLock { state in
      if let current = state.deadline, current <= deadline { return false }
      state.deadline = deadline
      return true
    }
    guard isEarlier else { return }
    Task { [weak self] in
      try? await Task.sleep(until: deadline, clock: .suspending)
      self?.end(deadline)
    }
  }

  private func end(_ deadline: Instant) {
    let looks = state.withLock { state in
      if state.deadline == deadline { state.deadline = nil }
      return state.looks
    }
    if let next = looks.compactMap({ $0(deadline) }).min() { set(to: next) }
  }
}
