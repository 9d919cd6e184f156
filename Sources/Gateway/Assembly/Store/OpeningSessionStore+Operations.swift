internal import FoundationEssentials
internal import Sessions

/// The operations on accounts and sessions: the open store's.
extension OpeningSessionStore {
  func consume(_ replayGuard: ReplayGuard, until: Date) async throws(StoreError) -> Bool {
    try await opened().consume(replayGuard, until: until)
  }

  func isConsumed(_ replayGuard: ReplayGuard) async throws(StoreError) -> Bool {
    try await opened().isConsumed(replayGuard)
  }

  func savePendingName(_ name: PersonName, submittedBy subject: Subject, at now: Date) async throws(StoreError) {
    try await opened().savePendingName(name, submittedBy: subject, at: now)
  }

  func complete(_ signIn: SignIn) async throws(StoreError) -> CompletedSignIn {
    try await opened().complete(signIn)
  }

  func find(_ handle: PublicSessionID) async throws(StoreError) -> SessionSnapshot? {
    try await opened().find(handle)
  }

  func end(_ selection: SessionSelection, because reason: SessionEnding, at now: Date) async throws(StoreError)
    -> [PublicSessionID]
  {
    try await opened().end(selection, because: reason, at: now)
  }

  func updateLastSeen(_ updates: [LastSeenUpdate]) async throws(StoreError) {
    try await opened().updateLastSeen(updates)
  }

  func sessions(of subject: Subject) async throws(StoreError) -> [Listed<Session>] {
    try await opened().sessions(of: subject)
  }

  func sessions(
    of subject: Subject, after place: SessionPlace, limit: Int
  ) async throws(StoreError) -> SessionPage {
    try await opened().sessions(of: subject, after: place, limit: limit)
  }

  func account(_ subject: Subject) async throws(StoreError) -> Account? {
    try await opened().account(subject)
  }

  func accounts(withEmail email: String) async throws(StoreError) -> [Listed<Account>] {
    try await opened().accounts(withEmail: email)
  }

  func accounts(after subject: Subject?, limit: Int) async throws(StoreError) -> [Listed<Account>] {
    try await opened().accounts(after: subject, limit: limit)
  }

  func forget(
    _ subject: Subject, keeping groups: Set<GroupName>, at now: Date
  ) async throws(StoreError) -> [PublicSessionID] {
    try await opened().forget(subject, keeping: groups, at: now)
  }

  func carryOut(_ notification: AccountNotification, at now: Date) async throws(StoreError) -> NotificationOutcome {
    try await opened().carryOut(notification, at: now)
  }

  func nextMessage(leasedUntil lease: Date, at now: Date) async throws(StoreError) -> Listed<OutgoingMessage>? {
    try await opened().nextMessage(leasedUntil: lease, at: now)
  }

  func discard(_ message: OutgoingMessage) async throws(StoreError) {
    try await opened().discard(message)
  }

  func postpone(_ message: OutgoingMessage, until moment: Date) async throws(StoreError) {
    try await opened().postpone(message, until: moment)
  }

  func prepare(_ transfer: PreparedTransfer, of subject: Subject, at now: Date) async throws(StoreError) -> Bool {
    try await opened().prepare(transfer, of: subject, at: now)
  }

  func namedUsers(
    after subject: Subject?, through last: Subject?, limit: Int
  ) async throws(StoreError) -> [NamedUser] {
    try await opened().namedUsers(after: subject, through: last, limit: limit)
  }

  func unpreparedBanCount(forTeam team: String, at now: Date) async throws(StoreError) -> Int {
    try await opened().unpreparedBanCount(forTeam: team, at: now)
  }

  func follow(_ identifier: Subject, to new: Subject, at now: Date) async throws(StoreError) -> FollowOutcome {
    try await opened().follow(identifier, to: new, at: now)
  }

  func move(_ move: AccountMove, at now: Date) async throws(StoreError) -> MoveOutcome {
    try await opened().move(move, at: now)
  }

  func tokens(of subject: Subject) async throws(StoreError) -> [StoredToken] {
    try await opened().tokens(of: subject)
  }

  func sealingKeys() async throws(StoreError) -> [KeyIdentifier: Int] {
    try await opened().sealingKeys()
  }

  func storedTokens(notSealedBy key: KeyIdentifier, limit: Int) async throws(StoreError) -> [StoredToken] {
    try await opened().storedTokens(notSealedBy: key, limit: limit)
  }

  func replace(_ tokens: [ReencryptedToken]) async throws(StoreError) -> Int {
    try await opened().replace(tokens)
  }

  func delete(_ tokens: [StoredToken]) async throws(StoreError) -> Int {
    try await opened().delete(tokens)
  }

  func recordLease(of subject: Subject, preferring clientID: String, interval: Duration, now: Date)
    async throws(StoreError) -> LeaseOutcome<StoredLease>
  {
    try await opened().recordLease(of: subject, preferring: clientID, interval: interval, now: now)
  }

