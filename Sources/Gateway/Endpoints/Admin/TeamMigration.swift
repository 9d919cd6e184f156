internal import AppleIdentity
internal import FoundationEssentials
internal import Sessions

/// Migrates the accounts of an application that moves to another team: page by page, so that the caller sees the
/// progress and can resume after an interruption. Migrated accounts are skipped.
struct TeamMigration {
  let store: any AccountStore & EncryptedTokenStore & TeamTransferStore
  let storeHealth: StoreHealth
  let sessions: SessionManager
  let apple: AppleIdentityProvider
  let keyring: SessionKeyring

  /// The request for one page of a migration.
  struct PageRequest: Equatable {
    var stage: Stage
    /// The last account of the page before.
    var after: Subject?
    /// The largest number of accounts; each is one call to Apple.
    var limit = 50
    /// Whether only to report the steps, without calls to Apple except for the permit.
    var isDry = false

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
    let began = ContinuousClock.now
    if case .prepare(apple.settings.teamID) = request.stage { throw AdministrationError.sameTeam }
    let page = try await store.accounts(after: request.after, limit: request.limit).map(Self.named)
    var results: [MigrationReport.Result] = []
    var permit: TransferPermit?
    var reached = request.after
    do throws(TransferError) {
      for (subject, listed) in page {
        var result = known(listed, of: subject, request.stage)
        if result == nil, let account = listed.record {
          if permit == nil { permit = try await apple.transfer.authorize(clientID: apple.settings.clientID) }
          if request.isDry {
            result = MigrationReport.Result(subject, "would_be_done")
          } else if let permit {
            result = try await attempt(account, request.stage, by: permit)
          }
        }
        if let result { results.append(result) }
        reached = subject
        if .now - began > Self.timeLimit { return MigrationReport(results: results, next: reached?.text, stopped: nil) }
      }
    } catch {
      return MigrationReport(results: results, next: reached?.text, stopped: error.message)
    }
    return MigrationReport(results: results, next: page.count < request.limit ? nil : reached?.text, stopped: nil)
  }

  /// An account with its subject.
  /// - Throws: `StoreError` if the subject cannot be read: the account would be left out.
  private static func named(_ listed: Listed<Account>) throws -> (subject: Subject, listed: Listed<Account>) {
    if let subject = listed.subject { return (subject, listed) }
    throw (listed.damage ?? DamagedRecord(name: nil, what: "subject")).error
  }

  /// The result for an account that needs no call, or is damaged.
  private func known(
    _ listed: Listed<Account>, of subject: Subject, _ stage: PageRequest.Stage
  ) -> MigrationReport.Result? {
    switch listed {
    case .readable(let account): return Self.known(account, stage, team: apple.settings.teamID)
    case .damaged(let damage):
      storeHealth.failed("administration", damage.error)
      return MigrationReport.Result(
        subject, "failed",
        message: "the account is damaged: restore the store from a backup, or remove the account with `cordon accounts "
          + "disconnect --force \(subject)`")
    }
  }

  /// The result for an account that needs no call, because it is migrated already or not prepared for this team.
  private static func known(_ account: Account, _ stage: PageRequest.Stage, team: String) -> MigrationReport.Result? {
    let prepared = account.claims.preparedTransfer
    switch stage {
    case .prepare(let target):
      return prepared?.team == target ? MigrationReport.Result(account.subject, "done_before") : nil
    case .complete:
      if let other = prepared?.team {
        if other == team { return nil }
        // Most likely the old team's configuration is still in use.
        return MigrationReport.Result(
          account.subject, "other_team",
          message: "prepared for team \(other), but apple.team_id of the running gateway is \(team): complete it with "
            + "the configuration of \(other), or prepare again with --to \(team)")
      }
      guard let former = account.claims.formerSubject else {
        return MigrationReport.Result(account.subject, "not_prepared")
      }
      return MigrationReport.Result(former, "done_before", new: account.subject)
    }
  }

