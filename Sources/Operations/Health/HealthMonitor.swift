internal import Synchronization

/// The most recent states reported by the parts of the gateway. Reading it triggers no checks.
package final class HealthMonitor: Sendable {
  private struct State {
    var checks: [HealthCheck]
    var isDraining = false
  }

  private let state: Mutex<State>

  /// - Parameter checks: every check, in the order of display, with its initial state.
  package init(checks: [HealthCheck]) { state = Mutex(State(checks: checks)) }

  /// Records the result of a check. `since` changes only with the status. An unknown name is added as a check that
  /// informs.
  /// - Parameter effect: the effect of a failure from now on; nil leaves it as it is.
  /// - Returns: the previous status; nil for a new check.
  @discardableResult
  package func update(
    _ name: String, _ status: HealthCheck.Status, message: String? = nil, effect: HealthCheck.Effect? = nil,
    at time: Timestamp
  ) -> HealthCheck.Status? {
    state.withLock { state in
      guard let index = state.checks.firstIndex(where: { $0.name == name }) else {
        state.checks.append(
          HealthCheck(name: name, status: status, message: message, since: time, effect: effect ?? .informs))
        return nil
      }
      let before = state.checks[index].status
      if state.checks[index].status != status || state.checks[index].since == nil { state.checks[index].since = time }
      state.checks[index].status = status
      state.checks[index].message = message
      if let effect { state.checks[index].effect = effect }
      return before
    }
  }

  /// Removes a check.
  package func remove(_ name: String) { state.withLock { $0.checks.removeAll { $0.name == name } } }

  /// Marks the process as shutting down, irreversibly.
  package func beginDraining() { state.withLock { $0.isDraining = true } }

  /// The current report.
  package var report: HealthReport {
    state.withLock { HealthReport(checks: $0.checks, isDraining: $0.isDraining) }
  }
}
