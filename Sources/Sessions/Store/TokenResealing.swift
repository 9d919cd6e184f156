import FoundationEssentials

/// A refresh token where it lies in the store.
public struct StoredToken: Sendable, Equatable {
  /// Whose token it is.
  public let subject: Subject
  /// The client that it was given to.
  public let clientID: String
  /// The token as it is sealed now.
  public let token: SealedToken

  /// A token and whose it is.
  public init(subject: Subject, clientID: String, token: SealedToken) {
    self.subject = subject
    self.clientID = clientID
    self.token = token
  }
}

/// A refresh token that was sealed anew.
public struct ResealedToken: Sendable, Equatable {
  /// As it lies in the store.
  public let stored: StoredToken
  /// What is to lie there instead.
  public let token: SealedToken

  /// Put together by whoever opened and sealed it.
  public init(_ stored: StoredToken, as token: SealedToken) {
    self.stored = stored
    self.token = token
  }
}

/// Moves every refresh token to the first key (`cordon store reseal`), so that an older secret can be removed. May run
/// while the gateway does.
public enum TokenResealing {
  /// Why it stopped.
  public enum Failure: Error, Sendable, CustomStringConvertible {
    /// The store failed.
    case store(StoreError)
    /// A token cannot be opened: its key is gone, or it was damaged or moved.
    case token(SealError, of: Subject, clientID: String)

    public var description: String {
      switch self {
      case .store(let error): error.description
      case .token(_, let subject, let clientID):
        "the refresh token of \(subject) for \(clientID) cannot be opened: put the secret that sealed it back into "
          + "session.secret_files, behind the first one; if that is lost, forget the account (it signs in again)"
      }
    }
  }

  /// - Parameter progress: told after each batch how many were moved so far.
  /// - Returns: how many tokens were moved.
  public static func run(
    store: any SessionStore, keyring: SessionKeyring, progress: (Int) -> Void = { _ in }
  ) async throws(Failure) -> Int {
    var moved = 0
    while true {
      let batch: [StoredToken]
      do {
        batch = try await store.storedTokens(notSealedBy: keyring.firstKey, limit: 200)
      } catch {
        throw .store(error)
      }
      if batch.isEmpty { return moved }
      var resealed: [ResealedToken] = []
      for stored in batch { resealed.append(try reseal(stored, with: keyring)) }
      do {
        moved += try await store.replace(resealed)
      } catch {
        throw .store(error)
      }
      progress(moved)
    }
  }

  private static func reseal(_ stored: StoredToken, with keyring: SessionKeyring) throws(Failure) -> ResealedToken {
    do {
      let text = try keyring.open(stored.token, of: stored.subject, clientID: stored.clientID)
      return ResealedToken(stored, as: try keyring.seal(text, of: stored.subject, clientID: stored.clientID))
    } catch {
      throw .token(error, of: stored.subject, clientID: stored.clientID)
    }
  }
}
