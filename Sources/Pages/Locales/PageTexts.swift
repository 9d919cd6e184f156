/// The words of one language. Each text is asked for by a key with its parts as values; a switch over all keys is what
/// makes a translation complete.
protocol PageTexts: Sendable {
  /// The tag of the language (BCP 47), for `lang`.
  var language: String { get }
  /// The direction of its script, for `dir`.
  var direction: TextDirection { get }

  func text(_ key: PageText) -> String
  func text(_ key: AccessText) -> String
  func text(_ failure: PageFailure, application: String) -> FailureText
  func text(_ key: AccountText) -> String
  func text(_ key: FormText) -> String
}

/// `dir` of HTML.
enum TextDirection: String, Sendable {
  case leftToRight = "ltr"
  case rightToLeft = "rtl"
}

/// The keys of the texts about signing in and out, and of those that all pages share.
enum PageText: Sendable, Equatable {
  case signInTitle(application: String)
  case signInExplanation(application: String)
  case signOutQuestion(application: String)
  case signedInAs
  case signOutExplanation
  case signOutButton
  case stayButton
  case signedOutTitle
  case signedOutExplanation(application: String)
  case signInAgainButton
  case signInButton
  case repostTitle
  case repostExplanation
  case scriptNeeded
  case continueButton
  case tryAgainButton
  case startPageButton
  case otherAccountButton
  case requestIDLabel
  case failureTitle(heading: String, application: String)
}

/// The texts of a failure.
struct FailureText: Sendable, Equatable {
  /// The problem in a few words.
  var heading: String
  /// The problem in a sentence or two.
  var explanation: String
  /// Advice for the user, if the explanation has none.
  var advice: String?
}
