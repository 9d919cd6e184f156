/// A problem of one key of `[access]` or of a route.
struct KeyProblem {
  var key: String
  var problem: String
  var remedy: String

  init(_ key: String, _ problem: String, remedy: String) {
    self.key = key
    self.problem = problem
    self.remedy = remedy
  }
}
