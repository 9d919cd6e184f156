internal import DataPlane
internal import FoundationEssentials
internal import Logging
internal import NIOCore
internal import Operations
internal import Sessions
internal import Synchronization

/// The sessions of this process: between the gates' memories and the store.
///
/// Whoever ends sessions does it here: the store first, then every loop's memory and connections, and only then is the
/// act answered.
final class SessionManager: Sendable {
  let store: any SessionStore
  private let terms: Mutex<Terms>
  private let metrics: MetricsRegistry
  private let logger: Logger
  let checks: Revalidator
  /// Milliseconds since 1970, for the gates too.
  let clock: @Sendable () -> Int64
  private let sites = Mutex<[Site]>([])
  private let listeners = Mutex<[Listener]>([])
  /// Until when memories may be used though the store is away; `refusedByStore` while the store must not be used by
  /// this version.
  private let trustedUntil: Atomic<Int64>
  private let storeIsAway = Atomic<Bool>(false)
  private let storeIsReadOnly = Atomic<Bool>(false)
  /// Sightings that the store did not take, for the next attempt.
  private let unwritten = Mutex<[PublicSessionID: Date]>([:])
  private let isWritingSoon = Atomic<Bool>(false)
  /// How often everything was forgotten.
  private let invalidationEpoch = Atomic<Int>(0)
  /// How often an account has changed.
  private let accountChanges = Atomic<Int>(0)

  /// What the configuration says about sessions in general.
  private struct Terms {
    var idleTimeout: Duration
    var outageGrace: Int64

    init(_ settings: GatewaySettings) {
      idleTimeout = settings.session.idleTimeout
      outageGrace = max(settings.store.outageGrace, SessionManager.shortestGrace).wallClock
    }
  }

  /// One event loop's gate.
  private struct Site: Sendable {
    let eventLoop: any EventLoop
    let gate: NIOLoopBound<LoopGate>
  }

  /// How long an answer about a cookie without a session, or about a store that is away, is kept.
  private static let absentMemory: Int64 = 5_000
  private static let outageMemory: Int64 = 1_000
  private static let refusedByStore = Int64.min
  private static let longestSightingInterval = Duration.seconds(60)
  private static let mostUnwritten = 100_000

  init(
    store: any SessionStore, settings: GatewaySettings, checks: Revalidator, metrics: MetricsRegistry, logger: Logger,
    clock: @escaping @Sendable () -> Int64 = WallClock.now
  ) {
    self.store = store
    self.checks = checks
    self.metrics = metrics
    self.logger = logger
    self.clock = clock
    terms = Mutex(Terms(settings))
    trustedUntil = Atomic(clock() + max(settings.store.outageGrace, Self.shortestGrace).wallClock)
  }

  func add(_ gate: NIOLoopBound<LoopGate>, on eventLoop: any EventLoop) {
    sites.withLock { $0.append(Site(eventLoop: eventLoop, gate: gate)) }
  }

  func add(_ listener: Listener) { listeners.withLock { $0.append(listener) } }

  /// Goes by other settings from now on.
  func apply(_ settings: GatewaySettings) { terms.withLock { $0 = Terms(settings) } }

  /// After how long without a request a session is over.
  var idleTimeout: Duration { terms.withLock { $0.idleTimeout } }

  /// How often it is written down when sessions were last used, so that what another replica reads is never so old that
  /// it takes a session for idle that is not.
  var sightingInterval: Duration { min(Self.longestSightingInterval, max(idleTimeout / 4, .milliseconds(100))) }

  // MARK: For the gates

  /// Whether what is in memory may be used at `now`: the store has been heard of within the outage grace.
  @inline(__always)
  func isTrusted(at now: Int64) -> Bool { now < trustedUntil.load(ordering: .relaxed) }

  /// Whether a newer version changed the store in a way that this one must not ignore: nobody who is signed in is
  /// served.
  var isRefusedByStore: Bool { trustedUntil.load(ordering: .relaxed) == Self.refusedByStore }

  /// Whether the store did not answer when it was last asked.
  var isStoreAway: Bool { storeIsAway.load(ordering: .relaxed) }

