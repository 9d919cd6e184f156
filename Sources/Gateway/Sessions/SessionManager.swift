internal import FoundationEssentials
internal import NIOCore
internal import Operations
internal import Sessions
internal import Synchronization

/// The sessions of this process: finds, loads and ends them across the store and the caches of all event loops.
///
/// All session termination goes through this type: first the store, then every loop's cache and open connections, and
/// only then is the request for it answered. The errors of the store that it throws are reported to ``StoreHealth``.
final class SessionManager: Sendable {
  private let store: any SessionRecordStore & NotificationStore
  private let loops: ProcessSessions
  private let storeHealth: StoreHealth
  private let unrecorded: UnrecordedResults
  private let lastSeen: LastSeenBatch
  private let metrics: MetricsRegistry
  private let idle: Mutex<Duration>
  private let lookUps: SharedLookUps<FoundSession>
  /// Milliseconds since 1970.
  let clock: @Sendable () -> Int64
  /// Milliseconds since 1970. Not inlined: a request that read the clock from here would retain it.
  var now: Int64 { @inline(never) get { clock() } }
  /// The same as a date, for the store and the rules of access.
  var date: Date { Date(millisecondsSince1970: clock()) }

  /// The time for which it is cached that a credential has no session, in milliseconds, as below.
  static let absentLifetime: Int64 = 5_000
  /// The time after which a store that did not answer is asked again.
  static let outageRetryInterval: Int64 = 1_000
  /// The time for which an idle session in the store counts as over: another replica may have used it, and not been
  /// able to write that yet.
  static let idleRecheckInterval: Int64 = 1_000

  /// - Parameters:
  ///   - unrecorded: has the revocations that the store has not recorded yet.
  ///   - lastSeen: has the last uses that the store has not taken.
  init(
    store: any SessionRecordStore & NotificationStore, loops: ProcessSessions, storeHealth: StoreHealth,
    unrecorded: UnrecordedResults, lastSeen: LastSeenBatch, settings: SessionSettings, metrics: MetricsRegistry,
    clock: @escaping @Sendable () -> Int64
  ) {
    self.store = store
    self.loops = loops
    self.storeHealth = storeHealth
    self.unrecorded = unrecorded
    self.lastSeen = lastSeen
    lookUps = SharedLookUps(loops, storeHealth)
    self.metrics = metrics
    self.clock = clock
    idle = Mutex(settings.idleTimeout)
  }

  /// Uses other settings from now on.
  func apply(_ settings: SessionSettings) { idle.withLock { $0 = settings.idleTimeout } }

  /// The time without a request after which a session ends.
  var idleTimeout: Duration { idle.withLock { $0 } }

  // MARK: For the event loops

  /// Loads a session into the cache of a loop.
  /// - Parameter fromStore: whether the cache of another loop does not do: another process may have confirmed the
  ///   account since.
  func load(
    _ credential: SessionCredential, for loop: NIOLoopBound<LoopSessions>, fromStore: Bool = false
  ) async {
    let version = loops.version
    let found = await lookUps.answer(for: credential.handle, version) {
      await self.lookUp(credential.handle, fromStore: fromStore)
    }
    try? await loop.eventLoop.submit { [loops] in
      // A snapshot from before all caches were emptied may be outdated: the request looks it up again.
      guard !loops.isOutdated(version) else { return }
      let known: SessionCache.Known
      switch found {
      case .found(let found):
        let entry = SessionCacheEntry(found.snapshot, credential, loop.value.configuration)
        if found.isOnSchedule { entry.noteOnSchedule() }
        if let serves = found.serves { entry.validity = .stale(serves: serves) }
        known = .session(entry)
      case .absent(let period): known = .absent(during: period)
      case .storeUnavailable(let period): known = .storeUnavailable(during: period)
      }
      loop.value.cache.insert(
        known, for: credential.fingerprint, asked: version.accountChanges, now: loop.value.now)
    }.get()
  }

  /// Looks up the session of an open exchange, and passes the result to `take` on the loop.
  /// - Parameter use: the latest use of the session that the exchange knows of.
  func lookUp(
    _ handle: PublicSessionID, usedAt use: Int64?, _ take: @escaping @Sendable (OpenLookUp<SessionSnapshot>) -> Void,
    on eventLoop: any EventLoop
  ) async {
    await lookUps.answer(
      for: handle, on: eventLoop, { await self.lookUp(handle, usedAt: use) }, { take($0.map(\.snapshot)) })
  }

