/// Time-outs of client connections. Kept by a wheel that turns four times a second: times are rounded up to a quarter
/// of a second.
package struct ListenerTimeouts: Sendable, Equatable {
  /// From the first byte of a request head to its last. Default: 15 s. Then: 408.
  package var head: Duration = .seconds(15)
  /// Between two reads of a request body. Default: 60 s. Then: 408.
  package var bodyProgress: Duration = .seconds(60)
  /// From the head of a request until ``RequestLimits/bodyRate`` is asked for, and from when bytes of a response wait
  /// until ``RequestLimits/responseRate`` is. Default: 10 s.
  package var bodyGrace: Duration = .seconds(10)
  /// Between two requests on a kept connection. Default: 75 s. Then it is closed.
  package var idle: Duration = .seconds(75)
  /// Without progress of a response that the client does not read. Default: 60 s. Then it is closed.
  package var writeProgress: Duration = .seconds(60)
  /// From accept to the end of the PROXY header, where there is one, and from there to the end of the TLS handshake.
  /// Default: 10 s. Then it is closed.
  package var handshake: Duration = .seconds(10)

  /// Every time-out at its default.
  package init() {}
}
