package import FoundationEssentials

/// The database of accounts, refresh tokens and sessions: the composition of the protocols below, so that each consumer
/// can take only the part it uses.
///
/// Any number of processes may use one store at once; whatever is acknowledged survives the end of the process.
/// Instants are kept to the millisecond; the current time is always passed in. Each call is one transaction. The
/// contract of each protocol is a suite of tests in `SessionStoreTesting`.
package protocol SessionStore: ReplayGuardStore, SignInStore, SessionRecordStore, RevalidationLeaseStore, AccountStore,
  NotificationStore, TeamTransferStore, EncryptedTokenStore, StoreChangeFeed, StoreMaintenance, AccessStore
{}

/// Replay guards: values that may be used once.
package protocol ReplayGuardStore: Sendable {
  /// Consumes a replay guard. Of any number of concurrent calls with one guard exactly one returns true.
  ///
  /// - Parameter until: when the guard may be removed; the guarded value must have expired by then.
  func consume(_ replayGuard: ReplayGuard, until: Date) async throws(StoreError) -> Bool

  /// Whether a replay guard was consumed, and is not removed yet.
  func isConsumed(_ replayGuard: ReplayGuard) async throws(StoreError) -> Bool
}

/// Completion of sign-ins.
package protocol SignInStore: Sendable {
  /// Saves a display name before the code is exchanged: Apple sends it only once, and the exchange may fail. The next
  /// completed sign-in of this user takes it over, within `RemovalRule.retention`.
  func savePendingName(_ name: PersonName, submittedBy subject: Subject, at now: Date) async throws(StoreError)

  /// Completes a sign-in: the account with its claims (`AccountClaims.afterSignIn`) and name (a known name is never
  /// replaced by nothing), the refresh token of this client, `latestAuthorization`, `lastVerified` and `lastAsked` =
  /// now, the new session, and the end of the one it replaces. A token clears `AccountAccess.isTokenDiscarded`, a
  /// discarded one sets it unless a token of this client is stored. A ban that was made before the account was known,
  /// or that outlived an earlier account, is part of the account from now on; the caller refuses the user.
  /// Each sign-in is noted in the change feed as a change of the account, so that gateways notice when the store loses
  /// one (to a failover, a backup that was restored).
  ///
  /// - Throws: `StoreError.Code.conflict` if there is or was a session with this ID.
  func complete(_ signIn: SignIn) async throws(StoreError) -> CompletedSignIn
}

/// Sessions of browsers and apps.
package protocol SessionRecordStore: Sendable {
  /// Finds a session with its account, in one indexed read; nil if it does not exist or has ended. The caller decides
  /// whether it has expired (`Session.isAlive`).
  func find(_ handle: PublicSessionID) async throws(StoreError) -> SessionSnapshot?

  /// Ends sessions and returns those that existed. Ending a session that does not exist is not an error, and a change
  /// all the same (``SessionSelection/change(beside:because:)``).
  @discardableResult
  func end(
    _ selection: SessionSelection, because reason: SessionEnding, at now: Date
  ) async throws(StoreError) -> [PublicSessionID]

  /// Stores when sessions were last used. Never moves `lastSeen` back, never revives an ended session.
  func updateLastSeen(_ updates: [LastSeenUpdate]) async throws(StoreError)

  /// The sessions of a user, newest first.
  func sessions(of subject: Subject) async throws(StoreError) -> [Listed<Session>]

  /// A part of that list, from after this place, of at most `limit` sessions; `limit` is at least 1.
  func sessions(of subject: Subject, after place: SessionPlace, limit: Int) async throws(StoreError) -> SessionPage
}

