internal import FoundationEssentials
internal import NIOCore
internal import Operations
internal import Sessions

/// The machine tokens of this process: verifies them with the key of the store, and loads known ones into the caches of
/// the event loops.
///
/// A token ends through the same path as a session: its public name is in the change feed, and
/// `SessionManager.endInProcess` removes it from every cache and ends its exchanges. Its subject is in the feed, too,
/// so that a token that the store has lost is looked up again.
final class MachineTokenSessions: Sendable {
  private let store: any MachineTokenStore
  /// The key of the store; nil until the store is open. Asked for each token: another database may be put in its place.
  private let key: @Sendable () -> StoreKey?
  private let loops: ProcessSessions
  private let storeHealth: StoreHealth
  private let metrics: MetricsRegistry
  /// Milliseconds since 1970.
  private let clock: @Sendable () -> Int64
  private let lookUps: SharedLookUps<MachineToken>

  init(
    store: any MachineTokenStore, key: @escaping @Sendable () -> StoreKey?, loops: ProcessSessions,
    storeHealth: StoreHealth, metrics: MetricsRegistry, clock: @escaping @Sendable () -> Int64
  ) {
    self.store = store
    self.key = key
    self.loops = loops
    self.storeHealth = storeHealth
    lookUps = SharedLookUps(loops, storeHealth)
    self.metrics = metrics
    self.clock = clock
  }

  /// The counters of one event loop.
  func makeRecorder() -> MachineTokenRecorder { metrics.makeMachineTokenRecorder() }

  /// The result of verifying the text of a token.
  enum Verification: Sendable {
    /// Made with the key of the store, whether it is still valid or not.
    case genuine(PublicSessionID)
    case foreign
    /// The store has not been opened yet.
    case keyUnknown
  }

  /// Verifies the text of a token with the key of the store, without a query to the store.
  func verify(_ text: MachineTokenValue) -> Verification {
    guard let key = key() else { return .keyUnknown }
    return MachineTokenText.verify(text.array, key).map { .genuine($0) } ?? .foreign
  }

  // MARK: For the event loops

  /// Loads a token into the cache of a loop.
  func load(_ handle: PublicSessionID, _ fingerprint: CookieFingerprint, for loop: NIOLoopBound<LoopSessions>) async {
    let version = loops.version
    let found = await lookUps.answer(for: handle, version) { await self.lookUp(handle) }
    try? await loop.eventLoop.submit { [loops] in
      // Read before all caches were emptied: possibly outdated. The request looks it up again.
      guard !loops.isOutdated(version) else { return }
      let known: SessionCache.Known =
        switch found {
        case .found(let token): .session(SessionCacheEntry(token, loop.value.configuration))
        case .absent(let period): .absent(during: period)
        case .storeUnavailable(let period): .storeUnavailable(during: period)
        }
      loop.value.cache.insert(known, for: fingerprint, asked: version.accountChanges, now: loop.value.now)
    }.get()
  }

  /// Looks up the token of an open exchange, and passes the result to `take` on the loop.
  func lookUp(
    _ handle: PublicSessionID, _ take: @escaping @Sendable (OpenLookUp<MachineToken>) -> Void,
    on eventLoop: any EventLoop
  ) async {
    await lookUps.answer(for: handle, on: eventLoop, { await self.lookUp(handle) }, take)
  }

  private func lookUp(_ handle: PublicSessionID) async -> StoreLookUp<MachineToken> {
    let now = clock()
    // A result would not be trusted now: each request would look it up again.
    if storeHealth.refusesSessions(at: now) {
      return .storeUnavailable(during: Period(from: now, for: SessionManager.outageRetryInterval))
    }
    if let cached = await cached(handle, at: now) { return .found(cached) }
    do throws(StoreError) {
      let found = try await store.token(handle)
      storeHealth.answered(at: clock(), asked: now)
      guard let found, found.isInForce(at: Date(millisecondsSince1970: now)) else {
        return .absent(during: Period(from: clock(), for: SessionManager.absentLifetime))
      }
      return .found(found)
    } catch {
      // A failure of token look-ups alone, such as a lock on their table, is no outage: each check would end it.
      storeHealth.failed("token", error)
      if let cached = await cached(handle, at: clock()) { return .found(cached) }
      return .storeUnavailable(during: Period(from: clock(), for: SessionManager.outageRetryInterval))
    }
  }

  /// The token as another loop has cached it; nil if it has expired or the outage grace is over.
  private func cached(_ handle: PublicSessionID, at now: Int64) async -> MachineToken? {
    guard storeHealth.isTrusted(at: now), let cached = await loops.cachedToken(handle),
      cached.isInForce(at: Date(millisecondsSince1970: now))
    else { return nil }
    return cached
  }

  // MARK: For the endpoints

  /// Finds a token; nil if it is unknown, revoked or expired.
  func find(_ text: MachineTokenValue) async throws(StoreError) -> MachineToken? {
    let unavailable = StoreError(code: .unavailable, message: "the token could not be looked up")
    switch verify(text) {
    case .foreign: return nil
    case .keyUnknown: throw unavailable
    case .genuine(let handle):
      switch await lookUp(handle) {
      case .found(let token): return token
      case .absent: return nil
      case .storeUnavailable: throw unavailable
      }
    }
  }
}