  private struct FoundSession: Sendable {
    var snapshot: SessionSnapshot
    /// When a stale session may be used while the store is unavailable; nil if it is current.
    var serves: Period?
    /// `CachedRevalidation.isOnSchedule` on another loop.
    var isOnSchedule = false
  }

  private func lookUp(
    _ handle: PublicSessionID, usedAt use: Int64? = nil, fromStore: Bool = false
  ) async -> StoreLookUp<FoundSession> {
    let now = clock()
    let use = use.map { Date(millisecondsSince1970: $0) } ?? .distantPast
    // A snapshot would not be trusted now: each request would look it up again.
    if storeHealth.refusesSessions(at: now) {
      return .storeUnavailable(during: Period(from: now, for: Self.outageRetryInterval))
    }
    // The cache of another loop is as good as the store, and faster.
    let cached = await loops.cached(handle)
    // No request waits for a store that is known to be unavailable.
    let isUnavailable = storeHealth.isUnavailable
    if let cached, cached.isCurrent && !fromStore || isUnavailable, let known = usable(cached, usedAt: use, at: now) {
      return known
    }
    do throws(StoreError) {
      let found = try await store.find(handle)
      storeHealth.answered(at: clock(), asked: now)
      guard let found = found.map({ seen($0, cached).seen(at: use) }) else {
        return .absent(during: Period(from: clock(), for: Self.absentLifetime))
      }
      guard isAlive(found, at: now) else {
        return .absent(during: Period(from: clock(), for: Self.idleRecheckInterval))
      }
      return .found(FoundSession(snapshot: found))
    } catch {
      storeHealth.didNotAnswer("find", error)
      if let cached = await loops.cached(handle), let known = usable(cached, usedAt: use, at: clock()) {
        return known
      }
      // From now on: the failure may have taken longer than it is remembered.
      return .storeUnavailable(during: Period(from: clock(), for: Self.outageRetryInterval))
    }
  }

  /// A cached session as the result of a look-up; nil if it is idle or the outage grace is over.
  private func usable(_ cached: CachedSnapshot, usedAt use: Date, at now: Int64) -> StoreLookUp<FoundSession>? {
    let snapshot = cached.snapshot.seen(at: use)
    guard storeHealth.isTrusted(at: now), isAlive(snapshot, at: now) else { return nil }
    return .found(
      FoundSession(
        snapshot: snapshot, serves: cached.isCurrent ? nil : Period(from: now, for: Self.outageRetryInterval),
        isOnSchedule: cached.isOnSchedule))
  }

  /// The session as the store has it, with the last use that is not written yet: one that an event loop has seen, or
  /// that the store did not take, though no event loop has the session any longer.
  private func seen(_ found: SessionSnapshot, _ cached: CachedSnapshot?) -> SessionSnapshot {
    let seen = cached.map { found.seen(at: $0.snapshot.session.lastSeen) } ?? found
    return lastSeen.unwrittenUse(of: found.session.handle).map { seen.seen(at: $0) } ?? seen
  }

  /// Whether the session has not expired, its token is not revoked at Apple as far as this process knows, and no ban of
  /// its user is in force: a sign-in that was under way when the ban was made may have created it.
  private func isAlive(_ snapshot: SessionSnapshot, at now: Int64) -> Bool {
    if unrecorded.revokes(snapshot.session) { return false }
    let date = Date(millisecondsSince1970: now)
    if let ban = snapshot.account.access.ban, ban.isInForce(at: date) { return false }
    return snapshot.session.isAlive(at: date, idleTimeout: idleTimeout)
  }

  // MARK: For the endpoints

  /// Finds a session with its account; nil if it does not exist or has expired.
  func find(_ identifier: SessionIdentifier) async throws(StoreError) -> SessionSnapshot? {
    let found: SessionSnapshot?
    do throws(StoreError) {
      found = try await store.find(identifier.handle)
    } catch {
      throw storeHealth.didNotAnswer("find", error)
    }
    guard let found else { return nil }
    if isAlive(found, at: clock()) { return found }
    let known = seen(found, await loops.cached(identifier.handle))
    return isAlive(known, at: clock()) ? known : nil
  }

