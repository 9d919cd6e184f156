/// The offsets of keys and values in a TOML document, which the parser's tree does not contain.
///
/// Besides, the input that must not reach the parser: nesting beyond `depthLimit`, which would be recursion of that
/// depth; escaped NULs, which would truncate C strings; and mistakes on which the parser asserts instead of reporting
/// them (a header without a key, `}` in a list, a malformed number or time).
struct SourceLocations {
  /// The maximum nesting of tables and lists. The configuration needs four.
  static let depthLimit = 16

  /// The keys and values whose offsets are recorded.
  enum Scope {
    /// None: only input that must not reach the parser is found.
    case none
    /// Those of one top-level key.
    case below(String)
    /// All of them, and repeated keys.
    case all
  }

  /// Offsets of keys (of a table: the first key of its header), by path.
  var keys: [NodePath: Int] = [:]
  /// Offsets of values, by path.
  var values: [NodePath: Int] = [:]
  /// The offset at which nesting exceeds the limit.
  var tooDeep: Int?
  /// The offset of an escaped NUL in a text.
  var escapedNUL: Int?
  /// The first text or list without an end, in a document that is not TOML.
  var unclosed: Unclosed?
  /// The offsets of repeated keys, and the first offset of the same key. Noted in the scope `all` only; the names in
  /// headers are among them.
  var repeats: [Int: Int] = [:]
  /// The offset of an error for which the parser would trap.
  var malformed: (offset: Int, problem: String)?
  /// Offsets of characters beyond ASCII where a key or the name of a table ends: such a name needs quotation marks.
  var foreignCharacters: [Int] = []

  /// A text or a list without an end.
  struct Unclosed {
    enum Kind { case text, longText, list }
    let kind: Kind
    /// The offset of its first byte.
    let offset: Int
  }

  /// The offset of a key; of a missing key, that of the nearest enclosing table.
  func offsetOfKey(_ path: NodePath) -> Int? {
    var path = path
    while true {
      if let offset = keys[path] { return offset }
      guard let parent = path.parent else { return nil }
      path = parent
    }
  }

  /// The offset of a value; of a missing value, that of the nearest enclosing value or key.
  func offsetOfValue(_ path: NodePath) -> Int? {
    if let offset = values[path] { return offset }
    if case .index = path.components.last, let parent = path.parent, values[parent] != nil {
      return offsetOfValue(parent)
    }
    return offsetOfKey(path)
  }
}
