/// The gate's decision about a request. Moved, never copied: a copy would retain what it holds.
package enum GateDecision: ~Copyable {
  /// It goes upstream.
  case forward(ForwardingDirective)
  /// It is answered with this.
  case answer(ControlResponse, label: RequestLabel)
  /// The same, after `log` was called with the address of the connection's peer: where a trusted proxy has named the
  /// client, the gate does not know the proxy, and wants to name it in the log. No other decision pays for that.
  case answerAndLog(ControlResponse, label: RequestLabel, log: (_ peer: String) -> Void)
  /// Its body is read, up to a limit, and an endpoint answers.
  case handle(EndpointAction)
  /// It is suspended until the function has returned; then the gate decides again.
  case suspend(@Sendable () async -> Void)
}

extension GateDecision {
  /// Whether it is an answer, of which nothing is logged yet.
  package var isAnswer: Bool {
    switch self {
    case .answer: true
    default: false
    }
  }

  /// The same answer, of which `log` tells; any other decision as it is.
  package consuming func logging(_ log: @escaping (_ peer: String) -> Void) -> GateDecision {
    switch consume self {
    case .answer(let response, let label): .answerAndLog(response, label: label, log: log)
    case let other: other
    }
  }
}
