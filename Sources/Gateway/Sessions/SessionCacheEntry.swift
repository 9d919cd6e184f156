internal import AccessPolicy
internal import DataPlane
internal import FoundationEssentials
internal import IdentityAssertion
internal import Sessions

/// A session as one event loop remembers it: all that a request of it needs, worked out beforehand.
final class SessionCacheEntry {
  let snapshot: SessionSnapshot
  /// The header lines that tell the upstream who this is, the assertion among them.
  private(set) var identity: SerializedIdentityHeaders
  /// The same without the assertion.
  private var unsigned: SerializedIdentityHeaders
  /// What is sent as `X-Identity-Assertion`; nil where nothing is, or before the first was made.
  private(set) var assertion: String?
  /// From when another assertion is asked for, and until when the present one may be sent.
  var assertionRenewsAt: Int64 = 0
  private(set) var assertionEndsAt: Int64 = 0
  /// The user as rules ask about one.
  private let applicant: Principal
  /// What rules have said of the user under one configuration.
  private var verdicts = VerdictCache()
  let tag: ConnectionKey
  /// What logs call the user: the pseudonym of `SessionKeyring.pseudonym(of:)` as a number.
  private(set) var user: UInt64?
  /// Which configuration these were worked out by: `SessionConfiguration.generation`.
  private(set) var generation: Int
  /// Whether the newest secret signed what the client proves it with; otherwise that is given anew.
  private(set) var isSignedByFirstKey: Bool
  /// The secret that did.
  private(set) var key: KeyIdentifier
  /// When the session ends, whatever happens.
  let endsAt: Int64
  /// When this loop last saw it, or the store did before.
  var lastSeen: Int64
  /// The last use of it that the store knows of, or was told.
  var lastWritten: Int64
  /// Whether it is among those that the loop has seen and that are to be written down.
  var isNoted = false
  /// Until when nothing need be asked about the daily check.
  var evaluateAt: Int64 = 0
  /// Until when an overdue check is not waited for again.
  var waitedUntil: Int64 = 0
  var standing = Standing.current
  /// About how many bytes it takes: its own and its place among the sessions, and what its texts take beside.
  let footprint: Int

  /// Measured, with what an ordinary account brings: see Documentation/SCALING.md.
  private static let ownBytes = 1_600

  /// - Parameter credential: what the session was found by; by another configuration than this one it is judged again.
  convenience init(_ snapshot: SessionSnapshot, _ credential: SessionCredential, _ configuration: SessionConfiguration)
  {
    self.init(
      snapshot, isSignedByFirstKey: credential.isSignedByFirstKey, key: credential.key,
      generation: credential.generation, configuration)
  }

  init(
    _ snapshot: SessionSnapshot, isSignedByFirstKey: Bool, key: KeyIdentifier, generation: Int,
    _ configuration: SessionConfiguration
  ) {
    self.isSignedByFirstKey = isSignedByFirstKey
    self.key = key
    let (session, account) = (snapshot.session, snapshot.account)
    self.snapshot = snapshot
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

  /// Works out anew what depends on the configuration.
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

  /// What rules say of the user, each of which must let the user in; of several that do not, the first one's reason.
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

  /// An assertion was made, or could not be: then requests go without one for a moment.
  /// - Parameter made: the generation of the configuration that it was made by: one of an earlier goes nowhere.
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

  /// How long nothing is signed after it failed, or after it was just done.
  private static let signingPause: Int64 = 1_000
}

extension SessionCacheEntry {
  /// Whether an entry may be used.
  enum Standing: Equatable {
    case current
    /// The account has changed: it is looked up again. Where the store could not be asked, the entry serves until this
    /// moment.
    case stale(servesUntil: Int64)
    /// The session has ended, or another entry has its place. An entry never comes back.
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

/// A cookie or bearer token that was verified, as an event loop remembers it.
struct SessionCredential: Sendable {
  /// The session that it proves.
  let handle: PublicSessionID
  let fingerprint: CookieFingerprint
  let isSignedByFirstKey: Bool
  /// The secret that signed it.
  let key: KeyIdentifier
  /// By which configuration's secrets: `SessionConfiguration.generation`.
  let generation: Int
}

extension PublicSessionID {
  /// The session that a tag names.
  init(_ tag: ConnectionKey) { self.init(high: tag.high, low: tag.low) }
}

extension ConnectionKey {
  /// The tag by which connections of a session are found.
  init(_ handle: PublicSessionID) {
    let bytes = handle.bytes
    self.init(
      high: bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }, low: bytes[8...].reduce(0) { $0 << 8 | UInt64($1) })
  }
}

extension Account {
  /// What the texts take that somebody outside has made up, twice for what is worked out of them.
  fileprivate var textBytes: Int {
    let claimed =
      [claims.email, claims.organizationID, claims.transferSubject].compactMap(\.self) + (claims.scopes ?? [])
    let names = [name?.given, name?.family, name?.display].compactMap(\.self)
    let others = claims.other.reduce(0) { $0 + 96 + $1.key.utf8.count + $1.value.headerText.utf8.count }
    return 2 * (claimed + names).reduce(0) { $0 + $1.utf8.count } + others
  }
}
