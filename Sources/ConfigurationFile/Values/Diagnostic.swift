/// The problem of one value, without its location.
struct Diagnostic: Error, Sendable, Equatable {
  /// Continues the value's name: "is not an address".
  var what: String
  var remedy: String

  init(_ what: String, remedy: String) {
    self.what = what
    self.remedy = remedy
  }
}
