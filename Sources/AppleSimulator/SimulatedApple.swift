import FoundationEssentials
import Synchronization

/// The one Apple that all requests of a running simulator talk to: its state and its time.
final class SimulatedApple: Sendable {
  private let state: Mutex<SimulatorState>
  private let initial: SimulatorState

  init(state: SimulatorState) {
    self.state = Mutex(state)
    initial = state
  }

  /// Reads and changes the state. The second argument is the simulator's time, in seconds since 1970: the real time,
  /// with what the control API has added to it.
  func withState<Result: Sendable>(_ body: (inout SimulatorState, Double) throws -> Result) rethrows -> Result {
    let real = Date().timeIntervalSince1970
    return try state.withLock { state in try body(&state, real + state.clockOffset) }
  }

  /// Resets the state and the request log to those at the start.
  func reset() {
    state.withLock { $0 = initial }
  }

  /// Authenticates the client of a form.
  func client(of form: SubmittedForm) throws(EndpointRefusal) -> SimulatedClient {
    let verifier = withState { state, now in ClientSecretVerifier(clients: state.clients, now: now) }
    return try verifier.client(of: form)
  }
}