/// Accounts of users.
package protocol AccountStore: Sendable {
  /// The account of a user; nil if the subject is unknown.
  func account(_ subject: Subject) async throws(StoreError) -> Account?

  /// Every account with this last known address, ignoring the case of ASCII letters.
  func accounts(withEmail email: String) async throws(StoreError) -> [Listed<Account>]

  /// Accounts in the order of their subjects, after this one.
  func accounts(after subject: Subject?, limit: Int) async throws(StoreError) -> [Listed<Account>]

  /// Removes all data of a user: account, name, tokens, sessions, groups, request for access. A ban stays, under the
  /// keyed hash of the subject. Noted in the change feed even if nobody is known. Returns the sessions that ended.
  /// - Parameter groups: the groups whose memberships stay, with the subject: those of deny lists, so that a user who
  ///   is refused does not lift that by leaving.
  @discardableResult
  func forget(
    _ subject: Subject, keeping groups: Set<GroupName>, at now: Date
  ) async throws(StoreError) -> [PublicSessionID]
}

/// Apple's notifications, and the outbox of those that are forwarded to the application.
package protocol NotificationStore: Sendable {
  /// Applies a notification from Apple, once: consumes its replay guard, changes the account and keeps the message, in
  /// one transaction. The message is kept unless the notification is a repetition or outdated.
  ///
  /// `consentRevoked` ends the user's sessions and deletes the tokens, `accountDeleted` does what `forget` does,
  /// `mailForwarding` is `Account.afterForwarding`; none of it if the account is newer (`Account.isNewer`). The first
  /// two are noted in the change feed even if the subject is unknown: the store may have lost a sign-in.
  func carryOut(_ notification: AccountNotification, at now: Date) async throws(StoreError) -> NotificationOutcome

  /// Leases the message that has been due longest, if there is one: no other caller gets it before `lease`. Of any
  /// number of concurrent calls each gets a different message.
  ///
  /// One that is damaged is set aside for `OutgoingMessage.damagedPause`, so that it does not keep others from being
  /// taken.
  func nextMessage(leasedUntil lease: Date, at now: Date) async throws(StoreError) -> Listed<OutgoingMessage>?

  /// Deletes a message.
  func discard(_ message: OutgoingMessage) async throws(StoreError)

  /// Postpones a message: no caller gets it before this moment.
  func postpone(_ message: OutgoingMessage, until moment: Date) async throws(StoreError)
}

/// The transfer of users to another team.
package protocol TeamTransferStore: Sendable {
  /// Stores the user's transfer identifier for another team, instead of an earlier one; false if nothing is known of
  /// the subject: no account, no ban and no membership of a group. Counts as a change of the account if it differs from
  /// what was noted there before. It outlives the account if a ban does, or a membership, until
  /// `RemovalRule.transferRetention` after it was stored last.
  func prepare(_ transfer: PreparedTransfer, of subject: Subject, at now: Date) async throws(StoreError) -> Bool

  /// The users without an account whom bans and memberships name, in the order of their subjects, after the first one
  /// and up to the last one; of a ban whose user was deleted after the preparation the transfer identifier stands for
  /// the subject.
  /// - Parameter last: bounds what is read: memberships can be as many as accounts. Nil for no bound.
  func namedUsers(
    after subject: Subject?, through last: Subject?, limit: Int
  ) async throws(StoreError) -> [NamedUser]

  /// The number of bans in force that cannot follow their users to this team: the account was deleted, and with it the
  /// subject, before a transfer identifier was stored.
  func unpreparedBanCount(forTeam team: String, at now: Date) async throws(StoreError) -> Int

  /// Moves the ban of the user with this transfer identifier, and memberships and used invitations as far as the
  /// previous subject is known, to the new subject, unless there is an account to move. Both subjects count as changed.
  func follow(
    _ identifier: Subject, to new: Subject, at now: Date
  ) async throws(StoreError) -> FollowOutcome

  /// Moves all data of a user to another subject (`Account.moved`): account, submitted name, sessions, and the
  /// re-encrypted tokens; if the new subject has a token of the same client, that one stays. Groups, the ban (of two
  /// the longer one), the request for access and used invitations move too. Nothing is left of the old subject but its
  /// hash beside the transfer identifier, for bans that name it later. Both subjects count as changed. From a subject
  /// to itself, only the account is written.
  func move(_ move: AccountMove, at now: Date) async throws(StoreError) -> MoveOutcome
}

