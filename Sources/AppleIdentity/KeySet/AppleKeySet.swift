package import FoundationEssentials

/// Apple's public keys, fetched when needed and kept.
///
/// - A known key is used for up to ``Policy/maximumAge``; after that the set is fetched again, and if that fails the
///   old one stays in use: an outage at Apple signs no user out. For ``Policy/failureMemory`` after such a failure no
///   caller waits for another attempt: an Apple that does not answer would hold up each of them until the time-out.
/// - An unknown key identifier leads to a fetch, because keys rotate. Identifiers come from tokens that anybody can
///   write, so a fetch without the requested key is followed by a ``Policy/coolDown``: one for anonymous sources, a
///   shorter one for verified sign-ins. During it, it is unknown whether Apple has such a key
///   (``AppleKeySetError/coolingDown``).
/// - A key that a newer set lacks is used for ``Policy/overlap`` after the first fetch without it: during a rotation,
///   Apple's servers may publish the set before and the set after it in turn.
/// - A caller that asks during a fetch waits for that fetch.
/// - An answer without a single usable key changes nothing.
package actor AppleKeySet {
  /// When to fetch. All in seconds.
  package struct Policy: Sendable {
    /// The pause after a fetch without the key that an anonymous source requested. Default: 60.
    package var coolDown: TimeInterval = 60
    /// The same for verified sources. Default: 10.
    package var coolDownOfVerified: TimeInterval = 10
    /// The same while there are no keys at all, so that no user can sign in. Default: 5.
    package var coolDownWithoutKeys: TimeInterval = 5
    /// The largest number of successful fetches in one cool-down. Default: 4. Limits the fetches if the set alternates.
    package var fetchesPerCoolDown = 4
    /// The age at which a set is fetched again. Default: 24 h.
    package var maximumAge: TimeInterval = 86_400
    /// The time after a failed fetch during which a known key of an old set is used at once, and the set is fetched
    /// beside that. Default: 600. Longer than a cool-down, and short to the age of a set.
    package var failureMemory: TimeInterval = 600
    /// The time for which a key is used after the first fetch without it. Default: 600.
    package var overlap: TimeInterval = 600

    /// The defaults.
    package init() {}
  }

  /// The fetches of one source.
  private struct Budget {
    var fruitfulFetches: [Date] = []
    /// The cool-down during which nothing is fetched for the source.
    var cooling: (began: Date, length: TimeInterval)?
  }

  /// A key that the current set lacks.
  private struct WithdrawnKey {
    let key: AppleKey
    /// The time of the first fetch without it.
    let since: Date
  }

  private let origin: AppleOrigin
  private let transport: AppleTransport
  private let clock: AppleClock
  private let policy: Policy

  /// The keys of the current set.
  private var keys: [String: AppleKey] = [:]
  /// The keys of earlier sets whose overlap was not over at the last fetch. At most as many as a set may have.
  private var withdrawnKeys: [String: WithdrawnKey] = [:]
  private var fetchedAt: Date?
  private var budgets: [TokenSource: Budget] = [:]
  private var lastProblem: AppleKeySetError?
  /// The time of the last fetch, if it has failed.
  private var failedAt: Date?
  private var fetchUnderWay: Task<Void, Never>?

  init(origin: AppleOrigin, transport: @escaping AppleTransport, clock: @escaping AppleClock, policy: Policy) {
    self.origin = origin
    self.transport = transport
    self.clock = clock
    self.policy = policy
  }

  private init(_ other: isolated AppleKeySet, transport: @escaping AppleTransport) {
    origin = other.origin
    self.transport = transport
    clock = other.clock
    policy = other.policy
    keys = other.keys
    withdrawnKeys = other.withdrawnKeys
    fetchedAt = other.fetchedAt
    budgets = other.budgets
    lastProblem = other.lastProblem
    failedAt = other.failedAt
  }

  /// The same set with everything that was fetched, and with another transport from now on: certificates that it trusts
  /// may have changed, or the proxy.
  package func reached(by transport: @escaping AppleTransport) -> AppleKeySet {
    AppleKeySet(self, transport: transport)
  }

  /// Fetches the set unconditionally: for `doctor`, and for a start with warm keys.
  /// - Returns: the identifiers of the usable keys and Apple's `Date`.
  @discardableResult
  package func fetchNow() async throws(AppleKeySetError) -> KeySetReport {
    let (fetched, date) = try await download()
    accept(fetched, at: clock())
    return KeySetReport(keyIdentifiers: keys.keys.sorted(), date: date)
  }

  /// The key with an identifier.
  func key(_ identifier: String, for source: TokenSource = .anonymous) async throws(AppleKeySetError) -> AppleKey {
    if let key = usableKey(identifier) {
      if isFresh { return key }
      if hasJustFailed {
        if fetchUnderWay == nil, mayFetch(for: source) { beginFetch(for: identifier, source) }
        return key
      }
    }
    var hasLooked = false
    // Of several callers that a fetch has not helped, one starts the next, and the others wait for that as well.
    var waits = 0
    while let fetchUnderWay, waits < 2, usableKey(identifier) == nil || !isFresh {
      await fetchUnderWay.value
      waits += 1
      hasLooked = true
    }
    if usableKey(identifier) == nil || !isFresh, fetchUnderWay == nil, mayFetch(for: source) {
      await beginFetch(for: identifier, source).value
      hasLooked = true
    }
    if let key = usableKey(identifier) { return key }
    // If the last fetch failed, or preceded this request, it is unknown whether Apple has such a key by now.
    throw lastProblem ?? (hasLooked ? .unknownKey : .coolingDown)
  }

  /// The key with an identifier, of the current set or of one shortly before.
  private func usableKey(_ identifier: String) -> AppleKey? {
    if let key = keys[identifier] { return key }
    guard let withdrawn = withdrawnKeys[identifier] else { return nil }
    return Self.isWithin(policy.overlap, of: withdrawn.since, clock()) ? withdrawn.key : nil
  }

  private var isFresh: Bool {
    guard let fetchedAt else { return false }
    // A clock that was set back to before the fetch makes the set as good as new.
    return clock() < fetchedAt.addingTimeInterval(policy.maximumAge)
  }

  private var hasJustFailed: Bool {
    guard let failedAt else { return false }
    return Self.isWithin(policy.failureMemory, of: failedAt, clock())
  }

  private func mayFetch(for source: TokenSource) -> Bool {
    let now = clock()
    guard var budget = budgets[source] else { return true }
    if let cooling = budget.cooling, Self.isWithin(cooling.length, of: cooling.began, now) { return false }
    budget.fruitfulFetches.removeAll { !Self.isWithin(policy.coolDown, of: $0, now) }
    budgets[source] = budget
    return budget.fruitfulFetches.count < policy.fetchesPerCoolDown
  }

  private func coolDown(of source: TokenSource) -> TimeInterval {
    source == .anonymous ? policy.coolDown : policy.coolDownOfVerified
  }

  /// False after the clock was set back, so that a cool-down cannot last for days.
  private static func isWithin(_ length: TimeInterval, of began: Date, _ now: Date) -> Bool {
    now >= began && now < began.addingTimeInterval(length)
  }

  @discardableResult
  private func beginFetch(for identifier: String, _ source: TokenSource) -> Task<Void, Never> {
    let task = Task { await self.fetchAndRecord(for: identifier, source) }
    fetchUnderWay = task
    return task
  }

  /// Runs in its own task, so that a caller that is cancelled does not cancel it for the others.
  private func fetchAndRecord(for identifier: String, _ source: TokenSource) async {
    do throws(AppleKeySetError) {
      let (fetched, _) = try await download()
      accept(fetched, at: clock())
      if usableKey(identifier) == nil {
        budgets[source, default: Budget()].cooling = (clock(), coolDown(of: source))
      } else {
        budgets[source, default: Budget()].fruitfulFetches.append(clock())
      }
    } catch {
      lastProblem = error
      failedAt = clock()
      let length = keys.isEmpty ? policy.coolDownWithoutKeys : coolDown(of: source)
      budgets[source, default: Budget()].cooling = (clock(), length)
    }
    fetchUnderWay = nil
  }

  private func accept(_ fetched: [String: AppleKey], at now: Date) {
    withdraw(keysMissingFrom: fetched, at: now)
    keys = fetched
    fetchedAt = now
    lastProblem = nil
    failedAt = nil
  }

  /// Keeps the keys that `fetched` lacks for the rest of their overlap. Of a key that is published again, with whatever
  /// content, only the published one counts.
  private func withdraw(keysMissingFrom fetched: [String: AppleKey], at now: Date) {
    var missing = withdrawnKeys
    for (identifier, key) in keys { missing[identifier] = WithdrawnKey(key: key, since: now) }
    let recent = missing.filter { identifier, withdrawn in
      fetched[identifier] == nil && Self.isWithin(policy.overlap, of: withdrawn.since, now)
    }
    let latestFirst = recent.sorted { $0.value.since > $1.value.since }
    withdrawnKeys = [:]
    for (identifier, withdrawn) in latestFirst.prefix(KeySetDocument.maximumKeys) {
      withdrawnKeys[identifier] = withdrawn
    }
  }

  private func download() async throws(AppleKeySetError) -> (keys: [String: AppleKey], date: String?) {
    let response: AppleHTTPResponse
    do throws(AppleTransportError) {
      response = try await transport(origin.get("/auth/keys"))
    } catch {
      throw .unreachable(error)
    }
    guard response.status == 200 else { throw .status(response.status) }
    return (try KeySetDocument.keys(of: response.body), response.date)
  }
}
