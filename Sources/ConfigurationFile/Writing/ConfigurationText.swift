/// A configuration file that is being written: keys by table, in the order in which they were named first, and routes
/// at the end. It does not know the schema: the result is checked like any other file.
package struct ConfigurationText: Sendable {
  /// A value as TOML writes it.
  package enum Value: Sendable, Equatable {
    /// A string, escaped when it is written.
    case text(String)
    /// An array of strings, in one line.
    case texts([String])
    /// `true` or `false`.
    case truth(Bool)
  }

  private struct Line: Sendable {
    var comment: String?
    var key: String
    var value: Value
  }

  private let head: String
  private var tables: [(name: String, lines: [Line])] = []
  private var lists: [(name: String, lines: [Line])] = []

  /// - Parameter head: the comment at the beginning of the file.
  package init(head: String) { self.head = head }

  /// Sets a key, named with its tables (`listen.address`); one that is there already is replaced in its place.
  package mutating func set(_ key: String, _ value: Value, comment: String? = nil) {
    let (table, name) = Self.split(key)
    if !tables.contains(where: { $0.name == table }) { tables.append((table, [])) }
    guard let index = tables.firstIndex(where: { $0.name == table }) else { return }
    let line = Line(comment: comment, key: name, value: value)
    if let old = tables[index].lines.firstIndex(where: { $0.key == name }) {
      tables[index].lines[old] = line
    } else {
      tables[index].lines.append(line)
    }
  }

  /// Removes a key, and its table if nothing else is in it.
  package mutating func remove(_ key: String) {
    let (table, name) = Self.split(key)
    guard let index = tables.firstIndex(where: { $0.name == table }) else { return }
    tables[index].lines.removeAll { $0.key == name }
    if tables[index].lines.isEmpty { tables.remove(at: index) }
  }

  /// Whether a key was set.
  package func has(_ key: String) -> Bool {
    let (table, name) = Self.split(key)
    return tables.contains { $0.name == table && $0.lines.contains { $0.key == name } }
  }

  /// The text that a key was set to; nil where it was not set, or to something else.
  package func text(of key: String) -> String? {
    let (table, name) = Self.split(key)
    let line = tables.first { $0.name == table }?.lines.first { $0.key == name }
    guard case .text(let text)? = line?.value else { return nil }
    return text
  }

  /// Adds one of the tables of which there may be many: `route`, `upstreams`.
  package mutating func append(_ list: String, _ pairs: [(key: String, value: Value)], comment: String? = nil) {
    var lines = pairs.map { Line(comment: nil, key: $0.key, value: $0.value) }
    if !lines.isEmpty { lines[0].comment = comment }
    lists.append((list, lines))
  }

  /// The file.
  package var text: String { lines.map(\.text).joined(separator: "\n") + "\n" }

  /// The line of a key, from 1; nil if it was not set.
  package func line(of key: String) -> Int? { lines.firstIndex { $0.key == key }.map { $0 + 1 } }

  private var lines: [(text: String, key: String?)] {
    var result: [(text: String, key: String?)] = Self.comment(head).map { ($0, nil) }
    // Keys outside of tables must come before the first table.
    for table in tables.filter({ $0.name.isEmpty }) + tables.filter({ !$0.name.isEmpty }) {
      result.append(("", nil))
      if !table.name.isEmpty { result.append(("[\(table.name)]", nil)) }
      for line in table.lines {
        result += Self.rendered(line, key: table.name.isEmpty ? line.key : "\(table.name).\(line.key)")
      }
    }
    for list in lists {
      result += [("", nil), ("[[\(list.name)]]", nil)]
      for line in list.lines { result += Self.rendered(line, key: nil) }
    }
    return result
  }

  private static func rendered(_ line: Line, key: String?) -> [(text: String, key: String?)] {
    var result: [(text: String, key: String?)] = line.comment.map { comment($0).map { ($0, nil) } } ?? []
    result.append(("\(line.key) = \(written(line.value))", key))
    return result
  }

  private static func comment(_ text: String) -> [String] {
    // Only a line feed can end a comment; everything else of a text stays after the "#".
    text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
      line.isEmpty ? "#" : "# " + String(decoding: line.filter { $0 >= 0x20 && $0 != 0x7F }, as: UTF8.self)
    }
  }

  private static func written(_ value: Value) -> String {
    switch value {
    case .text(let text): quoted(text)
    case .texts(let texts): "[" + texts.map(quoted).joined(separator: ", ") + "]"
    case .truth(let truth): truth ? "true" : "false"
    }
  }

  /// The text in quotation marks, with `${` escaped.
  private static func quoted(_ text: String) -> String {
    var bytes: [UInt8] = []
    let source = Array(text.utf8)
    for (index, byte) in source.enumerated() {
      let isBeforeBrace = index + 1 < source.count && source[index + 1] == UInt8(ascii: "{")
      if byte == UInt8(ascii: "$"), isBeforeBrace { bytes.append(byte) }
      bytes.append(byte)
    }
    return TOMLText.quoted(String(decoding: bytes, as: UTF8.self))
  }

  private static func split(_ key: String) -> (table: String, name: String) {
    guard let dot = key.lastIndex(of: ".") else { return ("", key) }
    return (String(key[..<dot]), String(key[key.index(after: dot)...]))
  }
}
