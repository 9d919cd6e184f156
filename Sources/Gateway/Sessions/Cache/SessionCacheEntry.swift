internal import AccessPolicy
internal import DataPlane
internal import FoundationEssentials
internal import IdentityAssertion
internal import Pages
internal import Sessions

/// A session in the cache of one event loop, with all values that its requests need, precomputed.
final class SessionCacheEntry {
  private(set) var snapshot: SessionSnapshot
  /// The machine token that the entry is of; nil for the session of a user.
  let machineToken: MachineToken?
  /// Whether it is of a machine token. By its case: a comparison with nil copies the token.
  var isOfMachineToken: Bool { if case .some = machineToken { true } else { false } }
  /// The scope of the client's credential.
  let scope: CookieScope
  /// The serialized identity headers, with the assertion.
  var identity: CachedIdentity
  /// The user's access by the configuration that last asked.
  private var access: UserAccess
  /// The user's request for access, as the store last had it, and the period in which it is not looked up again.
  private(set) var accessRequest: (state: AccessRequestState, known: Period)?
  /// The decisions of rules on the user under one configuration.
  private var decisions = AccessDecisionCache()
  /// The session cookies of applications bound to the account, by upstream, under one configuration.
  private var bindings: (generation: Int, byUpstream: [Int: CookieBinding]) = (0, [:])
  /// The key by which the connections of the session are found.
  let connectionKey: ConnectionKey
  /// The pseudonym of the user in logs (`SessionKeyring.pseudonym(of:)`), as a number.
  private(set) var user: UInt64?
  /// The configuration that these were computed with: `SessionConfiguration.generation`.
  private(set) var generation: Int
  /// Whether the current key signed the client's credential; otherwise it is issued again.
  private(set) var isSignedByCurrentKey: Bool
  /// The key that signed it.
  private(set) var key: KeyIdentifier
  /// The time of the sign-in.
  let began: Int64
  /// Whether the latest sign-in left no refresh token.
  private let isTokenDiscarded: Bool
  /// The end of the session's lifetime.
  let endsAt: Int64
  var lastSeen: LastSeen
  var revalidation = CachedRevalidation()
  var validity = Validity.current
  /// The period in which the store is not asked for the session again: it did not answer.
  var notAsked = Period.none
  /// The approximate size in bytes, with its cache slot and its texts.
  let footprint: Int

  /// The size of the bound cookies of one upstream.
  private static let bindingBytes = 512

  /// The size of an entry of an ordinary account, measured: see Documentation/SCALING.md.
  private static let ownBytes = 1_600

  /// - Parameter credential: if another configuration verified it, it is verified again before the entry is used.
  convenience init(_ snapshot: SessionSnapshot, _ credential: SessionCredential, _ configuration: SessionConfiguration)
  {
    self.init(
      snapshot, scope: credential.scope, isSignedByCurrentKey: credential.isSignedByCurrentKey, key: credential.key,
      generation: credential.generation, configuration)
  }

  init(
    _ snapshot: SessionSnapshot, machineToken: MachineToken? = nil, scope: CookieScope = .publicURL,
    isSignedByCurrentKey: Bool, key: KeyIdentifier, generation: Int, _ configuration: SessionConfiguration
  ) {
    self.scope = scope
    self.isSignedByCurrentKey = isSignedByCurrentKey
    self.key = key
    let (session, account) = (snapshot.session, snapshot.account)
    self.snapshot = snapshot
    self.machineToken = machineToken
    self.generation = generation
    access = UserAccess(snapshot, configuration)
    identity = CachedIdentity(Self.fields(of: snapshot, access, configuration))
    user = Self.user(of: snapshot, configuration)
    connectionKey = ConnectionKey(session.handle)
    began = session.began.wallClock
    isTokenDiscarded = account.access.isTokenDiscarded
    endsAt = session.ends.wallClock
    // A damaged row may hold any number: sums with it must not overflow.
    lastSeen = LastSeen(stored: min(session.lastSeen.wallClock, .max / 2))
    footprint =
      Self.ownBytes + identity.footprint(upstreams: configuration.upstreamIdentities.count) + account.textBytes
      + configuration.endCookies.count * Self.bindingBytes
  }

