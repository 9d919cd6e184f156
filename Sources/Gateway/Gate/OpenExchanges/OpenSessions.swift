internal import DataPlane

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
  mutating func session(_ key: ConnectionKey, at now: Int64) -> OpenSession {
    if let known = sessions[key] {
      // Its exchanges were ended. One that has begun since was admitted, and is reviewed again.
      if case .over(_, let since?) = known.state, !Period(from: since, for: Self.reviewGap).contains(now) {
        known.state = .unknown
      }
      known.reviewed = now
      return known
    }
    let session = OpenSession()
    session.reviewed = now
    sessions[key] = session
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
