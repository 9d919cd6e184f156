internal import NIOCore

/// Progress of one request. Each case owns the data that has a meaning only in it.
enum RequestState {
  /// No request is under way.
  case idle
  /// The gate has not decided on the head yet.
  /// - isWhole: whether all of the request has arrived.
  case deciding(isWhole: Bool)
  /// The body is being collected for an endpoint.
  case collecting(EndpointCall)
  /// An endpoint is working on the response.
  case handling(EndpointCall)
  /// The body is being forwarded.
  case body(BodyPace)
  /// The request is whole, its response is not.
  case complete
  /// The upstream has been asked to switch protocols and has not answered yet.
  case switching
  /// Bytes pass both ways as they come (RFC 9110, 7.8; RFC 8441).
  case tunnel(Tunnel)
  /// The request was answered before it was whole: the rest of it is discarded.
  case unread

  /// Whether no request is under way.
  @inline(__always)
  var isIdle: Bool { if case .idle = self { true } else { false } }

  /// Whether the head waits for the decision of the gate.
  var isDeciding: Bool { if case .deciding = self { true } else { false } }

  /// Whether the body is being forwarded.
  @inline(__always)
  var isBody: Bool { if case .body = self { true } else { false } }

  /// Whether an upgrade was asked for and not answered.
  @inline(__always)
  var isSwitching: Bool { if case .switching = self { true } else { false } }

  /// Whether all of the request has arrived. A tunnel never is whole.
  @inline(__always)
  var isWhole: Bool {
    switch self {
    case .complete, .handling, .switching: true
    case .idle, .deciding, .collecting, .body, .tunnel, .unread: false
    }
  }

  /// Whether content of the client goes to an upstream as it comes.
  var isFlowing: Bool {
    switch self {
    case .body, .tunnel: true
    case .idle, .deciding, .collecting, .handling, .complete, .switching, .unread: false
    }
  }

  /// The tunnel that the request has become.
  @inline(__always)
  var tunnel: Tunnel? { if case .tunnel(let tunnel) = self { tunnel } else { nil } }
}

/// Progress of one response.
enum ResponseState: Equatable {
  /// Nothing final has been sent.
  case awaited
  /// The final head has been sent, with this status. Of an error expressed as `grpc-status`, its HTTP status.
  case begun(Int)
  /// The request was malformed in a way that has no response; it is counted with this status.
  case rejected(Int)
}

/// A request on its way to an endpoint. A class, so that connections reserve no room for one.
final class EndpointCall {
  let action: EndpointAction
  var request: ControlRequest
  let pace: BodyPace
  /// The memory of the body so far; nil once it is whole.
  var memory: CollectedBodyMemory?

  init(action: EndpointAction, request: ControlRequest, pace: BodyPace) {
    self.action = action
    self.request = request
    self.pace = pace
  }
}
