internal import FoundationEssentials
internal import Sessions

/// The session cache of one event loop: recently verified credentials, and the result of each.
///
/// Bounded by a budget of bytes: two generations, of which the younger replaces the older when half of the budget is
/// used up. Entries that are used stay; evicted ones can be loaded from the store again.
struct SessionCache {
  /// The cached result of a credential.
  enum Known {
    case session(SessionCacheEntry)
    /// No such session, or no longer; not asked again in this period.
    case absent(during: Period)
    /// The store could not be asked; not asked again in this period.
    case storeUnavailable(during: Period)
  }

  private var young: [CookieFingerprint: Known] = [:]
  private var old: [CookieFingerprint: Known] = [:]
  private var byHandle: [PublicSessionID: EntriesOfSession] = [:]
  /// The sessions of each account, for sign-ins and revalidations, whose cost must not depend on the size of the cache.
  private var bySubject: [Subject: [PublicSessionID]] = [:]
  /// Tombstones of sessions that have just ended, so that an answer that was under way does not revive one.
  private var tombstones = RecentEvents<PublicSessionID>()
  /// Accounts that have just changed, so that an answer that was under way is not taken for the present state.
  private var changes = RecentEvents<Subject>()
  /// The approximate size of the younger generation, in bytes.
  private var youngBytes = 0
  private var oldBytes = 0
  /// The number of invalidations. An entry that is kept elsewhere after this cache has dropped it is valid while this
  /// number stays the same.
  private(set) var invalidations = 0
  /// Bytes that the cache may use.
  var budget: Int
  /// The number of times that the older generation, or everything, was dropped.
  private(set) var drops = 0
  /// The last uses of dropped sessions that were to be written to the store.
  private var droppedUpdates: [LastSeenUpdate] = []

  /// The size of a result without its session: slots in tables that are half empty at worst.
  private static let slotBytes = 128

  /// - Parameter budget: in bytes.
  init(budget: Int) { self.budget = budget }

  /// The approximate present size, in bytes.
  var bytes: Int { youngBytes + oldBytes }

  /// The number of cached sessions.
  var count: Int { byHandle.count }

  mutating func find(_ fingerprint: CookieFingerprint) -> Known? {
    if let known = young[fingerprint] { return known }
    guard let known = old.removeValue(forKey: fingerprint) else { return nil }
    oldBytes -= Self.bytes(of: known)
    keep(known, fingerprint)
    return known
  }

  /// The session with this ID and its account, if it is cached and has not ended, with its last use on this loop.
  func cached(_ handle: PublicSessionID) -> CachedSnapshot? {
    var cached: CachedSnapshot?
    for entry in byHandle[handle]?.all ?? [] where entry.validity != .ended {
      let one = CachedSnapshot(
        snapshot: entry.snapshot.seen(at: Date(millisecondsSince1970: entry.lastSeen.time)),
        isCurrent: entry.validity == .current,
        isOnSchedule: entry.validity == .current && entry.revalidation.isOnSchedule)
      cached = cached?.merged(with: one) ?? one
    }
    return cached
  }

  /// The cached entry with this ID, if it has not ended and its account has not changed since.
  func entry(of handle: PublicSessionID) -> SessionCacheEntry? {
    byHandle[handle]?.first { $0.validity == .current }
  }

  /// The cached sessions of an account for which a condition holds.
  func handles(of subject: Subject, where isWanted: (Session) -> Bool) -> [PublicSessionID] {
    (bySubject[subject] ?? []).filter { handle in
      byHandle[handle]?.first { isWanted($0.snapshot.session) } != nil
    }
  }

  /// Whether the session has ended a moment ago.
  func hasEnded(_ handle: PublicSessionID, now: Int64) -> Bool { tombstones.number(of: handle, now: now) != nil }

  /// The number of ends of sessions and changes of accounts that are remembered.
  var recentEvents: Int { tombstones.count + changes.count }

  /// Forgets ends of sessions and changes of accounts that no answer under way can be older than.
  mutating func removeOldEvents(now: Int64) {
    tombstones.removeOld(now: now)
    changes.removeOld(now: now)
  }

  /// Keeps the result of a credential. One that has just ended is kept as absent, though the store has found it: the
  /// answer was under way, or the store has lost its latest changes.
  /// - Parameter asked: the number of changes at the time of the query that this is the answer to.
  mutating func insert(_ known: Known, for fingerprint: CookieFingerprint, asked: Int = .max, now: Int64) {
    if case .storeUnavailable(let period) = known, case .session(let entry) = find(fingerprint),
      entry.validity == .current
    {
      // Kept for when it may be used again.
      entry.notAsked = period
      return
    }
    var known = known
    if case .session(let entry) = known, hasEnded(entry.snapshot.session.handle, now: now) {
      known = .absent(during: Period(from: now, for: SessionManager.absentLifetime))
    }
    if case .session(let entry) = known {
      let (handle, subject) = (entry.snapshot.session.handle, entry.snapshot.account.subject)
      // A session that has moved to another account.
      if let others = byHandle[handle], others.subject != subject {
        for other in others.all { other.validity = .ended }
        drop(handle)
      }
      // Of two answers about one session on one host, the newer is kept.
      if let replaced = byHandle[handle]?.first(where: { $0.scope == entry.scope }) {
        forget(replaced)
        if replaced.validity == .current { entry.revalidation.keepWait(of: replaced.revalidation) }
        replaced.validity = .ended
      }
      if let change = changes.number(of: subject, now: now), change > asked { entry.validity = .stale(serves: .none) }
      if byHandle[handle]?.append(entry) == nil {
        byHandle[handle] = .one(entry)
        bySubject[subject, default: []].append(handle)
      }
    } else {
      remove(fingerprint)
    }
    keep(known, fingerprint)
  }