  func releaseLease(_ lease: RevalidationLease) async throws(StoreError) {
    try await opened().releaseLease(lease)
  }

  func record(
    _ answer: RevalidationRecord, of lease: RevalidationLease, at now: Date
  ) async throws(StoreError) -> RecordedRevalidation {
    try await opened().record(answer, of: lease, at: now)
  }
}

/// The operations on what is decided at run time: the open store's.
extension OpeningSessionStore {
  func storeKey() async throws(StoreError) -> StoreKey {
    try await opened().storeKey()
  }

  func ban(_ subject: Subject, _ ban: Ban) async throws(StoreError) -> [Subject: [PublicSessionID]]? {
    try await opened().ban(subject, ban)
  }

  func latestSubject(of subject: Subject) async throws(StoreError) -> Subject? {
    try await opened().latestSubject(of: subject)
  }

  func unban(_ subject: Subject, by author: AccessAuthor, at now: Date) async throws(StoreError) -> UnbanOutcome {
    try await opened().unban(subject, by: author, at: now)
  }

  func ban(of subject: Subject) async throws(StoreError) -> Ban? {
    try await opened().ban(of: subject)
  }

  func accessCounts(at now: Date) async throws(StoreError) -> AccessCounts {
    try await opened().accessCounts(at: now)
  }

  func banCount(at now: Date) async throws(StoreError) -> Int {
    try await opened().banCount(at: now)
  }

  func add(_ subject: Subject, to group: GroupName, by: String, at now: Date) async throws(StoreError) -> Bool {
    try await opened().add(subject, to: group, by: by, at: now)
  }

  func remove(_ subject: Subject, from group: GroupName, at now: Date) async throws(StoreError) -> Bool {
    try await opened().remove(subject, from: group, at: now)
  }

  func groups(of subject: Subject) async throws(StoreError) -> [GroupName] {
    try await opened().groups(of: subject)
  }

  func members(
    of group: GroupName, after subject: Subject?, limit: Int
  ) async throws(StoreError) -> [Listed<Subject>] {
    try await opened().members(of: group, after: subject, limit: limit)
  }

  func memberCounts() async throws(StoreError) -> [GroupName: Int] {
    try await opened().memberCounts()
  }

  func ask(_ subject: Subject, code: AccessRequestCode, at now: Date) async throws(StoreError) -> AccessRequestOutcome {
    try await opened().ask(subject, code: code, at: now)
  }

  func request(_ code: AccessRequestCode, at now: Date) async throws(StoreError) -> AccessRequest? {
    try await opened().request(code, at: now)
  }

  func request(of subject: Subject, at now: Date) async throws(StoreError) -> AccessRequest? {
    try await opened().request(of: subject, at: now)
  }

  func requests(
    after code: AccessRequestCode?, limit: Int, at now: Date
  ) async throws(StoreError) -> [Listed<(request: AccessRequest, account: Account)>] {
    try await opened().requests(after: code, limit: limit, at: now)
  }

  func requestCount(at now: Date) async throws(StoreError) -> Int {
    try await opened().requestCount(at: now)
  }

  func admit(
    _ request: AccessRequest, to group: GroupName, by: String, at now: Date
  ) async throws(StoreError) -> Bool {
    try await opened().admit(request, to: group, by: by, at: now)
  }

  func reject(_ code: AccessRequestCode, at now: Date) async throws(StoreError) -> Bool {
    try await opened().reject(code, at: now)
  }

  func create(_ invitation: Invitation, hash: [UInt8]) async throws(StoreError) {
    try await opened().create(invitation, hash: hash)
  }

  func invitation(hash: [UInt8]) async throws(StoreError) -> Invitation? {
    try await opened().invitation(hash: hash)
  }

  func redeem(hash: [UInt8], by subject: Subject, isMember: Bool, at now: Date) async throws(StoreError)
    -> RedemptionOutcome
  {
    try await opened().redeem(hash: hash, by: subject, isMember: isMember, at: now)
  }

  func invitations() async throws(StoreError) -> [Listed<Invitation>] {
    try await opened().invitations()
  }

  func revokeInvitation(_ id: String) async throws(StoreError) -> Bool {
    try await opened().revokeInvitation(id)
  }

  func create(_ token: MachineToken) async throws(StoreError) {
    try await opened().create(token)
  }

  func token(_ handle: PublicSessionID) async throws(StoreError) -> MachineToken? {
    try await opened().token(handle)
  }

  func machineTokens() async throws(StoreError) -> [Listed<MachineToken>] {
    try await opened().machineTokens()
  }

  func revokeToken(_ name: GroupName, at now: Date) async throws(StoreError) -> PublicSessionID? {
    try await opened().revokeToken(name, at: now)
  }

  func summaries(after subject: Subject?, limit: Int) async throws(StoreError) -> [Listed<AccountSummary>] {
    try await opened().summaries(after: subject, limit: limit)
  }
}
