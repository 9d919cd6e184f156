internal import AppleIdentity
internal import FoundationEssentials
internal import Sessions

/// Migrates one user: requests the transfer identifier and keeps it, or exchanges it and moves the account.
struct UserMigration {
  let store: any AccountTransfer.Store
  let storeHealth: StoreHealth
  let sessions: SessionManager
  let apple: AppleIdentityProvider
  let keyring: SessionKeyring

  /// A user whose identifier is requested or exchanged.
  struct User {
    let subject: Subject
    let prepared: PreparedTransfer?
    let hasAccount: Bool
    /// Whether the transfer identifier stands for the subject, which was deleted.
    var isDeleted = false
  }

  /// Stores an identifier that is known already again, so that it is kept long enough, and for bans, too.
  func keep(_ transfer: PreparedTransfer, of subject: Subject) async -> MigrationReport.Result {
    do throws(StoreError) {
      let isKnown = try await store.prepare(transfer, of: subject, at: .now)
      return MigrationReport.Result(subject, isKnown ? .doneBefore : .gone)
    } catch {
      storeHealth.failed("administration", error)
      return MigrationReport.Result(subject, .failed, message: "\(error)")
    }
  }

  /// Asks Apple about a user, and stores the answer.
  /// - Throws: an error that is not about this user alone.
  func attempt(
    _ user: User, _ stage: MigrationPageRequest.Stage, by permit: TransferPermit
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