  mutating func remove(_ fingerprint: CookieFingerprint) {
    if let known = young.removeValue(forKey: fingerprint) {
      youngBytes -= Self.bytes(of: known)
      if case .session(let entry) = known { forget(entry) }
    }
    if let known = old.removeValue(forKey: fingerprint) {
      oldBytes -= Self.bytes(of: known)
      if case .session(let entry) = known { forget(entry) }
    }
  }

  /// Removes sessions that have ended, and leaves tombstones.
  mutating func end(_ handles: [PublicSessionID], now: Int64) {
    for handle in handles {
      tombstones.note(handle, now: now)
      for entry in byHandle[handle]?.all ?? [] { entry.validity = .ended }
      drop(handle)
    }
  }

  /// Marks the sessions of an account that has changed as stale: they are looked up again, and stay usable while the
  /// store is unavailable.
  /// - Parameter number: counts the changes of this process.
  mutating func markStale(_ subject: Subject, number: Int, now: Int64) {
    invalidations &+= 1
    changes.note(subject, number: number, now: now)
    for handle in bySubject[subject] ?? [] {
      for entry in byHandle[handle]?.all ?? [] { entry.validity = .stale(serves: .none) }
    }
  }

  /// Updates the sessions of an account with the stored account after a revalidation. Those whose account has other
  /// changes, or may have changed since the store was asked, are marked as stale.
  /// - Parameters:
  ///   - asked: the number of changes before the store was asked.
  ///   - number: that of this change, as in `markStale`: an answer of the store from before it is stale.
  mutating func renew(
    _ account: Account, asked: Int, number: Int, now: Int64, _ configuration: SessionConfiguration
  ) {
    let hasChanged = changes.number(of: account.subject, now: now).map { $0 > asked } ?? false
    invalidations &+= 1
    changes.note(account.subject, number: number, now: now)
    for handle in bySubject[account.subject] ?? [] {
      for entry in byHandle[handle]?.all ?? [] where hasChanged || !entry.renew(account, configuration) {
        entry.validity = .stale(serves: .none)
      }
    }
  }

  /// Empties the cache. Its sessions are looked up again: the old entries must not take as much memory once more, until
  /// their last uses are written.
  mutating func removeAll() {
    invalidations &+= 1
    for entries in byHandle.values {
      for entry in entries.all {
        entry.validity = .ended
        keepUse(of: entry)
      }
    }
    drops &+= 1
    byHandle = [:]
    bySubject = [:]
    young = [:]
    old = [:]
    youngBytes = 0
    oldBytes = 0
  }

  private static func bytes(of known: Known) -> Int {
    if case .session(let entry) = known { return slotBytes + entry.footprint }
    return slotBytes
  }

  private mutating func keep(_ known: Known, _ fingerprint: CookieFingerprint) {
    let bytes = Self.bytes(of: known)
    if !young.isEmpty, youngBytes + bytes > budget / 2 {
      dropOld()
      old = young
      oldBytes = youngBytes
      young = [:]
      youngBytes = 0
    }
    if let replaced = young.updateValue(known, forKey: fingerprint) { youngBytes -= Self.bytes(of: replaced) }
    youngBytes += bytes
  }

  /// Drops the older generation. Only what is to be written of its sessions is kept, not the sessions.
  private mutating func dropOld() {
    for case .session(let entry) in old.values {
      forget(entry)
      keepUse(of: entry)
    }
    drops &+= 1
  }

  /// Keeps the last use of a session that is dropped, if it waits to be written.
  private mutating func keepUse(of entry: SessionCacheEntry) {
    guard entry.lastSeen.isQueued, let update = entry.takeLastSeenUpdate() else { return }
    droppedUpdates.append(update)
  }

  /// Takes the last uses of dropped sessions that are to be written to the store.
  mutating func takeDroppedUpdates() -> [LastSeenUpdate] {
    defer { droppedUpdates = [] }
    return droppedUpdates
  }

  private mutating func forget(_ entry: SessionCacheEntry) {
    let handle = entry.snapshot.session.handle
    guard let entries = byHandle[handle], entries.first(where: { $0 === entry }) != nil else { return }
    if let others = entries.without(entry) { byHandle[handle] = others } else { drop(handle) }
  }

  /// Removes a session from both indexes.
  private mutating func drop(_ handle: PublicSessionID) {
    guard let subject = byHandle.removeValue(forKey: handle)?.subject,
      var others = bySubject.removeValue(forKey: subject)
    else { return }
    others.removeAll { $0 == handle }
    if !others.isEmpty { bySubject[subject] = others }
  }
}

/// The entries of one session: one for each host that its user has recently used, since each has a cookie of its own.
private enum EntriesOfSession {
  /// A single entry, without an array.
  case one(SessionCacheEntry)
  case several([SessionCacheEntry])

  /// All are of one account.
  var subject: Subject? { first { _ in true }?.snapshot.account.subject }

  var all: [SessionCacheEntry] {
    switch self {
    case .one(let entry): [entry]
    case .several(let entries): entries
    }
  }

  func first(where isWanted: (SessionCacheEntry) -> Bool) -> SessionCacheEntry? {
    switch self {
    case .one(let entry): isWanted(entry) ? entry : nil
    case .several(let entries): entries.first(where: isWanted)
    }
  }

  mutating func append(_ entry: SessionCacheEntry) {
    switch self {
    case .one(let other): self = .several([other, entry])
    case .several(let others): self = .several(others + [entry])
    }
  }

  /// The others; nil if there are none.
  func without(_ entry: SessionCacheEntry) -> EntriesOfSession? {
    guard case .several(let entries) = self else { return nil }
    let others = entries.filter { $0 !== entry }
    return others.count == 1 ? .one(others[0]) : .several(others)
  }
}
