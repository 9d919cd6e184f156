import AccessPolicy

/// Methods of a route as text.
enum MethodText {
  /// The title of what holds for these methods.
  static func title(_ methods: MethodSet) -> String {
    methods.includesOthers ? "other methods" : methods.named.joined(separator: ", ")
  }

  /// The methods for which something is true, within a sentence: " with GET or HEAD". Empty if it is true for all.
  static func condition(_ isTrue: ByMethod<Bool>) -> String {
    guard let those = isTrue.parts.first(where: { $0.value })?.methods,
      let others = isTrue.parts.first(where: { !$0.value })?.methods
    else { return "" }
    return those.includesOthers ? " with methods other than \(list(others.named))" : " with \(list(those.named))"
  }

  /// Methods within a sentence: "GET, HEAD or POST".
  static func list(_ names: [String]) -> String {
    guard let last = names.last, names.count > 1 else { return names.joined() }
    return names.dropLast().joined(separator: ", ") + " or " + last
  }
}
