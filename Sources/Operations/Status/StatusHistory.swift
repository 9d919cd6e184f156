internal import Synchronization

/// The last hour, in steps of ten seconds, kept in memory: what the plots of the status page are drawn from.
///
/// It holds at most 360 steps of some 30 numbers each. ``record(_:at:)`` is called every ten seconds; a missed step is
/// a gap, not a sum.
package final class StatusHistory: Sendable {
  /// The length of a step, in seconds.
  package static let stepSeconds = 10
  /// The number of steps that are kept: an hour.
  package static let stepCount = 360

  private struct State {
    var last: (totals: StatusTotals, time: Timestamp)?
    var steps: [Step] = []
  }

  /// The events of one step.
  package struct Step: Sendable, Equatable {
    /// When it ended.
    package var time: Timestamp
    /// The duration in seconds; above zero.
    package var seconds: Double
    /// The counts of the step.
    package var counted: StatusTotals
  }

  private let state = Mutex(State())

  /// An empty history: rates are known from the second record on.
  package init() {}

  /// Notes the totals of a moment. A clock that was set back or far ahead restarts the history.
  package func record(_ totals: StatusTotals, at time: Timestamp) {
    state.withLock { state in
      defer { state.last = (totals, time) }
      guard let last = state.last else { return }
      let seconds = (time.seconds - last.time.seconds)
      guard seconds > 0, seconds < Double(Self.stepSeconds) * 6 else {
        if seconds <= 0 { state.steps.removeAll(keepingCapacity: true) }
        return
      }
      state.steps.append(Step(time: time, seconds: seconds, counted: totals.since(last.totals)))
      if state.steps.count > Self.stepCount { state.steps.removeFirst(state.steps.count - Self.stepCount) }
    }
  }

  /// The steps of the hour before a moment, the oldest first.
  package func steps(before now: Timestamp) -> [Step] {
    let hour = Double(Self.stepSeconds * Self.stepCount)
    return state.withLock { $0.steps.filter { now.seconds - $0.time.seconds <= hour && $0.time <= now } }
  }
}
