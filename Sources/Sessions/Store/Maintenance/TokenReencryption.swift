package import FoundationEssentials

/// An encrypted refresh token in the store.
package struct StoredToken: Sendable, Equatable {
  /// The user.
  package let subject: Subject
  /// The client that it was given to.
  package let clientID: String
  /// The token as it is encrypted now.
  package let token: EncryptedToken

  /// A token of a user for a client.
  package init(subject: Subject, clientID: String, token: EncryptedToken) {
    self.subject = subject
    self.clientID = clientID
    self.token = token
  }
}

/// A refresh token that was re-encrypted.
package struct ReencryptedToken: Sendable, Equatable {
  /// The token in the store.
  package let stored: StoredToken
  /// The token to replace it with.
  package let token: EncryptedToken

  /// A token and its re-encrypted replacement.
  package init(_ stored: StoredToken, as token: EncryptedToken) {
    self.stored = stored
    self.token = token
  }
}

/// Re-encrypts every refresh token with the current key (`cordon store reseal`), so that an older secret can be
/// removed. May run while the gateway runs.
package enum TokenReencryption {
  /// The policy for a token that cannot be decrypted.
  package enum Unreadable: Sendable {
    /// Re-encryption stops.
    case stop
    /// It is deleted, and the sessions of its user end: they could not be revalidated.
    case forget
  }

  /// The number of tokens handled so far.
  package struct Progress: Sendable, Equatable {
    /// Tokens that were re-encrypted with the current key.
    package internal(set) var moved = 0
    /// Tokens that were deleted.
    package internal(set) var forgotten = 0
  }

  /// The reason that it stopped.
  package enum Failure: Error, Sendable, CustomStringConvertible {
    /// The store failed.
    case store(StoreError)
    /// A token cannot be decrypted: its key is missing, or it was damaged or moved.
    case token(SealError, of: Subject, clientID: String)

    package var description: String {
      switch self {
      case .store(let error): error.description
      case .token(let error, let subject, let clientID):
        "the refresh token of \(subject) for \(clientID) cannot be decrypted: \(error.ofStoredToken); if that is not "
          + "possible, --forget-unreadable deletes such tokens and ends the sessions that need them"
      }
    }
  }

  /// - Parameters:
  ///   - now: when sessions end that go with a forgotten token.
  ///   - report: called after each batch.
  @discardableResult
  package static func run(
    store: any SessionStore, keyring: SessionKeyring, unreadable: Unreadable = .stop, now: Date = .now,
    report: (Progress) -> Void = { _ in }
  ) async throws(Failure) -> Progress {
    var progress = Progress()
    while true {
      let batch: [StoredToken]
      do {
        batch = try await store.storedTokens(notSealedBy: keyring.currentKey, limit: 200)
      } catch {
        throw .store(error)
      }
      if batch.isEmpty { return progress }
      var resealed: [ReencryptedToken] = []
      var lost: [StoredToken] = []
      for stored in batch {
        do {
          resealed.append(try reseal(stored, with: keyring))
        } catch {
          guard case .forget = unreadable else { throw error }
          lost.append(stored)
        }
      }
      do {
        progress.moved += try await store.replace(resealed)
        for stored in lost { try await store.end(.all(of: stored.subject), because: .byOperator, at: now) }
        progress.forgotten += try await store.delete(lost)
      } catch {
        throw .store(error)
      }
      report(progress)
    }
  }

  /// Ends every session, account by account.
  /// - Parameter report: called after each batch of accounts with the number handled so far.
  /// - Returns: how many sessions there were.
  package static func endEverySession(
    in store: any SessionStore, now: Date = .now, report: (Int) -> Void = { _ in }
  ) async throws(StoreError) -> Int {
    let limit = 200
    var (accounts, ended) = (0, 0)
    var last: Subject?
    while true {
      let (batch, start) = (try await store.accounts(after: last, limit: limit), last)
      if batch.isEmpty { return ended }
      // Those of a damaged account as well. Of one whose subject cannot be read, no session can be used.
      for subject in batch.compactMap({ $0.subject }) {
        ended += try await store.end(.all(of: subject), because: .byOperator, at: now).count
        last = subject
      }
      accounts += batch.count
      report(accounts)
      if batch.count < limit { return ended }
      if last == start, let damage = batch.first?.damage { throw damage.error }
    }
  }

  private static func reseal(_ stored: StoredToken, with keyring: SessionKeyring) throws(Failure) -> ReencryptedToken {
    do {
      let text = try keyring.open(stored.token, of: stored.subject, clientID: stored.clientID)
      return ReencryptedToken(stored, as: try keyring.seal(text, of: stored.subject, clientID: stored.clientID))
    } catch {
      throw .token(error, of: stored.subject, clientID: stored.clientID)
    }
  }
}
