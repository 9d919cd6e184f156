package import FoundationEssentials

/// The access that is decided at run time: the composition of the protocols below.
///
/// Everything that changes who may pass is noted in the change feed in the same transaction: for a user as
/// `.accountChanged`, for ended sessions and revoked tokens as `.ended`.
package protocol AccessStore: StoreKeyStore, BanStore, GroupStore, AccessRequestStore, InvitationStore,
  MachineTokenStore, AccountListStore
{
  /// Counts what is decided at run time, all at once.
  func accessCounts(at now: Date) async throws(StoreError) -> AccessCounts
}

/// Numbers of what is decided at run time.
package struct AccessCounts: Sendable, Equatable {
  /// Requests for access that wait.
  package let requests: Int
  /// Bans in force.
  package let bans: Int
  /// Invitations that still admit somebody.
  package let invitations: Int
  /// Machine tokens that have not expired.
  package let tokens: Int
  /// Members of each group that has any.
  package let members: [GroupName: Int]

  /// The numbers of one moment.
  package init(requests: Int, bans: Int, invitations: Int, tokens: Int, members: [GroupName: Int]) {
    self.requests = requests
    self.bans = bans
    self.invitations = invitations
    self.tokens = tokens
    self.members = members
  }
}

extension AccessStore {
  /// The default: one question after the other.
  package func accessCounts(at now: Date) async throws(StoreError) -> AccessCounts {
    AccessCounts(
      requests: try await requestCount(at: now), bans: try await banCount(at: now),
      invitations: try await invitations().records().count { $0.isOpen(at: now) },
      tokens: try await machineTokens().records().count { $0.isInForce(at: now) }, members: try await memberCounts())
  }
}

/// The random key of the store.
package protocol StoreKeyStore: Sendable {
  /// The key: the same for the life of the store, and in its copies.
  func storeKey() async throws(StoreError) -> StoreKey
}

/// Bans. `Account.access` shows the ban of a known user; the gateway refuses a banned one before it completes a
/// sign-in. A ban outlives the account: a keyed hash of the subject stays.
package protocol BanStore: Sendable {
  /// Bans a user, known or not, instead of an earlier ban; ends all sessions and deletes the open request. An
  /// operator's ban of a subject that has moved to another team (`TeamTransferStore`), once or more often, is also that
  /// of the latest subject. Only a hash of that one is stored, so that the store searches all accounts for it.
  /// Managers, whose rights depend on the account, ban by the latest subject only.
  /// - Returns: the sessions that ended, by each subject that is known and is banned now; nil if a manager may not
  ///   replace the earlier ban (``Ban/isProtected(at:)``), which is checked in the same transaction. Then nothing is
  ///   changed.
  @discardableResult
  func ban(_ subject: Subject, _ ban: Ban) async throws(StoreError) -> [Subject: [PublicSessionID]]?

  /// Lifts a ban, unless a manager may not (``Ban/isProtected(at:)``), which is checked in the same transaction. Of a
  /// user who has moved to other teams (`TeamTransferStore`) the bans of all subjects, earlier and later ones, are
  /// lifted together by any of them.
  /// - Parameter author: the operator or manager who lifts it.
  func unban(_ subject: Subject, by author: AccessAuthor, at now: Date) async throws(StoreError) -> UnbanOutcome

  /// The ban of a user, known or not; also one that has expired.
  func ban(of subject: Subject) async throws(StoreError) -> Ban?

  /// The number of bans in force.
  func banCount(at now: Date) async throws(StoreError) -> Int

  /// The latest subject of a user who has moved to another team, searched for as for a ban; nil for one who has not
  /// moved, or has no account.
  func latestSubject(of subject: Subject) async throws(StoreError) -> Subject?
}

/// Members of groups who were added at run time. The store does not know which groups the configuration declares.
package protocol GroupStore: Sendable {
  /// Adds a user, known or not; false if that one was there already. Deletes the user's open request.
  func add(_ subject: Subject, to group: GroupName, by: String, at now: Date) async throws(StoreError) -> Bool

  /// Removes a user; false if that one was not there.
  func remove(_ subject: Subject, from group: GroupName, at now: Date) async throws(StoreError) -> Bool

  /// The groups of a user, known or not, sorted by name.
  func groups(of subject: Subject) async throws(StoreError) -> [GroupName]

  /// The members of a group in the order of their subjects, after this one.
  func members(of group: GroupName, after subject: Subject?, limit: Int) async throws(StoreError) -> [Listed<Subject>]

  /// The number of members of each group that has any. A damaged name is left out: it is the name of no group, and the
  /// accounts of its members are damaged in every list.
  func memberCounts() async throws(StoreError) -> [GroupName: Int]
}

