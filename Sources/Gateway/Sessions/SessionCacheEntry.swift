internal import AccessPolicy
internal import DataPlane
internal import FoundationEssentials
internal import IdentityAssertion
internal import Sessions

/// A session in the cache of one event loop: everything that its requests need, computed beforehand.
final class SessionCacheEntry {
  let snapshot: SessionSnapshot
  /// The machine token that the entry is of; nil for the session of a user.
  let machineToken: MachineToken?
  /// The header lines that tell the upstream who this is, the assertion among them.
  private(set) var identity: SerializedIdentityHeaders
  /// The same without the assertion.
  private var unsigned: SerializedIdentityHeaders
  /// The value of `X-Identity-Assertion`; nil if none is sent, or before the first was made.
  private(set) var assertion: String?
  /// The time from which another assertion is requested, and the time until which this one may be sent.
  var assertionRenewsAt: Int64 = 0
  private(set) var assertionEndsAt: Int64 = 0
  /// The user as rules ask about one.
  private let applicant: Principal
  /// The verdicts of rules on the user under one configuration.
  private var verdicts = VerdictCache()
  let tag: ConnectionKey
  /// The pseudonym of the user in logs (`SessionKeyring.pseudonym(of:)`), as a number.
  private(set) var user: UInt64?
  /// The configuration that these were computed with: `SessionConfiguration.generation`.
  private(set) var generation: Int
  /// Whether the current key signed the client's credential; otherwise it is issued again.
  private(set) var isSignedByFirstKey: Bool
  /// The key that signed it.
  private(set) var key: KeyIdentifier
  /// The end of the session's lifetime.
  let endsAt: Int64
  /// The last use on this loop, or before, as the store had it.
  var lastSeen: Int64
  /// The last use that was written to the store.
  var lastWritten: Int64
  /// Whether it is among the sessions whose last use is to be written.
  var isNoted = false
  /// The next time to evaluate the revalidation schedule.
  var evaluateAt: Int64 = 0
  /// Until when no request waits again for an overdue revalidation.
  var waitedUntil: Int64 = 0
  var standing = Standing.current
  /// The approximate size in bytes: its own, its place among the sessions, and that of its texts.
  let footprint: Int

  /// Measured, with what an ordinary account brings: see Documentation/SCALING.md.
  private static let ownBytes = 1_600

  /// - Parameter credential: if another configuration verified it, it is verified again before the entry is used.
  convenience init(_ snapshot: SessionSnapshot, _ credential: SessionCredential, _ configuration: SessionConfiguration)
  {
    self.init(
      snapshot, isSignedByFirstKey: credential.isSignedByFirstKey, key: credential.key,
      generation: credential.generation, configuration)
  }

  init(
    _ snapshot: SessionSnapshot, machineToken: MachineToken? = nil, isSignedByFirstKey: Bool, key: KeyIdentifier,
    generation: Int,
    _ configuration: SessionConfiguration
  ) {
    self.isSignedByFirstKey = isSignedByFirstKey
    self.key = key
    let (session, account) = (snapshot.session, snapshot.account)
    self.snapshot = snapshot
    self.machineToken = machineToken
    self.generation = generation
    unsigned = Self.identity(of: snapshot, configuration)
    identity = unsigned
    user = Self.user(of: snapshot, configuration)
    applicant = Principal(
      subject: account.subject.text, email: account.claims.email,
      isEmailVerified: account.claims.emailVerified ?? false, isPrivateEmail: account.claims.isPrivateEmail ?? false,
      organization: account.claims.organizationID)
    tag = ConnectionKey(session.handle)
    endsAt = session.ends.wallClock
    lastSeen = session.lastSeen.wallClock
    lastWritten = lastSeen
    footprint = Self.ownBytes + self.identity.lines.count + account.textBytes
  }

  /// Computes again the values that depend on the configuration.
  func render(_ configuration: SessionConfiguration, isSignedByFirstKey: Bool, key: KeyIdentifier) {
    generation = configuration.generation
    self.isSignedByFirstKey = isSignedByFirstKey
    self.key = key
    unsigned = Self.identity(of: snapshot, configuration)
    identity = unsigned
    user = Self.user(of: snapshot, configuration)
    assertion = nil
    assertionRenewsAt = 0
    assertionEndsAt = 0
  }

