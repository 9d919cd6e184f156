package import FoundationEssentials

/// Leases of the right to ask Apple about an account.
///
/// A store implements `recordLease`; consumers call `acquireLease`, which alone makes a `RevalidationLease`.
package protocol RevalidationLeaseStore: Sendable {
  /// Records a lease of the right to ask Apple about an account, by a compare-and-set: granted only if none was within
  /// `interval`. Of any number of concurrent calls at most one is granted. Until a good result is recorded the lease
  /// counts as a failed attempt (`Account.checkFailingSince`), without an answer (`Account.lastAnswer`) until one is
  /// recorded: other processes do not wait for an attempt that has failed. If there is no token, no attempt can succeed
  /// from when one was due. A damaged token is no error of the store: it is leased as any other, so that the attempt
  /// counts.
  ///
  /// - Parameter clientID: the preferred client; another client's token is used if this one has none.
  func recordLease(
    of subject: Subject, preferring clientID: String, interval: Duration, now: Date
  ) async throws(StoreError) -> LeaseOutcome<StoredLease>

  /// Releases a lease, only for a request that cannot have reached Apple: the time and the answer of the attempt before
  /// are restored. It stays a failed attempt. Has no effect if another lease was acquired, or the user signed in,
  /// since.
  func releaseLease(_ lease: RevalidationLease) async throws(StoreError)

  /// Records the result of a revalidation. A good one moves `lastVerified` on and merges claims
  /// (`AccountClaims.afterCheck`); the account counts as changed if they say something new of the user
  /// (`Account.hasNewClaims`). A result for a token that was replaced since ends nothing and replaces nothing. A result
  /// may come late: after a sign-in it leaves the account as it is, and after another lease it has no effect at all
  /// (`Account.standing(of:latest:)`).
  func record(_ answer: RevalidationRecord, of lease: RevalidationLease, at now: Date) async throws(StoreError)
    -> RecordedRevalidation
}

extension RevalidationLeaseStore {
  /// Acquires the lease to ask Apple about an account once (see `recordLease`).
  package func acquireLease(
    of subject: Subject, preferring clientID: String, interval: Duration, now: Date
  ) async throws(StoreError) -> RevalidationLeaseOutcome {
    switch try await recordLease(of: subject, preferring: clientID, interval: interval, now: now) {
    case .granted(let stored): .granted(RevalidationLease(stored))
    case .notYet(let account): .notYet(account)
    case .nothingToAskWith: .nothingToAskWith
    }
  }
}

/// The right to ask Apple about one account once, taken in the store before the request leaves.
///
/// Only `RevalidationLeaseStore.acquireLease` makes one, of what a store has recorded.
package struct RevalidationLease: Sendable {
  private let stored: StoredLease

  fileprivate init(_ stored: StoredLease) { self.stored = stored }

  /// The account.
  package var subject: Subject { stored.subject }
  /// The client whose token is used.
  package var clientID: String { stored.clientID }
  /// The refresh token to ask with.
  package var token: EncryptedToken { stored.token }
  /// When the lease was acquired.
  package var acquiredAt: Date { stored.acquiredAt }
  /// The number that distinguishes this lease from every other of the account.
  package var number: Int64 { stored.number }
  /// The number that distinguishes this token from the client's earlier and later ones: a result for one that was
  /// replaced since ends nothing.
  package var tokenVersion: Int64 { stored.tokenVersion }
  /// When the account was asked about before; restored if the lease is released.
  package var previouslyAsked: Date? { stored.previouslyAsked }
  /// The answer before; restored if the lease is released.
  package var previousAnswer: RevalidationRecord.Kind? { stored.previousAnswer }
}

/// A lease as a store has recorded it, from which a `RevalidationLease` is made.
package struct StoredLease: Sendable {
  fileprivate let subject: Subject
  fileprivate let clientID: String
  fileprivate let token: EncryptedToken
  fileprivate let acquiredAt: Date
  fileprivate let number: Int64
  fileprivate let tokenVersion: Int64
  fileprivate let previouslyAsked: Date?
  fileprivate let previousAnswer: RevalidationRecord.Kind?

  /// The columns of a lease; see `RevalidationLease`.
  package init(
    subject: Subject, clientID: String, token: EncryptedToken, acquiredAt: Date, number: Int64, tokenVersion: Int64,
    previouslyAsked: Date?, previousAnswer: RevalidationRecord.Kind?
  ) {
    self.subject = subject
    self.clientID = clientID
    self.token = token
    self.acquiredAt = acquiredAt
    self.number = number
    self.tokenVersion = tokenVersion
    self.previouslyAsked = previouslyAsked
    self.previousAnswer = previousAnswer
  }
}

/// The outcome of acquiring a lease.
package enum LeaseOutcome<Lease: Sendable>: Sendable {
  /// The lease: Apple may be asked once.
  case granted(Lease)
  /// Apple was asked within the interval (by another loop or replica, or a sign-in): the account as it is now.
  case notYet(Account)
  /// The account or its token does not exist.
  case nothingToAskWith
}

/// The outcome of `RevalidationLeaseStore.acquireLease`.
package typealias RevalidationLeaseOutcome = LeaseOutcome<RevalidationLease>
