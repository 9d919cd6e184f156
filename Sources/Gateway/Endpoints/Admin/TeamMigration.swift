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

  /// The request for one page of a migration.
  ///
  /// First come accounts, and users without one whose subjects are known, in the order of their subjects. When the move
  /// is completed, those whose subjects were deleted come last, in the order of their transfer identifiers: an account
  /// that is deleted while the migration runs becomes one of them, and anywhere else it could be among those that were
  /// passed before.
  struct PageRequest: Equatable {
    var stage: Stage
    /// The last user of the page before.
    var after: Subject?
    /// The largest number of accounts; each is one call to Apple.
    var limit = 50
    /// Whether only to report the steps, without calls to Apple except for the permit.
    var isDry = false
    /// Whether it begins among the users whose subjects were deleted.
    var isAmongDeleted = false

    /// The place where it begins, as reports have it. No subject has a space.
    var place: String? { isAmongDeleted ? " " + (after?.text ?? "") : after?.text }

    /// Begins at a place of a report.
    /// - Returns: false if the text is not a place.
    mutating func begin(at place: String) -> Bool {
      isAmongDeleted = place.utf8.first == UInt8(ascii: " ")
      let text = isAmongDeleted ? String(place.dropFirst()) : place
      after = Subject(text)
      return after != nil || isAmongDeleted && text.isEmpty
    }

    enum Stage: Equatable {
      /// Before the transfer, by the sending team: requests each account's transfer identifier for a team.
      case prepare(team: String)
      /// After the transfer, by the receiving team: exchanges those identifiers, and moves the accounts.
      case complete
    }
  }

  /// The time limit of a page: the client waits for two minutes, and one call to Apple can take twelve seconds.
  private static let timeLimit = Duration.seconds(60)

  func run(_ request: PageRequest) async throws -> MigrationReport {
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
    _ entry: Entry, of subject: Subject, _ request: PageRequest, _ permit: inout TransferPermit?
  ) async throws(TransferError) -> MigrationReport.Result? {
    switch step(entry, of: subject, request) {
    case .skip: return nil
    case .result(let result): return result
    case .keep(let transfer):
      if request.isDry { return Self.doneBefore(subject) }
      return await keep(transfer, of: subject)
    case .ask(let user):
      let current: TransferPermit
      if let permit {
        current = permit
      } else {
        current = try await apple.transfer.authorize(clientID: apple.settings.clientID)
        permit = current
      }
      if request.isDry { return MigrationReport.Result(subject, .wouldBeDone) }
      return try await attempt(user, request.stage, by: current)
    }
  }

  /// The bans that cannot be prepared; nil unless they are to be.
  private func unpreparedBanCount(_ stage: PageRequest.Stage) async throws -> Int? {
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

  /// A user whose identifier is requested or exchanged.
  private struct User {
    let subject: Subject
    let prepared: PreparedTransfer?
    let hasAccount: Bool
    /// Whether the transfer identifier stands for the subject, which was deleted.
    var isDeleted = false
  }

  private enum Step {
    /// Nothing is to be done, and nothing to be said.
    case skip
    case result(MigrationReport.Result)
    /// The identifier for this team is known: it is stored again, so that it is kept long enough, and for bans, too.
    case keep(PreparedTransfer)
    case ask(User)
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
  private func page(_ request: PageRequest) async throws -> Page {
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

  private func step(_ entry: Entry, of subject: Subject, _ request: PageRequest) -> Step {
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
  private static func step(_ account: Account, _ stage: PageRequest.Stage, team: String) -> Step {
    let prepared = account.claims.preparedTransfer
    let user = User(subject: account.subject, prepared: prepared, hasAccount: true)
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
  private static func step(_ named: NamedUser, _ request: PageRequest, team: String) -> Step {
    let user = User(
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

  // MARK: Preparing and completing

  private static func doneBefore(_ subject: Subject) -> MigrationReport.Result {
    MigrationReport.Result(subject, .doneBefore)
  }

  /// Stores an identifier again.
  private func keep(_ transfer: PreparedTransfer, of subject: Subject) async -> MigrationReport.Result {
    do throws(StoreError) {
      let isKnown = try await store.prepare(transfer, of: subject, at: .now)
      return isKnown ? Self.doneBefore(subject) : MigrationReport.Result(subject, .gone)
    } catch {
      storeHealth.failed("administration", error)
      return MigrationReport.Result(subject, .failed, message: "\(error)")
    }
  }

  private func attempt(
    _ user: User, _ stage: PageRequest.Stage, by permit: TransferPermit
  ) async throws(TransferError) -> MigrationReport.Result {
    do {
      switch stage {
      case .prepare(let team): return try await prepare(user, team, permit)
      case .complete: return try await complete(user, permit)
      }
    } catch let problem as TransferError {
      guard problem.isAboutOneUser else { throw problem }
      return Self.refused(user, problem)
    } catch let problem as SealError {
      return MigrationReport.Result(
        user.subject, .failed, message: "a refresh token cannot be decrypted: \(problem.ofStoredToken)")
    } catch {
      if let error = error as? StoreError { storeHealth.failed("administration", error) }
      return MigrationReport.Result(user.subject, .failed, message: "\(error)")
    }
  }

  /// The result for a user whom Apple refuses. A subject that a person typed may be of nobody.
  private static func refused(_ user: User, _ problem: TransferError) -> MigrationReport.Result {
    if user.hasAccount { return MigrationReport.Result(user.subject, .refused, message: problem.message) }
    return MigrationReport.Result(
      user.subject, .unknownToApple,
      message: "a ban or a group names this user, who has no account and cannot be followed to the other team: "
        + problem.message)
  }

  private func prepare(
    _ user: User, _ team: String, _ permit: TransferPermit
  ) async throws -> MigrationReport.Result {
    let text = try await apple.transfer.transferSubject(of: user.subject.text, toTeam: team, by: permit)
    guard let subject = Subject(text) else { throw TransferError.malformed("transfer_sub") }
    let isKnown = try await store.prepare(
      PreparedTransfer(subject: subject, team: team), of: user.subject, at: .now)
    await sessions.markStale(user.subject)
    return MigrationReport.Result(user.subject, isKnown ? .done : .gone)
  }

  private func complete(_ user: User, _ permit: TransferPermit) async throws -> MigrationReport.Result {
    guard let prepared = user.prepared else {
      return MigrationReport.Result(user.subject, .notPrepared)
    }
    let found = try await apple.transfer.user(behind: prepared.subject.text, by: permit)
    guard let new = Subject(found.subject) else { throw TransferError.malformed("sub") }
    let identity = AccountTransfer.Identity(
      subject: new, email: found.email, isPrivateEmail: found.isPrivateEmail)
    let transfer = AccountTransfer(store: store, sessions: sessions, keyring: keyring)
    var outcome = MoveOutcome.unknownSubject
    if user.hasAccount { outcome = try await transfer.move(user.subject, to: identity) }
    // Of an account that was deleted since the page was read, a ban and memberships are left.
    if outcome == .unknownSubject { outcome = try await transfer.follow(prepared.subject, to: identity) }
    switch outcome {
    case .moved where user.isDeleted:
      return MigrationReport.Result(
        user.subject, .done, message: "the ban of a user whose account was deleted holds for the new subject, too")
    case .moved: return MigrationReport.Result(user.subject, .done, new: new)
    case .unknownSubject: return MigrationReport.Result(user.subject, .gone, new: new)
    case .tokensChanged:
      return MigrationReport.Result(
        user.subject, .failed, message: "the user's tokens changed again and again: try again")
    }
  }
}