  /// Looks a session up, and has the gate remember what came of it.
  func load(_ proof: SessionCredential, for gate: NIOLoopBound<LoopGate>) async {
    let (before, asked) = (invalidationEpoch.load(ordering: .acquiring), accountChanges.load(ordering: .acquiring))
    let looked = await lookUp(proof.handle)
    try? await gate.eventLoop.submit { [self] in
      // What was read before everything was forgotten may be over: the gate asks again.
      guard invalidationEpoch.load(ordering: .acquiring) == before else { return }
      let known: SessionCache.Known =
        switch looked {
        case .found(let snapshot, let servesUntil): .session(entry(snapshot, servesUntil, proof, gate.value.knowledge))
        case .absent(let until): .absent(until: until)
        case .storeAway(let until): .storeAway(until: until)
        }
      gate.value.memory.insert(known, for: proof.fingerprint, asked: asked)
    }.get()
  }

  private func entry(
    _ snapshot: SessionSnapshot, _ servesUntil: Int64?, _ proof: SessionCredential, _ knowledge: GateConfiguration
  ) -> SessionCacheEntry {
    let entry = SessionCacheEntry(snapshot, proof, knowledge)
    if let servesUntil { entry.standing = .stale(servesUntil: servesUntil) }
    return entry
  }

  /// What became of looking up the session of an exchange under way.
  enum Found: Sendable {
    case session(SessionSnapshot)
    case none
    case storeAway
    /// Everything was forgotten meanwhile: it may be over by now.
    case outOfDate
  }

  /// Looks up the session of an exchange under way, and hands on, on the loop, what came of it.
  func lookUp(
    _ handle: PublicSessionID, _ take: @escaping @Sendable (Found) -> Void, on eventLoop: any EventLoop
  ) async {
    let before = invalidationEpoch.load(ordering: .acquiring)
    let looked = await lookUp(handle)
    try? await eventLoop.submit { [self] in
      guard invalidationEpoch.load(ordering: .acquiring) == before else { return take(.outOfDate) }
      switch looked {
      case .found(let snapshot, _): take(.session(snapshot))
      case .absent: take(.none)
      case .storeAway: take(.storeAway)
      }
    }.get()
  }

  private enum LookUp: Sendable {
    /// - Parameter servesUntil: until when, of what is stale while the store cannot be asked; nil of what is current.
    case found(SessionSnapshot, servesUntil: Int64? = nil)
    case absent(until: Int64)
    case storeAway(until: Int64)
  }

  private func lookUp(_ handle: PublicSessionID) async -> LookUp {
    let now = clock()
    // Nothing that is found now would be trusted: the gate would look it up again and again.
    if isRefusedByStore { return .storeAway(until: now + Self.outageMemory) }
    // What another event loop knows is trusted as much as what this one knows, and nobody waits for the store.
    let remembered = await self.remembered(handle)
    // Nor does anybody for a store that is known not to answer.
    let isAway = storeIsAway.load(ordering: .relaxed)
    if let remembered, remembered.isCurrent || isAway, let known = usable(remembered, at: now) { return known }
    do throws(StoreError) {
      let found = try await store.find(handle)
      storeAnswered(at: now)
      guard let found = found.map({ seen($0, remembered) }), isAlive(found, at: now) else {
        return .absent(until: now + Self.absentMemory)
      }
      return .found(found)
    } catch {
      storeDidNotAnswer("find", error)
      if let remembered = await self.remembered(handle), let known = usable(remembered, at: clock()) { return known }
      return .storeAway(until: now + Self.outageMemory)
    }
  }

  /// What the event loops remember of a session: a user who is signed in goes on whichever loop a connection comes to.
  private func remembered(_ handle: PublicSessionID) async -> RememberedSession? {
    let answers = sites.withLock { $0 }.map { site in
      site.eventLoop.submit { site.gate.value.memory.remembered(handle) }
    }
    var remembered: RememberedSession?
    for answer in answers {
      guard let one = try? await answer.get() else { continue }
      remembered = remembered?.merged(with: one) ?? one
    }
    return remembered
  }