/// Requests for access.
package protocol AccessRequestStore: Sendable {
  /// Asks for access, for a known user.
  /// - Parameter code: used if the user has no open request yet; if another user has it, a new one is made.
  /// - Throws: `StoreError.Code.conflict` if the user is unknown.
  func ask(
    _ subject: Subject, code: AccessRequestCode, at now: Date
  ) async throws(StoreError) -> AccessRequestOutcome

  /// The open request with this code.
  func request(_ code: AccessRequestCode, at now: Date) async throws(StoreError) -> AccessRequest?

  /// The open request of a user.
  func request(of subject: Subject, at now: Date) async throws(StoreError) -> AccessRequest?

  /// Open requests, oldest first, with the accounts of those who ask; from after this one, from the beginning if it is
  /// gone meanwhile.
  func requests(
    after code: AccessRequestCode?, limit: Int, at now: Date
  ) async throws(StoreError) -> [Listed<(request: AccessRequest, account: Account)>]

  /// The number of open requests.
  func requestCount(at now: Date) async throws(StoreError) -> Int

  /// Adds the user of an open request to a group and deletes the request, in one transaction; false if the request is
  /// no longer open, and then nothing is changed. Of concurrent calls of this and `reject` at most one succeeds.
  func admit(
    _ request: AccessRequest, to group: GroupName, by: String, at now: Date
  ) async throws(StoreError) -> Bool

  /// Deletes an open request; false if no such request is open.
  func reject(_ code: AccessRequestCode, at now: Date) async throws(StoreError) -> Bool
}

/// Invitations to groups.
package protocol InvitationStore: Sendable {
  /// Keeps a new invitation under the hash of its code.
  /// - Throws: `StoreError.Code.conflict` if the ID is taken.
  func create(_ invitation: Invitation, hash: [UInt8]) async throws(StoreError)

  /// The invitation of a code, also one that no longer admits anybody; nil if it was revoked, removed or never there.
  func invitation(hash: [UInt8]) async throws(StoreError) -> Invitation?

  /// Admits a user by an invitation, in one transaction, once for each user: of any number of concurrent calls at most
  /// `Invitation.uses` different users are admitted. The account must be known.
  /// - Parameter isMember: whether the configuration has the user in the group already.
  /// - Throws: `StoreError.Code.conflict` if the user is unknown.
  func redeem(
    hash: [UInt8], by subject: Subject, isMember: Bool, at now: Date
  ) async throws(StoreError) -> RedemptionOutcome

  /// Invitations, newest first, also those that no longer admit anybody until they are removed.
  func invitations() async throws(StoreError) -> [Listed<Invitation>]

  /// Ends an invitation; false if it does not exist. Users that it admitted stay admitted.
  func revokeInvitation(_ id: String) async throws(StoreError) -> Bool
}

/// Tokens of machines.
package protocol MachineTokenStore: Sendable {
  /// Keeps a new token, noted in the change feed as a change of its subject.
  /// - Throws: `StoreError.Code.conflict` if the name is taken.
  func create(_ token: MachineToken) async throws(StoreError)

  /// The token with this public name; nil if it was revoked or never there. The caller decides whether it has expired.
  func token(_ handle: PublicSessionID) async throws(StoreError) -> MachineToken?

  /// All tokens, in the order of their names.
  func machineTokens() async throws(StoreError) -> [Listed<MachineToken>]

  /// Revokes a token, noted in the change feed as the end (`.byOperator`) of its public name, and in any case as a
  /// change of its subject.
  /// - Returns: the public name; nil if there was none.
  func revokeToken(_ name: GroupName, at now: Date) async throws(StoreError) -> PublicSessionID?
}

/// Lists of accounts.
package protocol AccountListStore: Sendable {
  /// Accounts with what lists show of them, in the order of their subjects, after this one.
  func summaries(after subject: Subject?, limit: Int) async throws(StoreError) -> [Listed<AccountSummary>]
}
