internal import DataPlane
internal import Sessions

/// A session that exchanges under way belong to, as one event loop follows it. Used on that loop only.
final class OpenSession {
  /// The state of the session.
  enum State {
    /// Nothing yet, or nothing that is still good.
    case unknown
    /// As it was cached, or looked up, and the cache's number of invalidations at that time.
    case known(SessionCacheEntry, invalidations: Int)
    /// It is being looked up.
    /// - Parameter previous: what was known before.
    case lookingUp(previous: SessionCacheEntry?)
    /// It is over, or cannot be verified.
    /// - Parameter exchangesEndedAt: nil until exchanges have been ended for that.
    case over(ExchangeEnding, exchangesEndedAt: Int64? = nil)
  }

  var state = State.unknown
  /// The time of its latest use, if its entry does not have that yet.
  var unnotedUse: Int64?
  /// The time of the last review of one of its exchanges.
  var reviewed: Int64 = 0
  /// The period in which it is not looked up again.
  var lookUpPause = Period.none
  /// The entry that its exchanges are evaluated by, and the number of that evaluation.
  private(set) var evaluated: (entry: SessionCacheEntry, generation: Int, number: Int)?
  /// The time when a revalidation of its account was last started.
  var revalidationStarted: Int64 = 0
  /// The time since when the account is overdue; nil if it is not.
  var overdueSince: Int64?

  /// The reason for which its exchanges are ended, noted as done; nil where it is not over.
  func takeEnding(at now: Int64) -> ExchangeEnding? {
    guard case .over(let ending, let since) = state else { return nil }
    if since == nil { state = .over(ending, exchangesEndedAt: now) }
    return ending
  }

  /// The number of the evaluation by this entry and configuration: another where either has changed.
  func evaluation(by entry: SessionCacheEntry, _ generation: Int, next: () -> Int) -> Int {
    if let evaluated, evaluated.entry === entry, evaluated.generation == generation { return evaluated.number }
    let number = next()
    evaluated = (entry, generation, number)
    revalidationStarted = 0
    overdueSince = nil
    return number
  }
}

/// The sessions that exchanges under way belong to.
struct OpenSessions {
  private var sessions: [ConnectionKey: OpenSession] = [:]
  private var evaluations = 0
  /// The period in which sessions without exchanges are not looked for again.
  private var cleaned = Period.none

  /// The interval at which sessions without exchanges are dropped, and the time without a review after which they are.
  private static let cleaningInterval: Int64 = 10_000
  /// Between two rounds of reviews there is at least so much time.
  private static let reviewGap: Int64 = 500

  /// The session of an exchange that is being reviewed.
  mutating func session(_ tag: ConnectionKey, at now: Int64) -> OpenSession {
    if let known = sessions[tag] {
      // Its exchanges were ended. One that has begun since was admitted, and is reviewed again.
      if case .over(_, let since?) = known.state, !Period(from: since, for: Self.reviewGap).contains(now) {
        known.state = .unknown
      }
      known.reviewed = now
      return known
    }
    let session = OpenSession()
    session.reviewed = now
    sessions[tag] = session
    return session
  }

  /// Numbers of evaluations, each given once.
  mutating func nextEvaluation() -> Int {
    evaluations += 1
    return evaluations
  }

  /// Drops the sessions that nothing has asked for lately.
  mutating func clean(at now: Int64) {
    guard !cleaned.contains(now) else { return }
    cleaned = Period(from: now, for: Self.cleaningInterval)
    sessions = sessions.filter { Period(from: $0.value.reviewed, for: Self.cleaningInterval).contains(now) }
  }

  /// Whether the store is being asked for one of them.
  var isLookingUp: Bool {
    sessions.values.contains { if case .lookingUp = $0.state { true } else { false } }
  }
}

/// The credential of a request, as its exchange keeps it: the key that signed it, the host that it counts on, and
/// whether it was a bearer token; or a machine token. Also whether the client's address is known.
struct ExchangeCredential {
  let number: UInt64

  /// - Parameter scope: ``GateSite/credentialScope`` of the host that the request was for.
  init(key: KeyIdentifier, isBearer: Bool, scope: UInt64) {
    number = UInt64(key.number) | (isBearer ? Self.bearer : 0) | scope
  }

  init(number: UInt64) { self.number = number }

  /// That of a machine token, which no key of the configuration signs.
  static let machineToken = ExchangeCredential(number: 1 << 33)

  private static let bearer: UInt64 = 1 << 32

  var key: KeyIdentifier { KeyIdentifier(number: UInt32(truncatingIfNeeded: number)) }
  var isBearer: Bool { number & Self.bearer != 0 }
  var isMachineToken: Bool { number & Self.machineToken.number != 0 }

  /// Whether `networks` may rely on the client's address.
  var isAddressKnown: Bool { number & Self.unknownAddress == 0 }

  /// The mark of a client whose address is not known.
  static let unknownAddress: UInt64 = 1 << 34

  /// The bits of the host that it counts on; none for `public_url`.
  var scope: UInt64 { number & Self.scopeBits }

  private static let scopeBits = UInt64.max << 35

  /// The bits of a host. Their hash differs from process to process, which no exchange outlives.
  static func bits(of scope: CookieScope) -> UInt64 {
    scope == .publicURL ? 0 : (UInt64(truncatingIfNeeded: scope.hashValue) | 1) << 35
  }
}
