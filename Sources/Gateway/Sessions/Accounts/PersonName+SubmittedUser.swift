internal import AppleIdentity
internal import Sessions

extension PersonName {
  /// The name that Apple sends with the first authorization only, as the browser or the app has submitted it; nil
  /// without one.
  init?(_ user: SubmittedUser?) {
    guard let user else { return nil }
    self.init(given: user.givenName, family: user.familyName)
  }
}
