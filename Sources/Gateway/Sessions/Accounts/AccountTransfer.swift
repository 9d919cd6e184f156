internal import FoundationEssentials
internal import Secrets
internal import Sessions

/// Moves users to the subjects that they have with another team.
struct AccountTransfer: Sendable {
  /// The parts of the store that it needs.
  typealias Store = EncryptedTokenStore & TeamTransferStore

  let store: any Store
  let sessions: SessionManager
  let keyring: SessionKeyring

  /// A user's identity with the new team.
  struct Identity: Sendable {
    let subject: Subject
    /// The address that Apple sent with it.
    let email: String?
    /// Whether the address is one of Apple's relay.
    let isPrivateEmail: Bool?
  }

  /// Moves an account to its new subject, with its refresh tokens re-encrypted.
  /// - Parameter keepsDamaged: whether a damaged token moves as it is, for a user who signs in and so brings another
  ///   one: nothing else would let such a user in again.
  /// - Returns: `.tokensChanged` if the tokens changed again and again.
  /// - Throws: `StoreError`; `SealError` if a refresh token cannot be decrypted.
  func move(_ old: Subject, to new: Identity, keepsDamaged: Bool = false) async throws -> MoveOutcome {
    // A sign-in between reading and writing replaces a token: read again.
    for _ in 0..<5 {
      let tokens = try await store.tokens(of: old).map { stored in
        (old: stored, resealed: try reseal(stored, for: new.subject, keepsDamaged: keepsDamaged))
      }
      let move = AccountMove(
        old: old, new: new.subject, email: new.email, isPrivateEmail: new.isPrivateEmail, tokens: tokens)
      let outcome = try await store.move(move, at: .now)
      if outcome == .tokensChanged { continue }
      await sessions.markStale(old)
      await sessions.markStale(new.subject)
      return outcome
    }
    return .tokensChanged
  }

  private func reseal(
    _ stored: StoredToken, for new: Subject, keepsDamaged: Bool
  ) throws(SealError) -> EncryptedToken {
    let text: RefreshToken
    do throws(SealError) {
      text = try keyring.open(stored.token, of: stored.subject, clientID: stored.clientID)
    } catch {
      if keepsDamaged, error == .refused { return stored.token }
      throw error
    }
    return try keyring.seal(text, of: new, clientID: stored.clientID)
  }

  /// Moves everything that is stored of the user with this transfer identifier: the account, or without one the ban and
  /// the memberships.
  /// - Parameter keepsDamaged: as for `move`.
  /// - Returns: `.unknownSubject` if nothing was to be moved.
  /// - Throws: as `move`.
  func follow(_ identifier: Subject, to new: Identity, keepsDamaged: Bool = false) async throws -> MoveOutcome {
    // An account that is deleted in between leaves its ban and memberships: look again.
    for _ in 0..<5 {
      switch try await store.follow(identifier, to: new.subject, at: .now) {
      case .nothing: return .unknownSubject
      case .account(let old):
        let outcome = try await move(old, to: new, keepsDamaged: keepsDamaged)
        if outcome != .unknownSubject { return outcome }
      case .moved:
        await sessions.markStale(new.subject)
        return .moved
      }
    }
    return .tokensChanged
  }
}