  /// A session that is remembered, as an answer to who asks for it; nil once it is idle or the grace is over.
  private func usable(_ remembered: RememberedSession, at now: Int64) -> LookUp? {
    guard isTrusted(at: now), isAlive(remembered.snapshot, at: now) else { return nil }
    return .found(remembered.snapshot, servesUntil: remembered.isCurrent ? nil : now + Self.outageMemory)
  }

  /// What the store has of a session, with the last use that an event loop has seen and not yet written down.
  private func seen(_ found: SessionSnapshot, _ remembered: RememberedSession?) -> SessionSnapshot {
    remembered.map { found.seen(at: $0.snapshot.session.lastSeen) } ?? found
  }

  private func isAlive(_ snapshot: SessionSnapshot, at now: Int64) -> Bool {
    snapshot.session.isAlive(at: Date(wallClock: now), idleTimeout: idleTimeout)
  }

  /// Has the account checked with Apple, without anybody waiting for it.
  func checkBeside(_ snapshot: SessionSnapshot) {
    guard checks.begin(snapshot.account.subject) else { return }
    startCheck(snapshot)
  }

  /// Makes a check that was begun. It goes on when nobody waits for it any more: the right to make it has been used.
  private func startCheck(_ snapshot: SessionSnapshot) {
    Task {
      await check(snapshot)
      checks.end(snapshot.account.subject)
    }
  }

  /// Has an overdue account checked, waits for a place and for the check for ten seconds at most, and loads the session
  /// anew.
  func checkAndReload(
    _ snapshot: SessionSnapshot, _ proof: SessionCredential, for gate: NIOLoopBound<LoopGate>
  ) async {
    let subject = snapshot.account.subject
    let deadline = ContinuousClock.now + checks.longestWait
    let place = await checks.place(for: subject, by: deadline)
    if place == .begun { startCheck(snapshot) }
    let isOver = place == .none ? false : await checks.waitForEnd(of: subject, by: deadline)
    await load(proof, for: gate)
    let now = clock()
    try? await gate.eventLoop.submit {
      guard case .session(let entry)? = gate.value.memory.find(proof.fingerprint),
        entry.snapshot.session.handle == proof.handle
      else { return }
      let (account, date, schedule) = (entry.snapshot.account, Date(wallClock: now), gate.value.knowledge.schedule)
      if isOver, account.failingSince(at: date) == nil,
        schedule.decision(account: account, now: date) == .blocking
      {
        // The check is over and left no trace: the store did not take the claim. Neither let in nor signed out.
        gate.value.memory.remove(proof.fingerprint)
        gate.value.memory.insert(.storeAway(until: now + Self.outageMemory), for: proof.fingerprint)
      } else {
        // This loop need not wait again, for a while if the account has been asked about, else for a moment.
        let mayAsk = schedule.mayAsk(account: account, now: date)
        entry.waitedUntil = now + (mayAsk ? GateConfiguration.retryInterval : GateConfiguration.evaluationInterval)
      }
    }.get()
  }

  private func check(_ snapshot: SessionSnapshot) async {
    let outcome = await checks.run(snapshot, store: store)
    if !outcome.ended.isEmpty { await forget(outcome.ended) }
    if outcome.accountChanged { await forget(snapshot.account.subject) }
  }

  // MARK: For the control plane

  /// A session with its account; nil if there is none or its time is over.
  func find(_ identifier: SessionIdentifier) async throws(StoreError) -> SessionSnapshot? {
    let found: SessionSnapshot?
    do throws(StoreError) {
      found = try await store.find(identifier.handle)
    } catch {
      storeDidNotAnswer("find", error)
      throw error
    }
    guard let found else { return nil }
    if isAlive(found, at: clock()) { return found }
    let known = seen(found, await remembered(identifier.handle))
    return isAlive(known, at: clock()) ? known : nil
  }

  /// Ends sessions: when this returns, they are dead in the store and on every loop of this process.
  @discardableResult
  func end(_ selection: SessionSelection, because reason: SessionEnding) async throws(StoreError) -> [PublicSessionID] {
    let ended: [PublicSessionID]
    do throws(StoreError) {
      ended = try await store.end(selection, because: reason, at: Date(wallClock: clock()))
    } catch {
      storeFailed("end", error)
      throw error
    }
    for _ in ended { metrics.sessionsEnded.count(reason.label) }
    await forget(ended)
    return ended
  }

