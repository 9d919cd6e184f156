internal import DataPlane
internal import FoundationEssentials
internal import NIOCore
internal import Operations
internal import Sessions

/// The sessions of one event loop: finds the session of a cookie or token in the loop's cache, and keeps its last use,
/// its revalidation and its assertion up to date. Used on that loop only.
final class LoopSessions {
  private(set) var configuration: SessionConfiguration
  var cache: SessionCache
  let eventLoop: any EventLoop
  let storeHealth: StoreHealth
  private let manager: SessionManager
  let tokens: MachineTokenSessions
  /// Counts the requests that carry a machine token.
  let tokenRequests: MachineTokenRecorder
  private let revalidations: RequestRevalidations
  private let lastSeen: LastSeenBatch
  /// Sessions used since their last-seen updates were last collected. One that the cache has dropped since would be
  /// kept in memory by this list alone: see `forgetDropped()`.
  private var seen: [SessionCacheEntry] = []
  /// `SessionCache.drops` when the list was last looked through.
  private var knownDrops = 0

  init(
    _ configuration: SessionConfiguration, manager: SessionManager, tokens: MachineTokenSessions,
    revalidations: RequestRevalidations, lastSeen: LastSeenBatch, storeHealth: StoreHealth, eventLoop: any EventLoop
  ) {
    self.configuration = configuration
    self.manager = manager
    self.tokens = tokens
    tokenRequests = tokens.makeRecorder()
    self.revalidations = revalidations
    self.lastSeen = lastSeen
    self.storeHealth = storeHealth
    self.eventLoop = eventLoop
    cache = SessionCache(budget: configuration.cacheBudget)
  }

  /// Uses another configuration from the next request on. The cache is kept.
  func apply(_ configuration: SessionConfiguration) {
    self.configuration = configuration
    cache.budget = configuration.cacheBudget
  }

  /// Milliseconds since 1970.
  @inline(__always)
  var now: Int64 { manager.now }

  // MARK: The session of a credential

  /// The result of looking a credential up.
  enum LookUp {
    case known(SessionCacheEntry)
    /// No valid session.
    case none
    /// The store has to be asked, and is unavailable.
    case storeUnavailable
    /// A query has to be awaited first; look the credential up again afterwards.
    case suspend(@Sendable () async -> Void)
  }

  /// Looks up the session of a cookie or bearer token.
  /// - Parameters:
  ///   - scope: that of the host that the request is for: a credential of another host is invalid.
  ///   - waitsForRevalidation: whether to wait for a revalidation that must not be missed; otherwise it is started, and
  ///     an overdue session is `none` until it is made.
  @inline(never)
  func find(_ credential: RawSpan, on scope: CookieScope, waitsForRevalidation: Bool) -> LookUp {
    let now = now
    let fingerprint = credential.withUnsafeBytes { configuration.fingerprinter.fingerprint($0, on: scope) }
    if let known = cache.find(fingerprint) {
      switch consume known {
      case .session(let entry):
        if entry.serves(at: now), now < entry.endsAt, now < entry.lastSeen.time &+ configuration.idleTimeout {
          if storeHealth.isTrusted(at: now) {
            if entry.generation != configuration.generation, !refresh(entry, credential) {
              cache.remove(fingerprint)
              return .none
            }
            return use(entry, fingerprint, now, waitsForRevalidation)
          }
          // The entry is kept: the outage grace may only seem to be over, while the clock is wrong.
          if entry.notAsked.contains(now) {
            // A user whom the outage refuses is not idle.
            noteUse(of: entry, now)
            return .storeUnavailable
          }
        } else if case .stale = entry.validity {
          // Kept as well: it is used if the store is unavailable.
        } else {
          // Another loop or replica may have newer data.
          cache.remove(fingerprint)
        }
      case .absent(let period): if period.contains(now) { return .none }
      case .storeUnavailable(let period): if period.contains(now) { return .storeUnavailable }
      }
    }
    guard let verified = configuration.keyring.verifyCookie(credential, on: scope) else { return .none }
    let verifiedCredential = SessionCredential(
      handle: verified.identifier.handle, scope: scope, fingerprint: fingerprint,
      isSignedByCurrentKey: verified.isSignedByCurrentKey,
      key: verified.key, generation: configuration.generation)
    let (manager, bound) = (manager, NIOLoopBound(self, eventLoop: eventLoop))
    return .suspend { await manager.load(verifiedCredential, for: bound) }
  }

