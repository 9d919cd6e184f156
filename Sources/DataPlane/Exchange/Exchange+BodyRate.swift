internal import HTTPWire
internal import NIOCore

/// The least rate of a request's body.
extension Exchange {
  /// Whether the body, with `more` bytes of it just read, comes in more slowly than it has to. Silence is the wheel's
  /// business; this is for who sends a byte now and then.
  func bodyIsTooSlow(_ now: NIODeadline, more: Int, _ server: ServerContext) -> Bool {
    let rate = bodyRate ?? server.bodyRate
    guard rate > 0 else { return false }
    let time = (now - bodyBegan) - bodyHeld - server.waits.bodyGrace
    guard time > .zero else { return false }
    let (needed, overflow) = (time.nanoseconds / 1_000_000).multipliedReportingOverflow(by: Int64(rate))
    let (received, isPlenty) = (receivedBytes + more).multipliedReportingOverflow(by: 1_000)
    return !isPlenty && (overflow || Int64(received) < needed)
  }

  /// Leaves out the time in which the gateway did not read, because the application did not take what was there.
  mutating func countHold(_ hold: Bool) {
    if hold {
      bodyHeldSince = .now()
    } else if let since = bodyHeldSince {
      bodyHeldSince = nil
      bodyHeld = bodyHeld + (.now() - since)
    }
  }
}