  /// Carries out what Apple notified: when this returns, whoever had to go is gone, as with `end`.
  func carryOut(_ notification: AccountNotification) async throws(StoreError) -> NotificationOutcome {
    let outcome: NotificationOutcome
    do throws(StoreError) {
      outcome = try await store.carryOut(notification, at: Date(wallClock: clock()))
    } catch {
      storeFailed("notification", error)
      throw error
    }
    if case .carriedOut(let ended) = outcome {
      await forget(ended)
      await forget(notification.subject)
    }
    return outcome
  }

  /// Sessions have ended: out of every memory, and their connections with them.
  func forget(_ handles: [PublicSessionID]) async {
    guard !handles.isEmpty else { return }
    for site in sites.withLock({ $0 }) {
      try? await site.eventLoop.submit { [clock] in site.gate.value.memory.end(handles, now: clock()) }.get()
    }
    let tags = Set(handles.map(ConnectionKey.init))
    for listener in listeners.withLock({ $0 }) { await listener.endExchanges(of: tags) }
  }

  /// What is known of an account has changed.
  func forget(_ subject: Subject) async {
    let number = accountChanges.add(1, ordering: .acquiringAndReleasing).newValue
    for site in sites.withLock({ $0 }) {
      try? await site.eventLoop.submit { [clock] in
        site.gate.value.memory.markStale(subject, number: number, now: clock())
      }.get()
    }
  }

  /// Sessions remembered on all loops.
  func remembered() async -> Int {
    var count = 0
    for site in sites.withLock({ $0 }) {
      count += (try? await site.eventLoop.submit { site.gate.value.memory.count }.get()) ?? 0
    }
    return count
  }

  // MARK: BackgroundTasks

  /// Hands what the loops have seen to the store.
  func writeSightings() async {
    var latest = unwritten.withLock { unwritten in
      defer { unwritten = [:] }
      return unwritten
    }
    for site in sites.withLock({ $0 }) {
      for sighting in (try? await site.eventLoop.submit { site.gate.value.takeSightings() }.get()) ?? [] {
        latest[sighting.handle] = max(latest[sighting.handle] ?? .distantPast, sighting.seen)
      }
    }
    guard !latest.isEmpty else { return }
    do throws(StoreError) {
      try await store.updateLastSeen(latest.map { LastSeenUpdate(handle: $0.key, seen: $0.value) })
    } catch {
      storeFailed("touch", error)
      unwritten.withLock { unwritten in
        guard unwritten.count + latest.count <= Self.mostUnwritten else { return }
        unwritten.merge(latest, uniquingKeysWith: max)
      }
    }
  }

  /// Hands what the loops have seen to the store without waiting for the next batch.
  func writeSightingsSoon() {
    guard !isWritingSoon.exchange(true, ordering: .acquiringAndReleasing) else { return }
    Task {
      // What is seen from here on wants another write.
      isWritingSoon.store(false, ordering: .releasing)
      await writeSightings()
    }
  }

  /// Follows what ended or changed elsewhere.
  /// - Returns: the cursor to go on from; the old one where the store did not answer.
  func follow(_ cursor: ChangeCursor?) async -> ChangeCursor? {
    var cursor = cursor
    do throws(StoreError) {
      while true {
        let asked = clock()
        let news = try await store.changes(since: cursor, limit: Self.changesAtOnce)
        if isRefusedByStore {
          trustedUntil.store(asked, ordering: .relaxed)
          logger.notice("session store is compatible again, serving signed-in requests")
        }
        storeAnswered(at: asked)
        if news.isIncomplete { try await forgetEverything() }
        var ended: [PublicSessionID] = []
        for change in news.changes {
          switch change {
          case .ended(let handle, _): ended.append(handle)
          case .accountChanged(let subject): await forget(subject)
          }
        }
        await forget(ended)
        cursor = news.cursor
        // As many as were asked for: there are more, and two seconds for all of them.
        if news.changes.count < Self.changesAtOnce { return cursor }
      }
    } catch {
      storeDidNotAnswer("changes", error)
      if error.code == .newerSchema { await endEverything() }
      return cursor
    }
  }