  /// Whether we have signed a token for a host, whether its session is still valid or not.
  func hasSigned(_ token: RawSpan, on scope: CookieScope) -> Bool {
    let fingerprint = token.withUnsafeBytes { configuration.fingerprinter.fingerprint($0, on: scope) }
    return cache.find(fingerprint) != nil || configuration.keyring.verifyCookie(token, on: scope) != nil
  }

  /// Renders an entry for the present configuration, after a reload. False if the credential is not signed by one of
  /// the present secrets: then the cached session must not be used.
  private func refresh(_ entry: SessionCacheEntry, _ credential: RawSpan) -> Bool {
    guard let verified = configuration.keyring.verifyCookie(credential, on: entry.scope),
      verified.identifier.handle == entry.snapshot.session.handle
    else { return false }
    entry.render(configuration, isSignedByCurrentKey: verified.isSignedByCurrentKey, key: verified.key)
    return true
  }

  @inline(__always)
  private func use(
    _ entry: SessionCacheEntry, _ fingerprint: CookieFingerprint, _ now: Int64, _ waitsForRevalidation: Bool
  ) -> LookUp {
    noteUse(of: entry, now)
    if !entry.revalidation.evaluated.contains(now) { return evaluate(entry, fingerprint, now, waitsForRevalidation) }
    return .known(entry)
  }

  /// Evaluates the revalidation schedule, at most every 30 s for one session.
  private func evaluate(
    _ entry: SessionCacheEntry, _ fingerprint: CookieFingerprint, _ now: Int64, _ waitsForRevalidation: Bool
  ) -> LookUp {
    let snapshot = entry.snapshot
    guard entry.isRevalidated(configuration) else {
      entry.revalidation.noteEvaluation(at: now)
      return .known(entry)
    }
    let date = Date(millisecondsSince1970: now)
    let decision = configuration.schedule.decision(account: snapshot.account, now: date)
    switch decision {
    case .fresh:
      entry.revalidation.noteEvaluation(at: now)
      entry.noteOnSchedule()
    case .background where !mayHaveMissed(entry, now):
      entry.revalidation.noteEvaluation(at: now)
      revalidations.startInBackground(snapshot)
    case .background, .blocking:
      if entry.revalidation.waited.contains(now) {
        // A request has waited already. If no attempt failed, our limit kept it from being made
        // (`RequestRevalidations.waitAndReload`); otherwise only a good answer at another sign-in helps.
        if configuration.schedule.mayGoOn(account: snapshot.account, now: date) { return .known(entry) }
        noteGraceEnd(of: entry, now)
        return .none
      }
      guard waitsForRevalidation else {
        startForNextRequest(entry, now, canBePutOff: decision == .background)
        return decision == .background ? .known(entry) : .none
      }
      let credential = SessionCredential(
        handle: snapshot.session.handle, scope: entry.scope, fingerprint: fingerprint,
        isSignedByCurrentKey: entry.isSignedByCurrentKey, key: entry.key, generation: entry.generation)
      let (revalidations, bound) = (revalidations, NIOLoopBound(self, eventLoop: eventLoop))
      return .suspend { await revalidations.waitAndReload(snapshot, credential, for: bound) }
    }
    return .known(entry)
  }

  /// Starts the revalidation of a request that does not wait for it, at most every 30 s for one session. The next
  /// request need not wait either, if the result has come until then.
  private func startForNextRequest(_ entry: SessionCacheEntry, _ now: Int64, canBePutOff: Bool) {
    guard !entry.revalidation.started.contains(now) else { return }
    entry.revalidation.noteStart(at: now)
    revalidations.startInBackground(entry.snapshot, canBePutOff: canBePutOff)
  }

  /// Records that a session is refused because the grace period of its account is over: once an hour.
  func noteGraceEnd(of entry: SessionCacheEntry, _ now: Int64) {
    guard !entry.revalidation.graceEndNoted.contains(now) else { return }
    entry.revalidation.noteGraceEnd(at: now)
    revalidations.noteGraceEnd(of: entry.snapshot.session)
  }

  /// Whether a revalidation of the account may have been missed because no route admitted its user: then the first
  /// admitted request waits for one, because the user may have revoked consent at Apple meanwhile. Only an account that
  /// was fresh in this process while it was admitted is known to have become due in use; for any other, requests may
  /// have been refused by another process, or there may have been none.
  private func mayHaveMissed(_ entry: SessionCacheEntry, _ now: Int64) -> Bool {
    configuration.policy.mayAdmitNowhere && !entry.revalidation.isOnSchedule
      && entry.snapshot.account.failingSince(at: Date(millisecondsSince1970: now)) == nil
  }

