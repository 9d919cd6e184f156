/// A value of a TOML document.
enum Node: Sendable, Equatable {
  case table([String: Node])
  case array([Node])
  case string(String)
  case integer(Int)
  case number(Double)
  case boolean(Bool)
  /// A date, a time or both; no key takes one.
  case moment

  var isTable: Bool { if case .table = self { true } else { false } }
  var isArray: Bool { if case .array = self { true } else { false } }
  /// Whether it is a list of nothing but tables, as `[[route]]` makes it.
  var isListOfTables: Bool {
    if case .array(let nodes) = self { !nodes.isEmpty && nodes.allSatisfy(\.isTable) } else { false }
  }

  /// The kind of the node for diagnostics: "a text".
  var describedKind: String {
    switch self {
    case .table: "a table"
    case .array: "a list"
    case .string: "a text"
    case .integer, .number: "a number"
    case .boolean: "true or false"
    case .moment: "a date or time"
    }
  }
}

/// The path of a value in a document: `route[1].path`.
struct NodePath: Sendable, Hashable, CustomStringConvertible {
  enum Component: Sendable, Hashable {
    case key(String)
    case index(Int)
  }

  var components: [Component] = []

  init(_ components: [Component] = []) { self.components = components }

  /// From a key with dots between its parts, none of which holds a dot.
  init(_ dottedKey: String) { components = dottedKey.split(separator: ".").map { .key(String($0)) } }

  func appending(_ key: String) -> NodePath { NodePath(components + [.key(key)]) }
  func appending(_ index: Int) -> NodePath { NodePath(components + [.index(index)]) }

  var parent: NodePath? { components.isEmpty ? nil : NodePath(Array(components.dropLast())) }

  /// The keys with dots between, without indices, as diagnostics name an entry.
  var description: String {
    var keys: [String] = []
    for case .key(let key) in components { keys.append(key) }
    return keys.joined(separator: ".")
  }

  /// The same, with the place in a list: "entry 2 of group.members".
  var entry: String {
    if case .index(let index)? = components.last { "entry \(index + 1) of \(self)" } else { description }
  }
}
