internal import NIOCore

/// Whether one address is to be left alone for a while, judged by what requests to it came to.
///
/// Three failures in a row eject it: for a second at first, twice as long each time, a minute at most, up to a quarter
/// shorter by chance, so that the gateways of a house do not all come back at once. Then one request at a time tries
/// it, until one is answered. A failure is what leaves the client without the application's answer: no connection, no
/// TLS, silence, an end or a violation before the head of a response; a status of the application's own, be it 500, is
/// none.
struct OutlierDetection {
  /// Whether a request may go there.
  enum Standing: Equatable {
    case well
    /// Nothing goes there.
    case ejected
    /// The ejection is over, and nothing was answered yet: one request at a time.
    case halfOpen
  }

  private var failures = 0
  /// How many ejections came one soon after the other.
  private var level = 0
  private var until: NIODeadline?
  private var reinstated = NIODeadline.distantPast

  /// Failures in a row until an address is ejected.
  static let threshold = 3
  static let shortest = TimeAmount.seconds(1)
  static let longest = TimeAmount.seconds(60)

  /// Whether anything is held against the address. Where nothing is, it is well.
  var isTroubled: Bool { until != nil }

  func standing(at now: NIODeadline) -> Standing {
    guard let until else { return .well }
    return now < until ? .ejected : .halfOpen
  }

  /// A request was answered.
  /// - Returns: whether the address is well again.
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
    switch standing(at: now) {
    // What was under way when the address was ejected tells nothing new.
    case .ejected: return false
    case .well: guard failures >= Self.threshold else { return false }
    case .halfOpen: break
    }
    // An address that was well for as long as it can be ejected begins anew.
    if until == nil, now - reinstated > Self.longest { level = 0 }
    let doubled = Self.shortest.nanoseconds << Int64(min(level, 16))
    let full = min(doubled, Self.longest.nanoseconds)
    until = now + .nanoseconds(full - Int64(Double(full) * 0.25 * min(max(chance, 0), 1)))
    level = min(level + 1, 16)
    return true
  }
}
