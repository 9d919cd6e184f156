internal import AppleIdentity
internal import FoundationEssentials
internal import Sessions

/// Migrates the accounts of an application that moves to another team, and what bans and groups say of users without an
/// account: page by page, so that the caller sees the progress and can resume after an interruption. Migrated accounts
/// are skipped.
struct TeamMigration {
  let store: any AccountStore & EncryptedTokenStore & TeamTransferStore
  let storeHealth: StoreHealth
  let sessions: SessionManager
  let apple: AppleIdentityProvider
  let keyring: SessionKeyring
  /// The steady clock of the time limit of a page.
  var steady: @Sendable () -> ContinuousClock.Instant = { .now }

  /// The time limit of a page: the client waits for two minutes, and one call to Apple can take twelve seconds.
  private static let timeLimit = Duration.seconds(60)

  /// Handles the next users until a page is full, its time is over, or Apple refuses.
  func run(_ request: MigrationPageRequest) async throws -> MigrationReport {
    let began = steady()
    if case .prepare(apple.settings.teamID) = request.stage { throw AdminError.sameTeam }
    var reached = request
    var page = try await page(reached)
    var results: [MigrationReport.Result] = []
    var permit: TransferPermit?
    while true {
      for (subject, entry) in page.users {
        do throws(TransferError) {
          if let result = try await handle(entry, of: subject, reached, &permit) { results.append(result) }
        } catch {
          return MigrationReport(results: results, next: reached.place, stopped: error.message)
        }
        reached.after = subject
        if steady() - began > Self.timeLimit { return MigrationReport(results: results, next: reached.place) }
      }
      if page.isFull {
        reached.after = page.last
        if !reached.isAmongDeleted { return MigrationReport(results: results, next: reached.place) }
      } else if request.stage == .complete, !reached.isAmongDeleted {
        (reached.after, reached.isAmongDeleted) = (nil, true)
      } else {
        return MigrationReport(results: results, unpreparedBans: try await unpreparedBanCount(request.stage))
      }
      if steady() - began > Self.timeLimit { return MigrationReport(results: results, next: reached.place) }
      do {
        page = try await self.page(reached)
      } catch {
        // These results are final. Without any, the next request fails.
        if results.isEmpty { throw error }
        return MigrationReport(results: results, next: reached.place)
      }
    }
  }

  /// Handles one user.
  /// - Parameter permit: requested with the first user whom Apple is asked about.
  /// - Returns: nil if there is nothing to be said.
  private func handle(
    _ entry: Entry, of subject: Subject, _ request: MigrationPageRequest, _ permit: inout TransferPermit?
  ) async throws(TransferError) -> MigrationReport.Result? {
    switch step(entry, of: subject, request) {
    case .skip: return nil
    case .result(let result): return result
    case .keep(let transfer):
      if request.isDry { return MigrationReport.Result(subject, .doneBefore) }
      return await users.keep(transfer, of: subject)
    case .ask(let user):
      let current: TransferPermit
      if let permit {
        current = permit
      } else {
        current = try await apple.transfer.authorize(clientID: apple.settings.clientID)
        permit = current
      }
      if request.isDry { return MigrationReport.Result(subject, .wouldBeDone) }
      return try await users.attempt(user, request.stage, by: current)
    }
  }

  private var users: UserMigration {
    UserMigration(store: store, storeHealth: storeHealth, sessions: sessions, apple: apple, keyring: keyring)
  }

  /// The bans that cannot be prepared; nil unless they are to be.
  private func unpreparedBanCount(_ stage: MigrationPageRequest.Stage) async throws -> Int? {
    guard case .prepare(let team) = stage else { return nil }
    return try await store.unpreparedBanCount(forTeam: team, at: .now)
  }

  // MARK: Users

  /// An entry of the list of users, in which those without an account stand as well.
  private enum Entry {
    case account(Listed<Account>)
    /// A ban or a membership names the user, who has no account.
    case named(NamedUser)
  }

  private enum Step {
    /// Nothing is to be done, and nothing to be said.
    case skip
    case result(MigrationReport.Result)
    /// The identifier for this team is known, and stored again.
    case keep(PreparedTransfer)
    case ask(UserMigration.User)
  }

