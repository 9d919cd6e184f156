/// Decides when an open connection is replaced: a value, without connections or a clock of its own.
///
/// After a failover, or when a proxy has moved to another server, connections that were opened before may lead to the
/// server that was left. So each connection belongs to the **generation** in which it was opened. A sign that the
/// server has changed begins the next generation, and connections of earlier ones are replaced before their next job:
/// one by one, as jobs come. The lifetime bounds the age of connections for which there is no sign.
struct ConnectionTurnover {
  /// The generation of an open connection, and the end of its lifetime.
  struct Tenure: Equatable {
    fileprivate let generation: Int
    fileprivate let expires: ContinuousClock.Instant
  }

  /// The action on an open connection before its next job.
  enum Action {
    case keep
    /// It may lead to another server: it must not be used any more.
    case close
    /// It is old: another one is opened. Where that fails, it is kept, or closed first if the server has no room for
    /// one more.
    case renew
  }

  private let lifetime: Duration
  private var generation = 0
  /// When the current generation began; nil for the first.
  private var began: ContinuousClock.Instant?
  /// Whether a connection of the current generation has failed too soon for another one.
  private var isNextDue = false

  /// The shortest time between two generations that begin because of failures: a connection that fails again and again
  /// must not have all others reopened each time.
  static let shortestGeneration = Duration.seconds(10)
  /// The time for which a connection is kept that was to be renewed and could not.
  static let postponement = Duration.seconds(60)

  /// - Parameter lifetime: the age at which a connection is renewed.
  init(lifetime: Duration) { self.lifetime = lifetime }

  /// The tenure of a connection that is about to be opened. Taken before: if a generation begins meanwhile, it is
  /// unknown to which server the connection leads.
  /// - Parameter jitter: a factor around 1, so that connections opened together are not renewed together.
  mutating func tenure(at now: ContinuousClock.Instant, jitter: Double) -> Tenure {
    beginIfDue(at: now)
    return Tenure(generation: generation, expires: now + lifetime * jitter)
  }

  /// The tenure of a connection that could not be renewed.
  func postponed(_ tenure: Tenure, at now: ContinuousClock.Instant) -> Tenure {
    Tenure(generation: tenure.generation, expires: now + Self.postponement)
  }

  mutating func action(for tenure: Tenure, at now: ContinuousClock.Instant) -> Action {
    beginIfDue(at: now)
    if tenure.generation != generation { return .close }
    return now >= tenure.expires ? .renew : .keep
  }

  /// Notes that an established connection was lost, or leads to a server that cannot be written. One of an earlier
  /// generation says nothing new.
  mutating func noteFailure(of tenure: Tenure, at now: ContinuousClock.Instant) {
    beginIfDue(at: now)
    guard tenure.generation == generation else { return }
    if let began, now - began < Self.shortestGeneration {
      isNextDue = true
    } else {
      beginNext(at: now)
    }
  }

  /// Begins the next generation: it is known that another server answers now.
  mutating func beginNext(at now: ContinuousClock.Instant) {
    generation += 1
    began = now
    isNextDue = false
  }

  private mutating func beginIfDue(at now: ContinuousClock.Instant) {
    guard isNextDue, let began, now - began >= Self.shortestGeneration else { return }
    beginNext(at: now)
  }
}