  /// Computes again the values that depend on the configuration.
  func render(_ configuration: SessionConfiguration, isSignedByCurrentKey: Bool, key: KeyIdentifier) {
    generation = configuration.generation
    self.isSignedByCurrentKey = isSignedByCurrentKey
    self.key = key
    updateAccess(by: configuration)
    identity = CachedIdentity(Self.fields(of: snapshot, access, configuration))
    user = Self.user(of: snapshot, configuration)
  }

  /// The user's access by a configuration. Computed once for each.
  @inline(__always)
  private func userAccess(by configuration: SessionConfiguration) -> UserAccess {
    if access.generation != configuration.generation { updateAccess(by: configuration) }
    return access
  }

  private func updateAccess(by configuration: SessionConfiguration) {
    guard access.generation != configuration.generation else { return }
    let wasAdmitted = access.isAdmittedAnywhere
    access = UserAccess(snapshot, configuration)
    revalidation.noteAccess(isAdmitted: access.isAdmittedAnywhere, wasAdmitted: wasAdmitted)
  }

  /// The names of the user's groups, sorted.
  func groups(_ configuration: SessionConfiguration) -> [String] { userAccess(by: configuration).groups }

  /// Whether a public route treats the user as anonymous.
  @inline(__always)
  func isNobody(on route: RouteDecision, _ configuration: SessionConfiguration) -> Bool {
    if access.generation != configuration.generation { updateAccess(by: configuration) }
    return access.isDenied || !route.denials.isEmpty && decision(of: route.denials, configuration) != .allowed
  }

  /// Whether the account is revalidated: not while no route but public ones admits the user, nor if the latest sign-in
  /// left no refresh token.
  func isRevalidated(_ configuration: SessionConfiguration) -> Bool {
    if isTokenDiscarded { return false }
    return userAccess(by: configuration).isAdmittedAnywhere
  }

  /// Whether the user, who is admitted, has to sign in again: the sign-in is too old, or left no refresh token.
  /// - Parameters:
  ///   - maxAge: in seconds; 0 for none.
  ///   - now: in milliseconds since 1970.
  @inline(__always)
  func mustSignInAgain(maxAge: Int, at now: @autoclosure () -> Int64) -> Bool {
    guard !isTokenDiscarded, maxAge > 0 else { return isTokenDiscarded }
    let age = now() &- began
    return age >= Int64(maxAge) &* 1_000 || age < -Self.clockTolerance
  }

  /// See `Session.isRecent(_:at:)`; in milliseconds.
  private static let clockTolerance = Session.clockTolerance.milliseconds

  /// Applies the changes of a revalidation to the account.
  /// - Returns: false, without any effect, if the entry is not current, or if anything else of the account is
  ///   different: then one of the two is outdated, and only the store knows which.
  func renew(_ account: Account, _ configuration: SessionConfiguration) -> Bool {
    guard validity == .current, account.differsOnlyByRevalidation(from: snapshot.account) else { return false }
    let hasTokenClaims = account.claims != snapshot.account.claims
    snapshot = SessionSnapshot(session: snapshot.session, account: account)
    revalidation.noteResult()
    // No rule may require them, but headers can contain them. After a reload everything is rendered on the next use.
    if hasTokenClaims, generation == configuration.generation {
      let fields = Self.fields(of: snapshot, userAccess(by: configuration), configuration)
      identity.replace(fields)
    }
    return true
  }

  /// Notes that the account needs no revalidation now; only counts where a route that is not public admits the user.
  func noteOnSchedule() { revalidation.noteOnSchedule(isAdmitted: access.isAdmittedAnywhere) }

  /// Takes the last use to be written to the store, which ends its wait in the queue; nil if the store has it.
  func takeLastSeenUpdate() -> LastSeenUpdate? {
    lastSeen.takeUnwritten().map {
      LastSeenUpdate(handle: snapshot.session.handle, seen: Date(millisecondsSince1970: $0))
    }
  }

  /// Caches the user's request for access.
  func take(_ state: AccessRequestState, for period: Period) { accessRequest = (state, period) }

  /// The decision of rules on the user, each of which must admit the user; of several denials, the first.
  func decision(of rules: RuleIndexes, _ configuration: SessionConfiguration) -> AccessDecision {
    for position in 0..<rules.count {
      let decision = decision(of: rules[position], configuration)
      if decision != .allowed { return decision }
    }
    return .allowed
  }

