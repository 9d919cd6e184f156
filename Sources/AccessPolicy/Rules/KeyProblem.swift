/// A problem of one key of `[access]` or of a route.
struct KeyProblem {
  var key: String
  /// The place of the entry that it is about in the key's list; nil for the whole value.
  var entry: Int?
  var problem: String
  var remedy: String

  init(_ key: String, entry: Int? = nil, _ problem: String, remedy: String) {
    self.key = key
    self.entry = entry
    self.problem = problem
    self.remedy = remedy
  }
}
