import FoundationEssentials
import Sessions
import Synchronization

/// A store in memory, as far as gates, sessions and revalidations need one; the rest is away. It can be away as a
/// whole.
final class MemoryStore: SessionStore {
  struct State {
    var isAway = false
    /// The errors of operations that fail, by their names.
    var failures: [String: StoreError] = [:]
    /// The errors of operations that fail once.
    var nextFailures: [String: StoreError] = [:]
    /// Runs before each failure of a store that is away.
    var beforeFailure: (@Sendable () -> Void)?
    /// Whether a newer version has changed it.
    var isTooNew = false
    var sessions: [PublicSessionID: Session] = [:]
    var accounts: [Subject: Account] = [:]
    /// Users whose accounts lists show as damaged, with or without an account.
    var damaged: Set<Subject> = []
    /// Invitations that lists show as damaged.
    var damagedInvitations: Set<String> = []
    var tokens: [Subject: StoredToken] = [:]
    /// Second tokens, of another client.
    var otherTokens: [Subject: StoredToken] = [:]
    var changes: [StoreChange] = []
    var bans: [Subject: Ban] = [:]
    var members: [GroupName: Set<Subject>] = [:]
    var requests: [Subject: AccessRequest] = [:]
    var invitations: [[UInt8]: Invitation] = [:]
    var invitationUses: [String: Set<Subject>] = [:]
    var machineTokens: [GroupName: MachineToken] = [:]
    var replayGuards: Set<ReplayGuard> = []
    var pendingNames: [Subject: PersonName] = [:]
    /// The users of transfer identifiers.
    var transfers: [PreparedTransfer: Subject] = [:]
    /// The subjects that users have moved to, by the ones before.
    var moves: [Subject: Subject] = [:]
    /// Users whose subject is not listed, but their transfer identifier.
    var deleted: Set<Subject> = []
    /// Users whose account is deleted right before it is moved.
    var deletedMeanwhile: Set<Subject> = []
    /// The last subject of each call of `namedUsers`.
    var namedThrough: [Subject?] = []
    var gap = StoreChanges.Gap.none
    var lastSeenUpdates: [LastSeenUpdate] = []
    /// The error of each write of last-seen updates; nil if they succeed.
    var lastSeenFailure: StoreError?
    var lastSeenWrites = 0
    /// Runs before the result of each write of last-seen updates.
    var beforeLastSeenResult: (@Sendable () async -> Void)?
    /// The size of a write-ahead log, as of a store in SQLite.
    var logBytes: Int?
    var lookUps = 0
    var leases = 0
    var refusedLeases = 0
    var answers: [RevalidationRecord.Kind] = []
    var releasedLeases = 0
    /// The number of each account's latest lease or sign-in.
    var leaseNumbers: [Subject: Int64] = [:]
    var tokenVersions: [Subject: Int64] = [:]
    /// A ban of the user whose sign-in is completed next, which its account does not show yet.
    var banDuringSignIn: Ban?
    /// Runs between the next look-up and its result.
    var beforeAnswer: (@Sendable () async -> Void)?
    /// Runs between the next lease and its result.
    var afterLease: (@Sendable () -> Void)?
    /// Runs before each answer of the change feed.
    var beforeChanges: (@Sendable () -> Void)?
    /// Runs between the next look-up of a request for access and its result.
    var beforeRequest: (@Sendable () async -> Void)?
  }

  let state = Mutex(State())
  let place = "memory"
  let isNew = true
  var logBytes: Int? { state.withLock { $0.logBytes } }
  let key = StoreKey.random()
  private let onClose: @Sendable () -> Void

  /// - Parameter onClose: called when the store is closed.
  init(onClose: @escaping @Sendable () -> Void = {}) { self.onClose = onClose }

  private static let away = StoreError(code: .unavailable, message: "away, by order of the test")

  func access<Result: Sendable>(_ body: (inout sending State) -> sending Result) throws(StoreError) -> Result {
    if state.withLock({ $0.isTooNew }) {
      throw StoreError(code: .newerSchema, message: "too new, by order of the test")
    }
    let result: Result? = state.withLock { $0.isAway ? nil : body(&$0) }
    guard let result else {
      state.withLock { $0.beforeFailure }?()
      throw Self.away
    }
    return result
  }

