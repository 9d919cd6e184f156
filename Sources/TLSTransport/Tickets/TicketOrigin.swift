import COpenSSL

/// The time of the full handshake that a series of resumed sessions began with. Each ticket contains it, encrypted.
///
/// OpenSSL gives every new ticket of TLS 1.3 a lifetime of its own, also on a resumed connection: without a limit for
/// the series, as RFC 8446, 4.6.1, recommends, a client that comes back in time would never have to show its
/// certificate again.
struct TicketOrigin {
  /// Seconds since 1970.
  let seconds: Int64

  init(seconds: Int64) {
    self.seconds = seconds
  }

  /// The origin of a session that a ticket was decrypted to; nil if the ticket contains none.
  init?(of session: OpaquePointer) {
    var data: UnsafeMutableRawPointer?
    var length = 0
    guard SSL_SESSION_get0_ticket_appdata(session, &data, &length) == 1, let start = data,
      length == MemoryLayout<Int64>.size
    else { return nil }
    seconds = Int64(bigEndian: start.loadUnaligned(as: Int64.self))
  }

  /// Adds the origin to the tickets of a session.
  /// - Returns: whether OpenSSL had the memory for it.
  func write(to session: OpaquePointer) -> Bool {
    withUnsafeBytes(of: seconds.bigEndian) {
      SSL_SESSION_set1_ticket_appdata(session, $0.baseAddress, $0.count) == 1
    }
  }

  /// Whether a session of this origin may be resumed. A time in the future is that of another machine, whose clock is
  /// ahead.
  func isUsable(at now: Int64) -> Bool {
    (now - TLSServerContext.ticketLifetime...now + TLSServerContext.ticketLifetime).contains(seconds)
  }
}
