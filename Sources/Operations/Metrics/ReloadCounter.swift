internal import Synchronization

/// The number of configuration reloads, and the result of the last one.
package final class ReloadCounter: Sendable {
  private struct State {
    var succeeded: UInt64 = 0
    var refused: UInt64 = 0
    /// The time at which the present configuration took effect: at the start, or at the last successful reload.
    var adopted: Timestamp
    var lastSucceeded = true
  }

  private let state: Mutex<State>

  /// - Parameter start: when the first configuration was read.
  init(start: Timestamp) { state = Mutex(State(adopted: start)) }

  /// Records the result of a reload.
  package func record(succeeded: Bool, at time: Timestamp) {
    state.withLock { state in
      state.lastSucceeded = succeeded
      if succeeded {
        state.succeeded &+= 1
        state.adopted = time
      } else {
        state.refused &+= 1
      }
    }
  }

  func write(to text: inout MetricsText) {
    let (succeeded, refused, adopted, lastSucceeded) = state.withLock {
      ($0.succeeded, $0.refused, $0.adopted, $0.lastSucceeded)
    }
    text.family("cordon_config_reloads_total", .counter, "Reloads of the configuration, by result.")
    text.sample(labels: [("result", "ok")], value: succeeded)
    text.sample(labels: [("result", "refused")], value: refused)
    text.family(
      "cordon_config_last_success_timestamp_seconds", .gauge, "Time at which the current configuration was applied.")
    text.sample(value: adopted.seconds)
    text.family(
      "cordon_config_last_reload_successful", .gauge,
      "Whether the last reload succeeded; 1 before the first one.")
    text.sample(value: UInt64(lastSucceeded ? 1 : 0))
  }
}
