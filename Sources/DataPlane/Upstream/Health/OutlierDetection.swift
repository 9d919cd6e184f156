internal import NIOCore

/// Passive health of one upstream address, judged by the outcome of requests to it.
///
/// Three consecutive failures eject the address: for a second at first, doubling with each ejection up to a minute, and
/// up to a quarter shorter at random, so that several gateways do not all return at once. Afterwards it is half-open:
/// one request at a time is sent to it until one is answered. A failure leaves the client without a response of the
/// application: no connection, no TLS, a time-out, or a close or violation before the response head. Any status of
/// the application's own, even 500, is a success.
struct OutlierDetection {
  /// Whether requests may be sent to the address.
  enum Health: Equatable {
    case healthy
    /// No requests are sent.
    case ejected
    /// The ejection is over and no request was answered yet: one request at a time.
    case halfOpen
  }

  private var failures = 0
  /// Ejections in close succession.
  private var level = 0
  private var until: NIODeadline?
  private var reinstated = NIODeadline.distantPast

  /// Failures in a row until an address is ejected.
  static let threshold = 3
  static let shortest = TimeAmount.seconds(1)
  static let longest = TimeAmount.seconds(60)

  /// Whether the address is ejected or half-open.
  var isEjectedOrHalfOpen: Bool { until != nil }

  func health(at now: NIODeadline) -> Health {
    guard let until else { return .healthy }
    return now < until ? .ejected : .halfOpen
  }

  /// A request was answered.
  /// - Returns: whether the address has recovered.
  mutating func succeeded(at now: NIODeadline) -> Bool {
    failures = 0
    guard until != nil else { return false }
    until = nil
    reinstated = now
    return true
  }

  /// A request has failed.
  /// - Parameter chance: from 0 up to 1, not including it.
  /// - Returns: whether this has ejected the address.
  mutating func failed(at now: NIODeadline, chance: Double) -> Bool {
    failures += 1
    switch health(at: now) {
    // Requests in flight when the address was ejected count no further.
    case .ejected: return false
    case .healthy: guard failures >= Self.threshold else { return false }
    case .halfOpen: break
    }
    // An address that was healthy for as long as the longest ejection starts over.
    if until == nil, now - reinstated > Self.longest { level = 0 }
    let doubled = Self.shortest.nanoseconds << Int64(min(level, 16))
    let full = min(doubled, Self.longest.nanoseconds)
    until = now + .nanoseconds(full - Int64(Double(full) * 0.25 * min(max(chance, 0), 1)))
    level = min(level + 1, 16)
    return true
  }
}
