internal import NIOCore

/// The receiving direction of an HTTP/1.1 client connection.
///
/// A client that ends it (FIN; close_notify over TLS) has half-closed the connection and waits for its answers, as
/// `nc -N` does, or has left; nothing on the wire says which. So:
/// - Every request that has arrived whole before the end is answered, if the end came with its last byte or within
///   ``halfCloseWindow`` of it. An end that comes later, while a response is awaited or under way, is that of a client
///   that has left (status 499).
/// - A client that asked for a persistent connection and ends it all the same has more likely left: its response has to
///   begin within ``responseWait``. One that announced its last request (`Connection: close`, HTTP/1.0) is waited for
///   until a write fails or another time-out ends the exchange.
enum ClientInput {
  /// - lastRead: when bytes of a body or of requests sent ahead were read last.
  case open(lastRead: NIODeadline)
  case ended

  /// The longest time from the last byte of a request to an end that is a half-close.
  static let halfCloseWindow = TimeAmount.seconds(2)
  /// The time in which the response to a client that may have left has to begin.
  static let responseWait = TimeAmount.seconds(3)

  var hasEnded: Bool { if case .ended = self { true } else { false } }

  /// Notes bytes other than those of a head that began an exchange.
  mutating func read(at now: NIODeadline) {
    if case .open = self { self = .open(lastRead: now) }
  }

  /// Notes the end.
  /// - Parameter headRead: when the head of the exchange under way was whole.
  /// - Returns: whether it came soon enough to be a half-close.
  mutating func end(at now: NIODeadline, headRead: NIODeadline) -> Bool {
    guard case .open(let lastRead) = self else { return false }
    self = .ended
    return now - max(lastRead, headRead) <= Self.halfCloseWindow
  }
}
