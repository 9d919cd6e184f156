/// What is wrong with one value, without the place.
struct Diagnostic: Error, Sendable, Equatable {
  /// Continues the value's name: "is no address".
  var what: String
  var remedy: String

  init(_ what: String, remedy: String) {
    self.what = what
    self.remedy = remedy
  }
}
