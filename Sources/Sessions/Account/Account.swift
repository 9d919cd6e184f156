package import FoundationEssentials

/// One Apple user, as far as this gateway knows them. The store keeps one encrypted refresh token for each
/// `client_id` that the user signed in with; tokens are never part of this value.
package struct Account: Sendable, Equatable {
  /// The user.
  package let subject: Subject
  /// The name, once one was submitted; never removed afterwards.
  package var name: PersonName?
  /// The claims of Apple's most recent tokens.
  package var claims: AccountClaims
  /// When the user last signed in, by our clock.
  package var latestAuthorization: Date
  /// When Apple issued the identity token of the latest sign-in, by Apple's clock; nil for a sign-in from before this
  /// was stored. A notification about something older ends nothing.
  package var appleAuthorized: Date?
  /// When Apple last confirmed the account: by a sign-in or by a good answer to a check.
  package var lastVerified: Date
  /// When a lease to ask Apple was last acquired. A sign-in counts as asking.
  package var lastAsked: Date?
  /// The result of the last revalidation; nil before the first, and from the moment a lease is acquired until the
  /// result is recorded.
  package var lastAnswer: RevalidationRecord.Kind?
  /// The first attempt to check the account since Apple last confirmed it; nil where there was none. The grace period
  /// counts from it. See `failingSince(at:)`.
  package var checkFailingSince: Date?
  /// The part that operators and managers decide at run time.
  package var access: AccountAccess

  /// An account as a store keeps it.
  package init(
    subject: Subject, name: PersonName?, claims: AccountClaims, latestAuthorization: Date, lastVerified: Date,
    lastAsked: Date?, lastAnswer: RevalidationRecord.Kind? = nil, checkFailingSince: Date? = nil,
    appleAuthorized: Date? = nil, access: AccountAccess = AccountAccess()
  ) {
    self.subject = subject
    self.name = name
    self.claims = claims
    self.latestAuthorization = latestAuthorization
    self.lastVerified = lastVerified
    self.lastAsked = lastAsked
    self.lastAnswer = lastAnswer
    self.checkFailingSince = checkFailingSince
    self.appleAuthorized = appleAuthorized
    self.access = access
  }
}
