internal import NIOCore

/// What is left of an allowance: a bucket that fills with time.
struct HTTP2Budget {
  private let allowance: HTTP2Policy.Allowance
  private var left: Int
  /// Up to when time has been paid out.
  private var paid: NIODeadline

  init(_ allowance: HTTP2Policy.Allowance, now: NIODeadline) {
    self.allowance = allowance
    left = allowance.atOnce
    paid = now
  }

  /// - Returns: whether there was something to spend.
  mutating func spend(_ now: NIODeadline) -> Bool {
    if left <= 0 { refill(now) }
    guard left > 0 else { return false }
    left -= 1
    return true
  }

  /// Gives back for honest work, never beyond the whole.
  mutating func earn(_ count: Int) { left = min(left + count, allowance.atOnce) }

  private mutating func refill(_ now: NIODeadline) {
    // A day pays more than any allowance: nothing here can overflow.
    let milliseconds = min((now - paid).nanoseconds / 1_000_000, 86_400_000)
    let earned = Int(milliseconds) * allowance.perSecond / 1_000
    guard earned > 0 else { return }
    paid = now
    earn(earned)
  }
}