  private static let changesAtOnce = 1_000

  /// The shortest time for which an answer of the store is trusted, whatever `store.outage_grace` says: with none at all
  /// the request that asked could not use the answer, and would ask again without end.
  private static let shortestGrace = Duration.seconds(1)

  /// Too much has changed to be told one by one: every memory is emptied, and of every session that has a connection
  /// under way it is asked whether it still stands.
  private func forgetEverything() async throws(StoreError) {
    invalidationEpoch.add(1, ordering: .releasing)
    for site in sites.withLock({ $0 }) {
      try? await site.eventLoop.submit { site.gate.value.memory.removeAll() }.get()
    }
    var gone: Set<ConnectionKey> = []
    for listener in listeners.withLock({ $0 }) {
      for tag in await listener.sessionsUnderWay() where !gone.contains(tag) {
        if try await store.find(PublicSessionID(tag)) == nil { gone.insert(tag) }
      }
    }
    for listener in listeners.withLock({ $0 }) { await listener.endExchanges(of: gone) }
  }

  /// Ends what is under way for sessions: whether they still stand cannot be told any more.
  private func endEverything() async {
    for listener in listeners.withLock({ $0 }) {
      await listener.endExchanges(of: Set(await listener.sessionsUnderWay()))
    }
  }

  /// The store has answered a question that was asked at `moment`.
  func storeAnswered(at moment: Int64) {
    let until = moment + terms.withLock { $0.outageGrace }
    var before = trustedUntil.load(ordering: .relaxed)
    // A look-up that was answered before the store refused this version brings no trust back: only following does.
    while before != Self.refusedByStore {
      let change = trustedUntil.compareExchange(expected: before, desired: until, ordering: .relaxed)
      if change.exchanged { break }
      before = change.original
    }
    if storeIsAway.exchange(false, ordering: .relaxed) { logger.notice("session store available again") }
  }

  /// The store could be written.
  func storeWrote() {
    if storeIsReadOnly.exchange(false, ordering: .relaxed) { logger.notice("session store writable again") }
  }

  /// The store could not be written, though it may well be read.
  func storeDidNotWrite(_ error: StoreError) {
    metrics.storeFailures.count("ping")
    if error.code == .newerSchema { return storeRefused(error) }
    logReadOnly(error)
  }

  private func logReadOnly(_ error: StoreError) {
    guard !storeIsReadOnly.exchange(true, ordering: .relaxed) else { return }
    logger.error(
      "session store not writable, sign-in and sign-out are unavailable", metadata: ["error": "\(error)"])
  }

  /// The store did not do what it was asked. It may be there all the same.
  func storeFailed(_ operation: String, _ error: StoreError) {
    switch error.code {
    case .unavailable, .denied, .missingDirectory, .newerSchema, .corrupt, .closed:
      storeDidNotAnswer(operation, error)
    case .readOnly, .full:
      metrics.storeFailures.count(operation)
      logReadOnly(error)
    case .interrupted, .busy, .conflict, .internalError:
      metrics.storeFailures.count(operation)
      logger.error(
        "session store operation failed", metadata: ["operation": "\(operation)", "error": "\(error)"])
    }
  }

  /// The store did not answer what it was asked, which is as if it were away.
  func storeDidNotAnswer(_ operation: String, _ error: StoreError) {
    metrics.storeFailures.count(operation)
    if error.code == .newerSchema { return storeRefused(error) }
    if !storeIsAway.exchange(true, ordering: .relaxed) {
      logger.error(
        "session store unavailable, serving cached sessions for store.outage_grace",
        metadata: ["operation": "\(operation)", "error": "\(error)"])
    }
  }

  private func storeRefused(_ error: StoreError) {
    guard trustedUntil.exchange(Self.refusedByStore, ordering: .relaxed) != Self.refusedByStore else { return }
    logger.critical(
      "session store requires a newer version, answering signed-in requests with 503",
      metadata: ["remedy": "\(error.message)"])
  }
}
