/// The method of a request to the admin API; HEAD counts as GET.
struct AdminMethod: Equatable {
  let name: String

  static let get = AdminMethod("GET")
  static let put = AdminMethod("PUT")
  static let post = AdminMethod("POST")

  init(_ name: String) { self.name = name.utf8.elementsEqual("HEAD".utf8) ? "GET" : name }

  /// - Throws: 405 unless it is one of these.
  func require(_ allowed: [String]) throws(AdminError) {
    guard allowed.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else { throw .wrongMethod(allowed) }
  }
}
