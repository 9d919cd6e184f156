internal import NIOCore

/// The speed at which a request's body arrives. Time in which the gateway did not read it does not count.
struct BodyPace: Equatable {
  /// Least bytes per second, 0 for none.
  let rate: Int
  /// The time from which on the body was wanted.
  let began: NIODeadline
  /// Time in which it was not read.
  private(set) var held = TimeAmount.zero
  /// Set while it is not read, because the upstream does not take what is there.
  private(set) var heldSince: NIODeadline?

  init(rate: Int, began: NIODeadline) {
    self.rate = rate
    self.began = began
  }

  /// Notes that the body is not read from now on, or is read again.
  mutating func hold(_ hold: Bool, at now: NIODeadline) {
    if hold {
      if heldSince == nil { heldSince = now }
    } else if let since = heldSince {
      heldSince = nil
      held = held + (now - since)
    }
  }

  /// Whether `received` bytes are too few by now. Silence is for the timer wheel; this catches a byte now and then.
  func isTooSlow(received: Int, at now: NIODeadline, grace: TimeAmount) -> Bool {
    guard rate > 0 else { return false }
    let pause = heldSince.map { now - $0 } ?? .zero
    let time = (now - began) - held - pause - grace
    guard time > .zero else { return false }
    let (needed, overflow) = (time.nanoseconds / 1_000_000).multipliedReportingOverflow(by: Int64(rate))
    let (received, isPlenty) = received.multipliedReportingOverflow(by: 1_000)
    return !isPlenty && (overflow || Int64(received) < needed)
  }
}
