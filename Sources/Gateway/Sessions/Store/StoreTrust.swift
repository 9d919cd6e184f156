internal import Sessions

/// The time in which caches may be used without another answer of the session store.
enum StoreTrust: Sendable, Equatable {
  /// The end, in milliseconds since 1970.
  case until(Int64)
  /// A newer version changed the store in a way that this one must not ignore.
  case refused

  /// The shortest time for which an answer is trusted from its arrival, whatever `store.outage_grace` is: with a short
  /// grace and a slow store, a request could not even use the answer to its own query. In milliseconds.
  private static let shortestGrace: Int64 = 1_000
  /// A time that is further ahead than the grace was kept while the clock was ahead. In milliseconds.
  private static let clockTolerance: Int64 = 1_000

  /// The outage grace of a setting, in milliseconds.
  static func grace(_ setting: Duration) -> Int64 { max(setting.milliseconds, shortestGrace) }

  /// Whether caches may be used at `now`.
  /// - Parameter grace: the present one, in milliseconds.
  @inline(__always)
  func contains(_ now: Int64, grace: Int64) -> Bool {
    guard case .until(let end) = self else { return false }
    return now < end && end &- (grace &+ Self.clockTolerance) <= now
  }

  /// Trusts an answer, which may have been on its way when the store refused this version: then it restores no trust.
  /// - Parameters:
  ///   - arrival: the moment at which it arrived. The request that asked must be able to use it.
  ///   - asked: the moment at which the query began. It is not known what has changed since.
  ///   - grace: in milliseconds.
  mutating func renew(at arrival: Int64, asked: Int64, grace: Int64) {
    guard case .until = self else { return }
    self = .until(max(asked + grace, arrival + Self.shortestGrace))
  }

  /// Takes back what another, shorter grace does not give. Without that the end would be too far ahead to be believed,
  /// and be believed again shortly before it.
  /// - Parameters:
  ///   - earlier: the grace until now, in milliseconds.
  ///   - grace: in milliseconds.
  mutating func shorten(from earlier: Int64, to grace: Int64) {
    guard case .until(let end) = self, grace < earlier else { return }
    self = .until(end - (earlier - grace))
  }

  /// One number, for an atomic.
  @inline(__always)
  var encoded: Int64 {
    switch self {
    case .until(let end): end
    case .refused: .min
    }
  }

  @inline(__always)
  init(encoded: Int64) { self = encoded == .min ? .refused : .until(encoded) }
}