/// Encrypted refresh tokens.
package protocol EncryptedTokenStore: Sendable {
  /// The refresh tokens of a user, one for each client, in the order of the clients.
  func tokens(of subject: Subject) async throws(StoreError) -> [StoredToken]

  /// Counts the refresh tokens by the key that encrypted them (see `SessionKeyring.requireEveryKey`). A store may stop
  /// counting at a million of each.
  func sealingKeys() async throws(StoreError) -> [KeyIdentifier: Int]

  /// A batch of refresh tokens that another key than this one encrypted.
  func storedTokens(notSealedBy key: KeyIdentifier, limit: Int) async throws(StoreError) -> [StoredToken]

  /// Replaces tokens by their re-encrypted ones, in one transaction. Those that were replaced or deleted meanwhile are
  /// left as they are.
  /// - Returns: how many were replaced.
  func replace(_ tokens: [ReencryptedToken]) async throws(StoreError) -> Int

  /// Deletes tokens, in one transaction. Those that were replaced or deleted meanwhile are left as they are.
  /// - Returns: how many were deleted.
  func delete(_ tokens: [StoredToken]) async throws(StoreError) -> Int
}

/// The feed of changes that other processes, and this one, have made.
package protocol StoreChangeFeed: Sendable {
  /// Waits for changes: returns when the time is over, or sooner if there may be changes. A store without notifications
  /// always waits; `changes` returns all of them either way.
  func waitForChanges(atMost limit: Duration) async

  /// Looks whether there may be changes since `changes` was last called. Fast enough to be asked every second, on an
  /// event loop, which it does not block.
  /// - Parameter answer: is called once, on any thread; it may not block. True also of a store that does not know, or
  ///   does not answer. A call, and no task that waits: an idle gateway wakes no other thread for the answer.
  func lookForChanges(_ answer: @escaping @Sendable (_ mayHaveChanged: Bool) -> Void)

  /// The changes since a cursor, oldest first. Without a cursor no changes, but the cursor to begin with.
  func changes(since cursor: ChangeCursor?, limit: Int) async throws(StoreError) -> StoreChanges
}

extension StoreChangeFeed {
  /// The default of a store without notifications: it waits.
  package func waitForChanges(atMost limit: Duration) async { try? await Task.sleep(for: limit) }

  /// The default of a store that does not know.
  package func lookForChanges(_ answer: @escaping @Sendable (_ mayHaveChanged: Bool) -> Void) { answer(true) }
}

/// Operations on the store as a whole.
package protocol StoreMaintenance: Sendable {
  /// A description for people: what kind of store it is, and where. Contains no secret.
  var place: String { get }

  /// Whether this process has created the store when it opened it: there was none at its place, or an empty one.
  var isNew: Bool { get }

  /// Removes expired rows, a limited number of each kind: replay guards, sessions, changes, requests for access, and
  /// `RemovalRule.retention` after their end invitations, bans and machine tokens, and after they were submitted names
  /// whose sign-in was not completed; transfer identifiers `RemovalRule.transferRetention` after they were stored.
  /// Accounts and refresh tokens stay, except accounts of strangers: the latest sign-in left no token and is as long
  /// ago, and there is no session, group, request or ban.
  ///
  /// - Returns: what was removed; if anything was, there may be more.
  func removeExpired(_ rule: RemovalRule) async throws(StoreError) -> Removal

  /// The latest use of any session, as far as it is stored. Without sessions, another moment at which the store was
  /// used: that of a sign-in or a ban, not necessarily the latest; nil without these, too.
  func latestUse() async throws(StoreError) -> Date?

  /// The number of rows of each kind.
  func counts() async throws(StoreError) -> StoreCounts

  /// Returns if the store can be read and written at present. Writes, so not to be called more often than every few
  /// seconds.
  func ping() async throws(StoreError)

  /// The size of the write-ahead log, in bytes, when `ping` last looked; nil before that, and of a store without one.
  /// It grows without end while a program keeps a transaction open that has read from the store.
  var logBytes: Int? { get }

  /// Finishes operations in progress and closes. Every later call throws `StoreError.Code.closed`.
  func close() async throws(StoreError)
}

extension StoreMaintenance {
  /// The default of a store without a log of its own.
  package var logBytes: Int? { nil }
}