  private func attempt(
    _ account: Account, _ stage: PageRequest.Stage, by permit: TransferPermit
  ) async throws(TransferError) -> MigrationReport.Result {
    do {
      switch stage {
      case .prepare(let team): return try await prepare(account, team, permit)
      case .complete: return try await complete(account, permit)
      }
    } catch let problem as TransferError {
      guard problem.isAboutOneUser else { throw problem }
      return MigrationReport.Result(account.subject, "refused", message: problem.message)
    } catch let problem as SealError {
      return MigrationReport.Result(
        account.subject, "failed", message: "a refresh token cannot be decrypted: \(problem.ofStoredToken)")
    } catch {
      if let error = error as? StoreError { storeHealth.failed("administration", error) }
      return MigrationReport.Result(account.subject, "failed", message: "\(error)")
    }
  }

  private func prepare(
    _ account: Account, _ team: String, _ permit: TransferPermit
  ) async throws -> MigrationReport.Result {
    let text = try await apple.transfer.transferSubject(of: account.subject.text, toTeam: team, by: permit)
    guard let subject = Subject(text) else { throw TransferError.malformed("transfer_sub") }
    let isKnown = try await store.prepare(
      PreparedTransfer(subject: subject, team: team), of: account.subject, at: .now)
    await sessions.forget(account.subject)
    return MigrationReport.Result(account.subject, isKnown ? "done" : "gone")
  }

  private func complete(_ account: Account, _ permit: TransferPermit) async throws -> MigrationReport.Result {
    guard let prepared = account.claims.preparedTransfer else {
      return MigrationReport.Result(account.subject, "not_prepared")
    }
    let user = try await apple.transfer.user(behind: prepared.subject.text, by: permit)
    guard let new = Subject(user.subject) else { throw TransferError.malformed("sub") }
    // A sign-in between reading and writing replaces a token: read again.
    for _ in 0..<5 {
      let tokens = try await store.tokens(of: account.subject).map { stored in
        let text = try keyring.open(stored.token, of: stored.subject, clientID: stored.clientID)
        return (old: stored, resealed: try keyring.seal(text, of: new, clientID: stored.clientID))
      }
      let move = AccountMove(
        old: account.subject, new: new, email: user.email, isPrivateEmail: user.isPrivateEmail, tokens: tokens)
      let outcome = try await store.move(move, at: .now)
      if outcome == .tokensChanged { continue }
      await sessions.forget(account.subject)
      await sessions.forget(new)
      return MigrationReport.Result(account.subject, outcome == .moved ? "done" : "gone", new: new)
    }
    return MigrationReport.Result(
      account.subject, "failed", message: "the user's tokens changed again and again: try again")
  }
}

/// `POST /accounts/migrate`: the results for a page of accounts.
package struct MigrationReport: Codable, Sendable, Equatable {
  /// In the order of the subjects.
  package let results: [Result]
  /// The place to go on from; nil after the last page.
  package let next: String?
  /// The reason that it stopped early; nil if it did not. Results before it are final.
  package let stopped: String?

  /// One account.
  package struct Result: Codable, Sendable, Equatable {
    /// The present subject of the user.
    package let subject: String
    /// `done`, `done_before`, `would_be_done`, `not_prepared`, `other_team` (prepared for a team that is not that
    /// of the configuration), `refused`, `failed`, `gone`.
    package let outcome: String
    /// The new subject of the user.
    package let newSubject: String?
    /// The problem and the remedy.
    package let message: String?

    private enum CodingKeys: String, CodingKey {
      case subject = "sub"
      case outcome
      case newSubject = "new_sub"
      case message
    }

    init(_ subject: Subject, _ outcome: String, new: Subject? = nil, message: String? = nil) {
      self.subject = subject.text
      self.outcome = outcome
      newSubject = new?.text
      self.message = message
    }
  }
}