  /// Fails if this operation is to fail.
  func requireSuccess(of operation: String) throws(StoreError) {
    let failure = state.withLock { $0.failures[operation] ?? $0.nextFailures.removeValue(forKey: operation) }
    if let failure { throw failure }
  }

  /// Somebody is signed in.
  func signIn(
    _ name: String, _ identifier: SessionIdentifier, at now: Date, token: EncryptedToken? = nil,
    claims: AccountClaims = AccountClaims()
  ) throws -> SessionSnapshot {
    guard let subject = Subject(name) else { throw Self.away }
    let session = Session(identifier, of: subject, clientID: "web", now: now, lifetime: .seconds(30 * 86_400))
    let account = Account(
      subject: subject, name: nil, claims: claims, latestAuthorization: now, lastVerified: now, lastAsked: now)
    state.withLock { state in
      state.sessions[session.handle] = session
      state.accounts[subject] = account
      state.tokens[subject] = token.map { StoredToken(subject: subject, clientID: "web", token: $0) }
      state.leaseNumbers[subject, default: 0] += 1
      state.tokenVersions[subject, default: 0] += 1
    }
    return SessionSnapshot(session: session, account: account)
  }

  func find(_ handle: PublicSessionID) async throws(StoreError) -> SessionSnapshot? {
    try requireSuccess(of: "find")
    let (found, meanwhile) = try access { state -> (SessionSnapshot?, (@Sendable () async -> Void)?) in
      defer { state.beforeAnswer = nil }
      state.lookUps += 1
      guard let session = state.sessions[handle], let account = state.account(session.subject) else {
        return (nil, state.beforeAnswer)
      }
      return (SessionSnapshot(session: session, account: account), state.beforeAnswer)
    }
    await meanwhile?()
    return found
  }

  func end(
    _ selection: SessionSelection, because reason: SessionEnding, at now: Date
  ) async throws(StoreError) -> [PublicSessionID] {
    try requireSuccess(of: "end")
    return try access { state in
      let ended = state.sessions.values.filter { session in
        switch selection {
        case .one(let handle): session.handle == handle
        case .all(let subject): session.subject == subject
        case .others(let subject, let kept): session.subject == subject && session.handle != kept
        case .resting(let subject, let clientID): session.subject == subject && session.clientID == clientID
        }
      }.map(\.handle)
      for handle in ended { state.sessions[handle] = nil }
      return ended
    }
  }

  func updateLastSeen(_ updates: [LastSeenUpdate]) async throws(StoreError) {
    let failure = try access { state in
      state.lastSeenWrites += 1
      if state.lastSeenFailure == nil { state.lastSeenUpdates += updates }
      return state.lastSeenFailure
    }
    await state.withLock { $0.beforeLastSeenResult }?()
    if let failure { throw failure }
  }

  func recordLease(
    of subject: Subject, preferring clientID: String, interval: Duration, now: Date
  ) async throws(StoreError) -> LeaseOutcome<StoredLease> {
    let outcome: LeaseOutcome<StoredLease> = try access { state in
      guard var account = state.account(subject), let first = state.tokens[subject] else { return .nothingToAskWith }
      let other = state.otherTokens[subject]
      let stored = other?.clientID == clientID ? other ?? first : first
      guard account.mayBeAsked(at: now, interval: interval) else {
        state.refusedLeases += 1
        return .notYet(account)
      }
      let before = account
      account = account.afterAcquiringLease(at: now)
      state.accounts[subject] = account
      state.leases += 1
      let number = state.leaseNumbers[subject, default: 0] + 1
      state.leaseNumbers[subject] = number
      return .granted(
        StoredLease(
          subject: subject, clientID: stored.clientID, token: stored.token, acquiredAt: now,
          number: number, tokenVersion: state.tokenVersions[subject] ?? 0, previouslyAsked: before.lastAsked,
          previousAnswer: before.lastAnswer))
    }
    state.withLock { $0.afterLease.take() }?()
    return outcome
  }

