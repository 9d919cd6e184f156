/// The error for which a session ends its connection, if any. The first one counts, and is announced once (GOAWAY).
enum HTTP2Verdict: Equatable {
  case none
  /// - isAnnounced: whether the session was told to end, after which it reads nothing.
  case failed(HTTP2ErrorCode, isAnnounced: Bool)

  var code: HTTP2ErrorCode? { if case .failed(let code, _) = self { code } else { nil } }
  var isAnnounced: Bool { if case .failed(_, isAnnounced: true) = self { true } else { false } }

  /// Ends the connection with an error, unless another has ended it before.
  mutating func fail(_ code: HTTP2ErrorCode) {
    if case .none = self { self = .failed(code, isAnnounced: false) }
  }

  /// - Returns: the error that is to be announced; nil without one, and where it was announced before.
  @inline(__always)
  mutating func announce() -> HTTP2ErrorCode? {
    guard case .failed(let code, isAnnounced: false) = self else { return nil }
    self = .failed(code, isAnnounced: true)
    return code
  }
}