  /// Finds a session without using it: as the store has it, with the latest use on any loop of this process;
  /// nil if it does not exist or has expired.
  func peek(_ identifier: SessionIdentifier) async throws(StoreError) -> SessionSnapshot? {
    let known: SessionSnapshot?
    do throws(StoreError) {
      let found = try await store.find(identifier.handle)
      let cached = await loops.cached(identifier.handle)
      known = found.map { seen($0, cached) }
    } catch {
      let error = storeHealth.didNotAnswer("find", error)
      guard storeHealth.isTrusted(at: clock()), let cached = await loops.cached(identifier.handle) else { throw error }
      known = cached.snapshot
    }
    return known.flatMap { isAlive($0, at: clock()) ? $0 : nil }
  }

  /// The valid sessions of a session's user: this one, then the others, those used last first. This one counts as used
  /// now.
  func list(of session: Session) async throws(StoreError) -> [Session] {
    let now = date
    let found: [Listed<Session>]
    do throws(StoreError) {
      found = try await store.sessions(of: session.subject)
    } catch {
      throw storeHealth.didNotAnswer("sessions", error)
    }
    if let damage = found.damagedRecords().first { storeHealth.failed("sessions", damage.error) }
    var this = session
    this.lastSeen = max(session.lastSeen, now)
    let others = found.records().compactMap { other -> Session? in
      guard other.handle != session.handle else { return nil }
      var other = other
      // Without this, a session in use would look idle while the store cannot be written.
      if let use = lastSeen.unwrittenUse(of: other.handle) { other.lastSeen = max(other.lastSeen, use) }
      return other.isAlive(at: now, idleTimeout: idleTimeout) ? other : nil
    }
    return [this] + others.sorted { $0.lastSeen > $1.lastSeen }
  }

  /// Whether a session exists and is the user's.
  func isSession(_ handle: PublicSessionID, of subject: Subject) async throws(StoreError) -> Bool {
    do throws(StoreError) {
      return try await store.find(handle)?.session.subject == subject
    } catch {
      throw storeHealth.didNotAnswer("find", error)
    }
  }

  /// Ends sessions: when this returns, they have ended in the store and on every loop of this process.
  @discardableResult
  func end(_ selection: SessionSelection, because reason: SessionEnding) async throws(StoreError) -> [PublicSessionID] {
    let ended: [PublicSessionID]
    do throws(StoreError) {
      ended = try await store.end(selection, because: reason, at: date)
    } catch {
      throw storeHealth.failed("end", error)
    }
    metrics.countEnd(of: ended, because: reason)
    await endInProcess(ended)
    switch selection.change(beside: ended, because: reason) {
    case .ended(let handle, _): await endInProcess([handle])
    case .accountChanged(let subject): await markStale(subject)
    case .signedIn, nil: break
    }
    return ended
  }

  /// Applies a notification from Apple: when this returns, the sessions that it ends have ended, as with `end`.
  func carryOut(_ notification: AccountNotification) async throws(StoreError) -> NotificationOutcome {
    let outcome: NotificationOutcome
    do throws(StoreError) {
      outcome = try await store.carryOut(notification, at: date)
    } catch {
      throw storeHealth.failed("notification", error)
    }
    switch outcome {
    case .carriedOut(let ended):
      await endInProcess(ended)
      await markStale(notification.subject)
    // The store may have lost the sign-in of a session that is in the caches.
    case .unknownSubject: await markStale(notification.subject)
    case .repeated, .outdated: break
    }
    return outcome
  }

  /// Removes sessions that have ended from every cache, and ends their connections.
  func endInProcess(_ handles: [PublicSessionID]) async { await loops.end(handles, now: clock) }

  /// Removes the sessions that a revocation concerns from every cache, and ends their connections: before the store has
  /// recorded it. They are refused until it has.
  func endInProcess(revokedBy revocation: UnrecordedResult) async {
    let subject = revocation.lease.subject
    let cached = await loops.handles(of: subject) { revocation.revokes($0) }
    await endInProcess(cached)
    // An answer of the store that is under way has them still.
    await markStale(subject)
  }

  /// The state of the caches, to be read before a query to the store whose answer is passed to `renew`.
  var version: ProcessSessions.Version { loops.version }

  /// Updates the cached sessions of an account with the stored account after a revalidation.
  func renew(_ account: Account, readAfter version: ProcessSessions.Version) async {
    await loops.renew(account, readAfter: version, now: clock)
  }

  /// Marks the cached sessions of an account that has changed as stale.
  func markStale(_ subject: Subject) async { await loops.markStale(subject, now: clock) }
}