  func releaseLease(_ lease: RevalidationLease) async throws(StoreError) {
    try requireSuccess(of: "releaseLease")
    try access { state in
      guard state.leaseNumbers[lease.subject] == lease.number else { return }
      state.accounts[lease.subject]?.lastAsked = lease.previouslyAsked
      state.accounts[lease.subject]?.lastAnswer = lease.previousAnswer
      state.releasedLeases += 1
    }
  }

  func record(_ answer: RevalidationRecord, of lease: RevalidationLease, at now: Date) async throws(StoreError)
    -> RecordedRevalidation
  {
    try requireSuccess(of: "record")
    return try access { state in
      state.answers.append(answer.kind)
      var ended: [PublicSessionID] = []
      let account = state.accounts[lease.subject]
      let standing = account?.standing(of: lease, latest: state.leaseNumbers[lease.subject] ?? 0)
      if standing == .latest { state.accounts[lease.subject] = account?.after(answer, at: now) }
      guard standing != .outdated, (state.tokenVersions[lease.subject] ?? 0) == lease.tokenVersion else {
        return RecordedRevalidation(account: state.account(lease.subject), ended: [])
      }
      switch answer {
      case .good(_, let token?):
        state.tokens[lease.subject] = StoredToken(
          subject: lease.subject, clientID: lease.clientID, token: token)
      case .good, .noGoodAnswer: break
      case .revoked:
        state.tokens[lease.subject] = nil
        ended = state.sessions.values.filter { $0.subject == lease.subject }.map(\.handle)
        for handle in ended { state.sessions[handle] = nil }
      }
      return RecordedRevalidation(account: state.account(lease.subject), ended: ended)
    }
  }

  func changes(since cursor: ChangeCursor?, limit: Int) async throws(StoreError) -> StoreChanges {
    state.withLock { $0.beforeChanges }?()
    try requireSuccess(of: "changes")
    return try access { state in
      let place = cursor.flatMap { Int($0.text) } ?? state.changes.count
      let news = Array(state.changes[min(place, state.changes.count)...].prefix(limit))
      return StoreChanges(
        changes: news, cursor: ChangeCursor(text: "\(place + news.count)"), gap: state.gap)
    }
  }

  func account(_ subject: Subject) async throws(StoreError) -> Account? {
    try requireSuccess(of: "account")
    return try access { $0.account(subject) }
  }

  func accounts(after subject: Subject?, limit: Int) async throws(StoreError) -> [Listed<Account>] {
    try requireSuccess(of: "accounts")
    return try access { $0.page(after: subject, limit: limit) }
  }

  func sessions(of subject: Subject) async throws(StoreError) -> [Listed<Session>] {
    try access { state in
      state.sessions.values.filter { $0.subject == subject }.sorted { $0.began > $1.began }.map { Listed.readable($0) }
    }
  }

  /// The whole list.
  func sessions(
    of subject: Subject, after place: SessionPlace, limit: Int
  ) async throws(StoreError) -> SessionPage {
    SessionPage(sessions: try await sessions(of: subject), next: nil)
  }

  func tokens(of subject: Subject) async throws(StoreError) -> [StoredToken] {
    try requireSuccess(of: "tokens")
    return try access { [$0.tokens[subject], $0.otherTokens[subject]].compactMap(\.self) }
  }

  func forget(
    _ subject: Subject, keeping groups: Set<GroupName>, at now: Date
  ) async throws(StoreError) -> [PublicSessionID] {
    try requireSuccess(of: "forget")
    return try access { state in
      let ended = state.sessions.values.filter { $0.subject == subject }.map(\.handle)
      for handle in ended { state.sessions[handle] = nil }
      state.accounts[subject] = nil
      state.tokens[subject] = nil
      state.changes.append(.accountChanged(subject))
      return ended
    }
  }

  /// Withdrawn consent; other notifications have no effect here.
  func carryOut(_ notification: AccountNotification, at now: Date) async throws(StoreError) -> NotificationOutcome {
    try access { state in
      state.changes.append(.accountChanged(notification.subject))
      guard state.accounts[notification.subject] != nil else { return .unknownSubject }
      guard case .consentRevoked = notification.change else { return .carriedOut(ended: []) }
      let ended = state.sessions.values.filter { $0.subject == notification.subject }.map(\.handle)
      for handle in ended { state.sessions[handle] = nil }
      state.tokens[notification.subject] = nil
      return .carriedOut(ended: ended)
    }
  }