  /// The decision of one rule on the user.
  /// - Parameter rule: its place among `SessionConfiguration.rules`.
  func decision(of rule: Int, _ configuration: SessionConfiguration) -> AccessDecision {
    if let known = decisions.find(rule, generation: configuration.generation) { return known }
    let decision = configuration.policy.evaluate(
      userAccess(by: configuration).principal, of: snapshot, by: configuration.rules[rule])
    decisions.remember(decision, of: rule, generation: configuration.generation)
    return decision
  }

  /// The session cookies of an upstream, bound to the account; nil if it has none.
  func binding(on upstream: Int, _ configuration: SessionConfiguration) -> CookieBinding? {
    if configuration.endCookies.isEmpty { return nil }
    if bindings.generation != configuration.generation { bindings = (configuration.generation, [:]) }
    if let known = bindings.byUpstream[upstream] { return known }
    let binding = configuration.endCookies.binding(of: snapshot.account.subject, on: upstream)
    bindings.byUpstream[upstream] = binding
    return binding
  }

  private static func fields(
    of snapshot: SessionSnapshot, _ user: UserAccess, _ configuration: SessionConfiguration
  ) -> [(name: String, value: [UInt8])] {
    IdentityHeaders.render(
      account: snapshot.account, session: snapshot.session, groups: user.groups, settings: configuration.identity
    ) { configuration.upstreamIdentities.omissions.note($0, of: nil, $1) }
  }

  /// The serialized identity headers for an upstream: rendered once for an upstream with headers of its own.
  @inline(__always)
  func identity(for upstream: Int, _ configuration: SessionConfiguration) -> SerializedIdentityHeaders {
    guard let own = configuration.upstreamIdentities[upstream] else { return identity.headers }
    return identity.headers(of: upstream) ?? render(own, upstream, configuration)
  }

  @inline(never)
  private func render(
    _ own: UpstreamIdentity, _ upstream: Int, _ configuration: SessionConfiguration
  ) -> SerializedIdentityHeaders {
    let user = userAccess(by: configuration)
    let claims = ClaimSource(
      account: snapshot.account, session: snapshot.session, groups: user.groups,
      allowsUnverifiedEmail: configuration.identity.allowUnverifiedEmail)
    let fields = own.fields(
      Self.fields(of: snapshot, user, configuration), claims, encoding: configuration.identity.encoding,
      configuration.upstreamIdentities.omissions)
    return identity.add(fields, for: upstream)
  }

  private static func user(of snapshot: SessionSnapshot, _ configuration: SessionConfiguration) -> UInt64? {
    UInt64(configuration.keyring.pseudonym(of: snapshot.account.subject), radix: 16)
  }

  /// Stores a new assertion; nil if it could not be signed: then requests have none for a moment.
  /// - Parameter made: the generation of the configuration that it was made with; an earlier one is ignored.
  func take(_ signed: SignedAssertion?, by made: Int, now: Int64) {
    if made == generation { identity.take(signed, now: now) }
  }
}

extension SessionCacheEntry {
  /// The validity of an entry.
  enum Validity: Equatable {
    case current
    /// The account has changed: it is looked up again. If the store was unavailable, the entry serves in this period.
    case stale(serves: Period)
    /// The session has ended, or another entry has replaced this one. An entry is never revived.
    case ended
  }

  @inline(__always)
  func serves(at now: Int64) -> Bool {
    switch validity {
    case .current: true
    case .stale(let period): period.contains(now)
    case .ended: false
    }
  }
}

extension PublicSessionID {
  /// The session of a connection key.
  init(_ key: ConnectionKey) { self.init(high: key.high, low: key.low) }
}

extension ConnectionKey {
  /// The key by which connections of a session are found.
  init(_ handle: PublicSessionID) { self.init(high: handle.high, low: handle.low) }
}

extension Account {
  /// The size of texts from outside, doubled to account for the values computed from them.
  fileprivate var textBytes: Int {
    let claimed =
      [claims.email, claims.organizationID, claims.transferSubject].compactMap(\.self) + (claims.scopes ?? [])
    let names = [name?.given, name?.family, name?.display].compactMap(\.self)
    let others = claims.other.reduce(0) { $0 + 96 + $1.key.utf8.count + $1.value.headerText.utf8.count }
    return 2 * (claimed + names).reduce(0) { $0 + $1.utf8.count } + others
  }
}
