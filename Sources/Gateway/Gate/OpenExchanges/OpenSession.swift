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
