/// The end of a connection by an error of its session, if any. The first error counts, and is announced once (GOAWAY).
enum HTTP2Termination: Equatable {
  case none
  /// The session has to be terminated.
  case due(HTTP2ErrorCode)
  /// The session was terminated, and reads nothing more.
  case announced(HTTP2ErrorCode)

  var code: HTTP2ErrorCode? {
    switch self {
    case .none: nil
    case .due(let code), .announced(let code): code
    }
  }

  var isAnnounced: Bool { if case .announced = self { true } else { false } }

  /// Ends the connection with an error, unless another has ended it before.
  mutating func demand(_ code: HTTP2ErrorCode) {
    if case .none = self { self = .due(code) }
  }

  /// - Returns: the error that is to be announced; nil without one, and where it was announced before.
  @inline(__always)
  mutating func announce() -> HTTP2ErrorCode? {
    guard case .due(let code) = self else { return nil }
    self = .announced(code)
    return code
  }
}
