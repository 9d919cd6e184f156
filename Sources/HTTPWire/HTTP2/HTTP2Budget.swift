internal import NIOCore

/// Token bucket.
struct HTTP2Budget {
  private let allowance: HTTP2Policy.Allowance
  private var left: Int
  /// The time up to which tokens were added.
  private var paid: NIODeadline

  init(_ allowance: HTTP2Policy.Allowance, now: NIODeadline) {
    self.allowance = allowance
    left = allowance.atOnce
    paid = now
  }

  /// - Returns: whether a token was left.
  mutating func spend(_ now: NIODeadline) -> Bool {
    if left <= 0 { refill(now) }
    guard left > 0 else { return false }
    left -= 1
    return true
  }

  /// Returns tokens for useful work, up to the size of the bucket.
  mutating func earn(_ count: Int) { left = min(left + count, allowance.atOnce) }

  private mutating func refill(_ now: NIODeadline) {
    // A day fills any bucket: nothing here can overflow.
    let milliseconds = min((now - paid).nanoseconds / 1_000_000, 86_400_000)
    let earned = Int(milliseconds) * allowance.perSecond / 1_000
    guard earned > 0 else { return }
    paid = now
    earn(earned)
  }
}