  /// A part of the list of users.
  private struct Page {
    let users: [(subject: Subject, entry: Entry)]
    /// The last user that was read for it.
    let last: Subject?
    /// Whether there may be more.
    let isFull: Bool
  }

  /// The number of users without an account that are read at a time in search of deleted subjects, for whom alone Apple
  /// is called.
  private static let searchSize = 1_000

  /// Users in the order of their subjects.
  private func page(_ request: MigrationPageRequest) async throws -> Page {
    if request.isAmongDeleted {
      let named = try await store.namedUsers(after: request.after, through: nil, limit: Self.searchSize)
      return Page(
        users: named.filter(\.isDeleted).map { (subject: $0.subject, entry: Entry.named($0)) },
        last: named.last?.subject, isFull: named.count == Self.searchSize)
    }
    let accounts = try await store.accounts(after: request.after, limit: request.limit).map { listed in
      (subject: try Self.subject(of: listed), entry: Entry.account(listed))
    }
    // Those after a full page of accounts belong to a later page.
    let last = accounts.count == request.limit ? accounts.last?.subject : nil
    let others = try await store.namedUsers(after: request.after, through: last, limit: request.limit).map { user in
      (subject: user.subject, entry: Entry.named(user))
    }
    let users = (accounts + others).sorted {
      $0.subject.text.utf8.lexicographicallyPrecedes($1.subject.text.utf8)
    }
    let part = Array(users.prefix(request.limit))
    return Page(users: part, last: part.last?.subject, isFull: part.count == request.limit)
  }

  /// - Throws: `StoreError` if the subject cannot be read: the account would be left out.
  private static func subject(of listed: Listed<Account>) throws -> Subject {
    if let subject = listed.subject { return subject }
    throw (listed.damage ?? DamagedRecord(name: nil, what: "subject")).error
  }

  private func step(_ entry: Entry, of subject: Subject, _ request: MigrationPageRequest) -> Step {
    switch entry {
    case .account(.readable(let account)): return Self.step(account, request.stage, team: apple.settings.teamID)
    case .account(.damaged(let damage)):
      storeHealth.failed("administration", damage.error)
      return .result(
        MigrationReport.Result(
          subject, .failed,
          message: "the account is damaged: restore the store from a backup, or remove the account with `cordon "
            + "accounts disconnect --force \(subject)`"))
    case .named(let user): return Self.step(user, request, team: apple.settings.teamID)
    }
  }

  /// The step for an account: it needs no call if it is migrated already or not prepared for this team.
  private static func step(_ account: Account, _ stage: MigrationPageRequest.Stage, team: String) -> Step {
    let prepared = account.claims.preparedTransfer
    let user = UserMigration.User(subject: account.subject, prepared: prepared, hasAccount: true)
    switch stage {
    case .prepare(let target):
      if let prepared, prepared.team == target { return .keep(prepared) }
      return .ask(user)
    case .complete:
      if let other = prepared?.team {
        if other == team { return .ask(user) }
        // Most likely the old team's configuration is still in use.
        return .result(
          MigrationReport.Result(
            account.subject, .otherTeam,
            message: "prepared for team \(other), but apple.team_id of the running gateway is \(team): complete it "
              + "with the configuration of \(other), or prepare again with --to \(team)"))
      }
      guard let former = account.claims.formerSubject else {
        return .result(MigrationReport.Result(account.subject, .notPrepared))
      }
      return .result(MigrationReport.Result(former, .doneBefore, new: account.subject))
    }
  }

  /// The step for a user without an account. One who is not prepared may be of the new team already.
  private static func step(_ named: NamedUser, _ request: MigrationPageRequest, team: String) -> Step {
    let user = UserMigration.User(
      subject: named.subject, prepared: named.prepared, hasAccount: false, isDeleted: named.isDeleted)
    switch request.stage {
    // It needs the subject.
    case .prepare where named.isDeleted: return .skip
    case .prepare(let target):
      if let prepared = named.prepared, prepared.team == target { return .keep(prepared) }
      return .ask(user)
    // Their turn comes last.
    case .complete where named.isDeleted && !request.isAmongDeleted: return .skip
    case .complete: return named.prepared?.team == team ? .ask(user) : .skip
    }
  }
}
