internal import DataPlane
internal import NIOCore
internal import Sessions
internal import Synchronization

/// The session caches of all event loops and the connections of all listeners of this process.
final class ProcessSessions: Sendable {
  private let loops = Mutex<[NIOLoopBound<LoopSessions>]>([])
  private let listeners = Mutex<[Listener]>([])
  /// The number of times that all caches were emptied.
  private let invalidationEpoch = Atomic<Int>(0)
  /// The number of changes of accounts.
  private let accountChanges = Atomic<Int>(0)
  /// The number of invalidations that have not reached every loop yet.
  private let invalidationsUnderWay = Atomic<Int>(0)

  func add(_ sessions: NIOLoopBound<LoopSessions>) { loops.withLock { $0.append(sessions) } }

  func add(_ listener: Listener) { listeners.withLock { $0.append(listener) } }

  // MARK: Queries under way

  /// The state of the caches when a query is sent to the store.
  struct Version: Sendable, Equatable {
    let epoch: Int
    let accountChanges: Int
  }

  var version: Version {
    Version(
      epoch: invalidationEpoch.load(ordering: .acquiring), accountChanges: accountChanges.load(ordering: .acquiring))
  }

  /// Whether all caches were emptied since: then what was read before may be outdated.
  func isOutdated(_ version: Version) -> Bool { invalidationEpoch.load(ordering: .acquiring) != version.epoch }

  // MARK: Caches

  /// The session as the loops have cached it: a user who is signed in stays so on whichever loop a connection arrives.
  /// It is not current while an invalidation has reached only some loops: otherwise the outdated entry of one loop
  /// could be copied to a loop that was already invalidated.
  func cached(_ handle: PublicSessionID) async -> CachedSnapshot? {
    // Read before the caches. An invalidation that begins later has a newer version than the query.
    let isInvalidating = invalidationsUnderWay.load(ordering: .acquiring) > 0
    let answers = loops.withLock { $0 }.map { loop in
      loop.eventLoop.submit { loop.value.cache.cached(handle) }
    }
    var cached: CachedSnapshot?
    for answer in answers {
      guard let one = try? await answer.get() else { continue }
      cached = cached?.merged(with: one) ?? one
    }
    guard let cached, isInvalidating else { return cached }
    return CachedSnapshot(snapshot: cached.snapshot, isCurrent: false, isOnSchedule: false)
  }

  /// The machine token as a loop has cached it; nil if none has, or while an invalidation has reached only some loops.
  func cachedToken(_ handle: PublicSessionID) async -> MachineToken? {
    // Read before the caches, as above.
    guard invalidationsUnderWay.load(ordering: .acquiring) == 0 else { return nil }
    for loop in loops.withLock({ $0 }) {
      let cached = try? await loop.eventLoop.submit { loop.value.cache.entry(of: handle)?.machineToken }.get()
      if let token = cached.flatMap(\.self) { return token }
    }
    return nil
  }

  /// The number of cached sessions on all loops.
  func count() async -> Int {
    var count = 0
    for loop in loops.withLock({ $0 }) {
      count += (try? await loop.eventLoop.submit { loop.value.cache.count }.get()) ?? 0
    }
    return count
  }

  /// Collects the last-seen updates of all loops.
  func takeLastSeenUpdates() async -> [LastSeenUpdate] {
    var updates: [LastSeenUpdate] = []
    for loop in loops.withLock({ $0 }) {
      updates += (try? await loop.eventLoop.submit { loop.value.takeLastSeenUpdates() }.get()) ?? []
    }
    return updates
  }

  /// The cached sessions of an account for which a condition holds.
  func handles(
    of subject: Subject, where isWanted: @escaping @Sendable (Session) -> Bool
  ) async -> [PublicSessionID] {
    var handles: Set<PublicSessionID> = []
    for loop in loops.withLock({ $0 }) {
      let found = try? await loop.eventLoop.submit { loop.value.cache.handles(of: subject, where: isWanted) }.get()
      handles.formUnion(found ?? [])
    }
    return Array(handles)
  }

  /// Removes sessions that have ended from every cache, and ends their connections.
  func end(_ handles: [PublicSessionID], now: @escaping @Sendable () -> Int64) async {
    guard !handles.isEmpty else { return }
    for loop in loops.withLock({ $0 }) {
      try? await loop.eventLoop.submit { loop.value.cache.end(handles, now: now()) }.get()
    }
    await endExchanges(of: Set(handles.map(ConnectionKey.init)), for: .signInRequired)
  }

  /// Marks the cached sessions of an account that has changed as stale.
  func markStale(_ subject: Subject, now: @escaping @Sendable () -> Int64) async {
    await invalidate {
      accountChanges.add(1, ordering: .acquiringAndReleasing).newValue
    } each: { sessions, number in
      sessions.cache.markStale(subject, number: number, now: now())
    }
  }

  /// Updates the cached sessions of an account with the stored account after a revalidation, so that they need not be
  /// looked up again. Those that may be outdated are marked as stale.
  /// - Parameter version: the version before the store was asked.
  func renew(_ account: Account, readAfter version: Version, now: @escaping @Sendable () -> Int64) async {
    await invalidate {
      accountChanges.add(1, ordering: .acquiringAndReleasing).newValue
    } each: { [self] sessions, number in
      if isOutdated(version) {
        sessions.cache.markStale(account.subject, number: number, now: now())
      } else {
        sessions.cache.renew(
          account, asked: version.accountChanges, number: number, now: now(), sessions.configuration)
      }
    }
  }

  /// Empties every cache.
  func removeAll() async {
    await invalidate {
      invalidationEpoch.add(1, ordering: .acquiringAndReleasing).newValue
    } each: { sessions, _ in
      sessions.cache.removeAll()
    }
  }

  /// Changes the version, and then the cache of each loop in turn.
  private func invalidate(
    _ changeVersion: () -> Int, each: @escaping @Sendable (LoopSessions, Int) -> Void
  ) async {
    // Before the version changes: a reader of the new version also reads that an invalidation is under way.
    invalidationsUnderWay.add(1, ordering: .acquiringAndReleasing)
    defer { invalidationsUnderWay.subtract(1, ordering: .acquiringAndReleasing) }
    let number = changeVersion()
    for loop in loops.withLock({ $0 }) {
      try? await loop.eventLoop.submit { each(loop.value, number) }.get()
    }
  }

  // MARK: Connections

  /// The sessions that have an exchange under way.
  func sessionsUnderWay() async -> Set<ConnectionKey> {
    var keys: Set<ConnectionKey> = []
    for listener in listeners.withLock({ $0 }) { keys.formUnion(await listener.sessionsUnderWay()) }
    return keys
  }

  /// Ends the exchanges of these sessions.
  func endExchanges(of keys: Set<ConnectionKey>, for ending: ExchangeEnding) async {
    for listener in listeners.withLock({ $0 }) { await listener.endExchanges(of: keys, for: ending) }
  }
}
