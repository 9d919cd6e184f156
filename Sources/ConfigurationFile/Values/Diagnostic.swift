/// The problem of one value, without its location.
struct Diagnostic: Error, Sendable, Equatable {
  /// Continues the value's name: "is not an address".
  var problem: String
  var remedy: String

  init(_ problem: String, remedy: String) {
    self.problem = problem
    self.remedy = remedy
  }
}
