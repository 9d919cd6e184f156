internal import Synchronization

/// The number of configuration reloads, and the result of the last one.
package final class ReloadCounter: Sendable {
  private struct State {
    var succeeded: UInt64 = 0
    var refused: UInt64 = 0
    /// The time at which the present configuration took effect: at the start, or at the last reload that was applied.
    var adopted: Timestamp
    /// Whether the configuration's file was in order when it was last read, and whether its members files were.
    var isConfigurationGood = true
    var areMembersGood = true
  }

  private let state: Mutex<State>

  /// - Parameter start: when the first configuration was read.
  init(start: Timestamp) { state = Mutex(State(adopted: start)) }

  /// Records the result of a reload.
  /// - Parameter areMembersGood: whether every members file could be used.
  package func record(isApplied: Bool, areMembersGood: Bool, at time: Timestamp) {
    state.withLock { state in
      state.isConfigurationGood = isApplied
      if isApplied {
        state.areMembersGood = areMembersGood
        state.adopted = time
      }
      if isApplied, areMembersGood {
        state.succeeded &+= 1
      } else {
        state.refused &+= 1
      }
    }
  }

  /// Records that members files were read again, without the configuration.
  package func recordMembers(areGood: Bool) {
    state.withLock { state in
      state.areMembersGood = areGood
      if !areGood { state.refused &+= 1 }
    }
  }

  func write(to text: inout MetricsText) {
    let (succeeded, refused, adopted, lastSucceeded) = state.withLock {
      ($0.succeeded, $0.refused, $0.adopted, $0.isConfigurationGood && $0.areMembersGood)
    }
    text.family("cordon_config_reloads_total", .counter, "Reloads of the configuration, by result.")
    text.sample(labels: [("result", "ok")], value: succeeded)
    text.sample(labels: [("result", "refused")], value: refused)
    text.family(
      "cordon_config_last_success_timestamp_seconds", .gauge, "Time at which the current configuration was applied.")
    text.sample(value: adopted.seconds)
    text.family(
      "cordon_config_last_reload_successful", .gauge,
      "Whether the last reload succeeded, and every members file can be used; 1 before the first one.")
    text.sample(value: UInt64(lastSucceeded ? 1 : 0))
  }
}