  /// The verdict of rules on the user, each of which must admit the user; of several denials, the first.
  func verdict(of rules: RuleIndexes, _ configuration: SessionConfiguration) -> RuleVerdict {
    for position in 0..<rules.count {
      let rule = rules[position]
      let verdict: RuleVerdict
      if let known = verdicts.find(rule, generation: configuration.generation) {
        verdict = known
      } else {
        verdict = judge(by: configuration.rules[rule], configuration)
        verdicts.remember(verdict, of: rule, generation: configuration.generation)
      }
      if verdict != .allowed { return verdict }
    }
    return .allowed
  }

  private func judge(by rules: AccessRules, _ configuration: SessionConfiguration) -> RuleVerdict {
    rules.judge(applicant, requiresVerifiedEmail: !configuration.identity.allowUnverifiedEmail) { claim in
      if claim.utf8.elementsEqual("scopes".utf8) { return snapshot.account.claims.scopes ?? [] }
      let said = IdentityHeaders.claim(
        claim, account: snapshot.account, session: snapshot.session, allowUnverifiedEmail: false)
      return said.map { [$0] } ?? []
    }
  }

  private static func identity(of snapshot: SessionSnapshot, _ configuration: SessionConfiguration)
    -> SerializedIdentityHeaders
  {
    SerializedIdentityHeaders(
      IdentityHeaders.render(account: snapshot.account, session: snapshot.session, settings: configuration.identity))
  }

  private static func user(of snapshot: SessionSnapshot, _ configuration: SessionConfiguration) -> UInt64? {
    UInt64(configuration.keyring.pseudonym(of: snapshot.account.subject), radix: 16)
  }

  /// Stores a new assertion; nil if it could not be signed: then requests go without one for a moment.
  /// - Parameter made: the generation of the configuration that it was made with; an earlier one is ignored.
  func take(_ signed: SignedAssertion?, by made: Int, now: Int64) {
    guard made == generation else { return }
    assertion = signed?.token
    guard let signed else {
      identity = unsigned
      assertionRenewsAt = now + Self.signingPause
      assertionEndsAt = assertionRenewsAt
      return
    }
    identity = unsigned.adding([(name: SessionAssertions.headerName, value: Array(signed.token.utf8))])
    // Never in the past: a clock that jumps must not make a request wait over and over.
    assertionRenewsAt = max(
      signed.made.addingTimeInterval(AssertionMint.renewal).wallClock, now + Self.signingPause)
    assertionEndsAt = max(
      signed.expires.addingTimeInterval(-AssertionMint.remainder).wallClock, now + Self.signingPause)
  }

  /// The pause after a signature, or after a failure to sign.
  private static let signingPause: Int64 = 1_000
}

extension SessionCacheEntry {
  /// Whether an entry may be used.
  enum Standing: Equatable {
    case current
    /// The account has changed: it is looked up again. If the store was unavailable, the entry serves until this
    /// moment.
    case stale(servesUntil: Int64)
    /// The session has ended, or another entry has replaced this one. An entry is never revived.
    case ended
  }

  @inline(__always)
  func serves(at now: Int64) -> Bool {
    switch standing {
    case .current: true
    case .stale(let servesUntil): now < servesUntil
    case .ended: false
    }
  }
}

/// A verified cookie or bearer token.
struct SessionCredential: Sendable {
  /// Its session.
  let handle: PublicSessionID
  let fingerprint: CookieFingerprint
  let isSignedByFirstKey: Bool
  /// The secret that signed it.
  let key: KeyIdentifier
  /// The configuration that verified it: `SessionConfiguration.generation`.
  let generation: Int
}

extension PublicSessionID {
  /// The session of a connection key.
  init(_ tag: ConnectionKey) { self.init(high: tag.high, low: tag.low) }
}

extension ConnectionKey {
  /// The key by which connections of a session are found.
  init(_ handle: PublicSessionID) {
    let bytes = handle.bytes
    self.init(
      high: bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }, low: bytes[8...].reduce(0) { $0 << 8 | UInt64($1) })
  }
}

extension Account {
  /// The size of texts that come from outside, doubled for the values computed from them.
  fileprivate var textBytes: Int {
    let claimed =
      [claims.email, claims.organizationID, claims.transferSubject].compactMap(\.self) + (claims.scopes ?? [])
    let names = [name?.given, name?.family, name?.display].compactMap(\.self)
    let others = claims.other.reduce(0) { $0 + 96 + $1.key.utf8.count + $1.value.headerText.utf8.count }
    return 2 * (claimed + names).reduce(0) { $0 + $1.utf8.count } + others
  }
}