  func prepare(_ transfer: PreparedTransfer, of subject: Subject, at now: Date) async throws(StoreError) -> Bool {
    try requireSuccess(of: "prepare")
    return try access { state in
      guard state.accounts[subject] != nil || state.isNamed(subject) else { return false }
      state.accounts[subject]?.claims.preparedTransfer = transfer
      state.transfers[transfer] = subject
      return true
    }
  }

  func namedUsers(
    after subject: Subject?, through last: Subject?, limit: Int
  ) async throws(StoreError) -> [NamedUser] {
    try access { state -> [NamedUser] in
      state.namedThrough.append(last)
      let named = Set(state.bans.keys).union(state.members.values.joined()).filter { state.accounts[$0] == nil }
      let users = named.map { user -> NamedUser in
        let prepared = state.transfers.first { $0.value == user }?.key
        if let prepared, state.deleted.contains(user) {
          return NamedUser(subject: prepared.subject, prepared: prepared, isDeleted: true)
        }
        return NamedUser(subject: user, prepared: prepared)
      }
      let later = users.filter { user in subject.map { user.subject.text > $0.text } ?? true }
      let within = later.filter { user in last.map { user.subject.text <= $0.text } ?? true }
      return Array(within.sorted { $0.subject.text < $1.subject.text }.prefix(limit))
    }
  }

  func unpreparedBanCount(forTeam team: String, at now: Date) async throws(StoreError) -> Int {
    try access { _ in 0 }
  }

  func follow(
    _ identifier: Subject, to new: Subject, at now: Date
  ) async throws(StoreError) -> FollowOutcome {
    try requireSuccess(of: "follow")
    return try access { state -> FollowOutcome in
      let known = state.transfers.first { $0.key.subject == identifier }
      guard let old = known?.value, old != new else { return .nothing }
      if state.accounts[old] != nil { return .account(old) }
      guard state.isNamed(old) else { return .nothing }
      state.moveAccess(of: old, to: new)
      return .moved
    }
  }

  func move(_ move: AccountMove, at now: Date) async throws(StoreError) -> MoveOutcome {
    try requireSuccess(of: "move")
    return try access { state in
      if state.deletedMeanwhile.remove(move.old) != nil { state.accounts[move.old] = nil }
      guard let old = state.accounts.removeValue(forKey: move.old) else { return .unknownSubject }
      state.accounts[move.new] = old.moved(by: move, onto: state.accounts[move.new])
      state.moveAccess(of: move.old, to: move.new)
      state.tokens[move.old] = nil
      state.tokens[move.new] = move.tokens.first.map {
        StoredToken(subject: move.new, clientID: $0.old.clientID, token: $0.resealed)
      }
      return .moved
    }
  }

  func counts() async throws(StoreError) -> StoreCounts {
    try requireSuccess(of: "counts")
    return try access { state in
      StoreCounts(
        accounts: state.accounts.count, sessions: state.sessions.count, refreshTokens: state.tokens.count)
    }
  }

  func latestUse() async throws(StoreError) -> Date? { try access { $0.sessions.values.map(\.lastSeen).max() } }
  func sealingKeys() async throws(StoreError) -> [KeyIdentifier: Int] { try access { _ in [:] } }
  func ping() async throws(StoreError) { try access { _ in } }
  func close() async throws(StoreError) { onClose() }

  // MARK: Unused operations

  func nextMessage(leasedUntil lease: Date, at now: Date) async throws(StoreError) -> Listed<OutgoingMessage>? {
    throw Self.away
  }
  func discard(_ message: OutgoingMessage) async throws(StoreError) { throw Self.away }
  func postpone(_ message: OutgoingMessage, until moment: Date) async throws(StoreError) { throw Self.away }
  func storedTokens(notSealedBy key: KeyIdentifier, limit: Int) async throws(StoreError) -> [StoredToken] {
    throw Self.away
  }
  func replace(_ tokens: [ReencryptedToken]) async throws(StoreError) -> Int { throw Self.away }
  func delete(_ tokens: [StoredToken]) async throws(StoreError) -> Int { throw Self.away }
  func removeExpired(_ rule: RemovalRule) async throws(StoreError) -> Removal { throw Self.away }
}