  /// The serialized identity headers of a session for an upstream.
  @inline(__always)
  func identity(of entry: SessionCacheEntry, for upstream: Int) -> SerializedIdentityHeaders {
    // The whole configuration would be copied for the call.
    if configuration.upstreamIdentities.isEmpty { return entry.identity.headers }
    return entry.identity(for: upstream, configuration)
  }

  // MARK: Open exchanges

  /// Has the account of an open exchange revalidated.
  /// - Parameter isOverdue: whether the exchange ends if the result does not come soon.
  func revalidate(_ snapshot: SessionSnapshot, isOverdue: Bool) {
    revalidations.startInBackground(snapshot, isOverdue: isOverdue)
  }

  /// Looks up the session of an open exchange in the store, and passes the result to `take` on this loop.
  func load(
    _ handle: PublicSessionID, usedAt use: Int64?, _ take: @escaping @Sendable (OpenLookUp<SessionSnapshot>) -> Void
  ) {
    let (manager, eventLoop) = (manager, eventLoop)
    Task { await manager.lookUp(handle, usedAt: use, take, on: eventLoop) }
  }

  // MARK: The last use

  /// Notes that the session was used just now.
  @inline(__always)
  func noteUse(of entry: SessionCacheEntry, _ now: Int64) {
    entry.lastSeen.time = now
    if !entry.lastSeen.isQueued || isUrgent(entry, now) { scheduleUpdate(of: entry, now) }
  }

  /// Whether the store's record of the last use is so old that another replica would soon take the session for idle.
  @inline(__always)
  private func isUrgent(_ entry: SessionCacheEntry, _ now: Int64) -> Bool {
    now >= entry.lastSeen.written &+ configuration.idleTimeout / 2
  }

  /// Schedules the write of the session's last use: with the next batch, or at once if it is urgent.
  private func scheduleUpdate(of entry: SessionCacheEntry, _ now: Int64) {
    if isUrgent(entry, now), let update = entry.takeLastSeenUpdate() { return lastSeen.writeSoon(update) }
    if knownDrops != cache.drops { forgetDropped() }
    if !entry.lastSeen.isQueued { seen.append(entry) }
    entry.lastSeen.isQueued = true
  }

  /// Lets go of sessions that the cache has dropped, so that they take no memory beside its budget; it has kept their
  /// last uses.
  private func forgetDropped() {
    seen.removeAll { !$0.lastSeen.isQueued }
    knownDrops = cache.drops
  }

  /// Collects the last uses that are not written yet. As it is called for each batch, once a minute at least, it also
  /// frees what a burst of ended sessions has left in the cache.
  func takeLastSeenUpdates() -> [LastSeenUpdate] {
    cache.removeOldEvents(now: now)
    defer { seen = [] }
    return cache.takeDroppedUpdates() + seen.compactMap { $0.takeLastSeenUpdate() }
  }

  // MARK: The assertion

  /// Ensures that the entry has a valid assertion; signing happens outside the event loop.
  /// - Returns: the signing to wait for if there is no assertion; nil if the request can proceed.
  @inline(__always)
  func renewAssertion(of entry: SessionCacheEntry) -> (@Sendable () async -> Void)? {
    guard let assertions = configuration.assertions else { return nil }
    let now = WallClock.now()
    if entry.identity.assertionFresh.contains(now) { return nil }
    return renewAssertion(of: entry, by: assertions, now)
  }

  private func renewAssertion(
    of entry: SessionCacheEntry, by assertions: SessionAssertions, _ now: Int64
  ) -> (@Sendable () async -> Void)? {
    let (snapshot, generation) = (entry.snapshot, configuration.generation)
    let groups = entry.groups(configuration)
    let bound = NIOLoopBound(entry, eventLoop: eventLoop)
    let signing: @Sendable () async -> Void = {
      let signed = await assertions.assertion(of: snapshot, groups: groups)
      try? await bound.eventLoop.submit { bound.value.take(signed, by: generation, now: WallClock.now()) }.get()
    }
    guard entry.identity.assertionValid.contains(now) else { return signing }
    // The present one is still valid: one request starts the renewal, and none waits for it.
    entry.identity.noteSigning(at: now)
    Task { await signing() }
    return nil
  }
}
