package import FoundationEssentials

/// Where accounts, refresh tokens and sessions are kept. Any number of processes may use one store at once; whatever is
/// acknowledged survives the end of the process. Instants are kept to the millisecond; the time is always the caller's.
///
/// Each call is one transaction. What a store must do is written as tests in `SessionStoreTesting`.
package protocol SessionStore: Sendable {
  // MARK: Signing in

  /// Uses up something that may happen once. Of any number of concurrent calls with one mark exactly one returns true.
  ///
  /// - Parameter until: when the mark may be forgotten; what it guards must have expired by itself then.
  func consume(_ mark: ReplayGuard, until: Date) async throws(StoreError) -> Bool

  /// Keeps a name before the code is exchanged: Apple sends it only once, and the exchange may fail. The next completed
  /// sign-in of this user takes it over.
  func savePendingName(_ name: PersonName, submittedBy subject: Subject, at now: Date) async throws(StoreError)

  /// Completes a sign-in: the account with its claims (`AccountClaims.afterSignIn`) and name (a known name is never
  /// replaced by nothing), the refresh token of this client, `latestAuthorization`, `lastVerified` and `lastAsked` =
  /// now, the new session, and the end of the one it replaces.
  ///
  /// - Throws: `StoreError.Code.conflict` if there is or was a session of this handle.
  func complete(_ signIn: SignIn) async throws(StoreError) -> CompletedSignIn

  // MARK: Sessions

  /// A session with its account, in one indexed read; nil if there is none or it has ended. Whether its time is over is
  /// for the caller to judge (`Session.isAlive`).
  func find(_ handle: PublicSessionID) async throws(StoreError) -> SessionSnapshot?

  /// Ends sessions for good and tells which there were. Ending what is not there is no error.
  @discardableResult
  func end(
    _ selection: SessionSelection, because reason: SessionEnding, at now: Date
  ) async throws(StoreError) -> [PublicSessionID]

  /// Writes down when sessions were last used. Never moves `lastSeen` back, never brings an ended session back.
  func touch(_ sightings: [LastSeenUpdate]) async throws(StoreError)

  /// The sessions of a user, newest first.
  func sessions(of subject: Subject) async throws(StoreError) -> [Session]

  // MARK: The daily check

  /// Claims the right to ask Apple about an account: granted only if nobody claimed it within `interval`. Of any number
  /// of concurrent calls at most one is granted. Until a good answer is recorded the claim counts as a failed attempt
  /// (`Account.checkFailingSince`). Where there is no token, no attempt can succeed from when one was due.
  ///
  /// - Parameter clientID: whose token to ask with if there is one; else another client's.
  func acquireLease(
    of subject: Subject, preferring clientID: String, interval: Duration, now: Date
  ) async throws(StoreError) -> RevalidationLeaseOutcome

  /// Gives a claim back, only for a request that cannot have reached Apple. It stays a failed attempt. Nothing happens
  /// if somebody claimed or signed in since.
  func releaseLease(_ claim: RevalidationLease) async throws(StoreError)

  /// Writes down what came of a check. A good answer moves `lastVerified` on and merges claims
  /// (`AccountClaims.afterCheck`). An answer about a token that was replaced since ends nothing and replaces nothing.
  func record(_ answer: CheckAnswer, of claim: RevalidationLease, at now: Date) async throws(StoreError)
    -> RecordedAnswer

  // MARK: Accounts

  /// The account of a user; nil where nobody is known under this subject.
  func account(_ subject: Subject) async throws(StoreError) -> Account?

  /// Every account whose last known address this is, upper and lower case ASCII being the same.
  func accounts(withEmail email: String) async throws(StoreError) -> [Account]

  /// Accounts in the order of their subjects, from after this one.
  func accounts(after subject: Subject?, limit: Int) async throws(StoreError) -> [Account]

  /// Removes everything known of a user: account, name, tokens, sessions. Tells which sessions ended.
  @discardableResult
  func forget(_ subject: Subject, at now: Date) async throws(StoreError) -> [PublicSessionID]

  /// The refresh tokens of a user, one for each client, in the order of the clients.
  func tokens(of subject: Subject) async throws(StoreError) -> [StoredToken]

  // MARK: Notifications

  /// Carries out what Apple notified, once: the mark (`AccountNotification.mark`) is used up, the account changed and
  /// the message kept in one transaction. The message is kept unless the notification is a repetition or outdated.
  ///
  /// `consentRevoked` ends the user's sessions and deletes the tokens, `accountDeleted` does what `forget` does,
  /// `mailForwarding` is `AccountClaims.afterForwarding`; none of it if the account is newer (`Account.isNewer`).
  func carryOut(_ notification: AccountNotification, at now: Date) async throws(StoreError) -> NotificationOutcome

  /// Takes the message that is due longest, if one is: nobody else gets it before `lease`. Of any number of concurrent
  /// calls each gets another one.
  func nextMessage(leasedUntil lease: Date, at now: Date) async throws(StoreError) -> OutgoingMessage?

  /// The message need not be kept any longer.
  func discard(_ message: OutgoingMessage) async throws(StoreError)

  /// Nobody gets the message before this moment.
  func postpone(_ message: OutgoingMessage, until moment: Date) async throws(StoreError)

  // MARK: Another team

  /// Notes under which name the user goes to another team; false if nobody is known under the subject. A change, if it
  /// is another than was noted.
  func prepare(_ transfer: PreparedTransfer, of subject: Subject, at now: Date) async throws(StoreError) -> Bool

  /// Moves everything known of a user to another subject (`Account.moved`): account, submitted name, sessions, and the
  /// tokens, each sealed anew; where the new subject has one of the same client, that one stays. Nothing is left of the
  /// old subject. Both subjects are changes. From a subject to itself, only the account is written.
  func move(_ move: AccountMove, at now: Date) async throws(StoreError) -> MoveOutcome

  // MARK: Keys

  /// How many refresh tokens each key sealed (see `SessionKeyring.requireEveryKey`). A store may stop counting at a
  /// million of each.
  func sealingKeys() async throws(StoreError) -> [KeyIdentifier: Int]

  /// Some refresh tokens that another key than this one sealed.
  func storedTokens(notSealedBy key: KeyIdentifier, limit: Int) async throws(StoreError) -> [StoredToken]

  /// Puts tokens that were sealed anew in the places of the same ones as they were, in one transaction. Those that were
  /// replaced or deleted meanwhile are left as they are.
  /// - Returns: how many were put there.
  func replace(_ tokens: [ReencryptedToken]) async throws(StoreError) -> Int

  /// Deletes tokens, in one transaction. Those that were replaced or deleted meanwhile are left as they are.
  /// - Returns: how many were deleted.
  func delete(_ tokens: [StoredToken]) async throws(StoreError) -> Int

  // MARK: The store itself

  /// For people: what kind of store it is, and where. No secret.
  var place: String { get }

  /// Returns at the latest when the time is over, and sooner if there may be changes. A store that cannot hear of them
  /// waits; `changes` tells of all of them either way.
  func waitForChanges(atMost limit: Duration) async

  /// What changed since a cursor, oldest first. Without a cursor no changes, but the cursor to begin with.
  func changes(since cursor: ChangeCursor?, limit: Int) async throws(StoreError) -> StoreChanges

  /// Removes what is over, a limited number of rows of each kind. Accounts, names and tokens stay.
  ///
  /// - Returns: what went; call again soon if it is anything.
  func removeExpired(_ rule: RemovalRule) async throws(StoreError) -> Removal

  /// How much there is of each.
  func counts() async throws(StoreError) -> StoreCounts

  /// Returns if the store can be read and written just now. Writes, so not more often than every few seconds.
  func ping() async throws(StoreError)

  /// Finishes what is under way and closes. Every later call throws `StoreError.Code.closed`.
  func close() async throws(StoreError)
}

extension SessionStore {
  /// What a store does that hears of nothing: it waits.
  package func waitForChanges(atMost limit: Duration) async { try? await Task.sleep(for: limit) }
}
