/// The keys of the texts about forms that were submitted without a session.
enum FormText: Sendable, Equatable, CaseIterable {
  /// The entries are kept, and how to go on.
  case kept
  /// The user has signed in.
  case ready
  case sendButton
  /// Somebody else has signed in.
  case otherAccount
  case keepingNeedsScript
  /// The entries could not be kept, and what to do.
  case notKept
  /// The page in the tab of the sign-in.
  case signedInTitle
  case signedInExplanation
}
