import Synchronization

/// A configuration file as it was written: its values and their source locations.
struct Document: Sendable {
  /// The values of the whole document.
  let root: [String: Node]
  private let text: SourceText
  private let locations: LazyLocations

  /// The largest size of a file, in bytes.
  static let sizeLimit = 1_048_576

  /// - Throws: the first syntax error of the file; parsing stops there.
  init(_ bytes: [UInt8]) throws(DocumentError) {
    let text = SourceText(bytes)
    guard bytes.count <= Self.sizeLimit else {
      throw DocumentError(
        location: .start, problem: "the file is longer than 1 MiB",
        remedy: "check that this is the right file")
    }
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw DocumentError(
        location: text.location(of: UTF8Check.firstInvalid(bytes) ?? bytes.count),
        problem: "the file is not valid UTF-8", remedy: "save the file in the encoding UTF-8")
    }
    if let offset = bytes.firstIndex(of: 0) {
      throw DocumentError(location: text.location(of: offset), problem: "there is a NUL byte", remedy: "remove it")
    }
    let found = SourceScanner.scan(bytes, .none)
    if let offset = found.tooDeep {
      throw DocumentError(
        location: text.location(of: offset),
        problem: "tables and lists are nested deeper than \(SourceLocations.depthLimit) levels",
        remedy: "no key needs that; see `cordon reference`")
    }
    if let offset = found.escapedNUL {
      throw DocumentError(
        location: text.location(of: offset), problem: "a text contains an escaped NUL", remedy: "remove the escape")
    }
    if let (offset, problem) = found.malformed {
      if let mistake = SyntaxMistake.wrongCharacter(at: text.location(of: offset), in: text, found) { throw mistake }
      if let unclosed = found.unclosed, unclosed.offset <= offset {
        throw SyntaxMistake.error(unclosed, at: text.location(of: offset), in: text)
      }
      throw DocumentError(location: text.location(of: offset), problem: problem, remedy: DocumentError.syntaxRemedy)
    }
    self.text = text
    locations = LazyLocations(bytes)
    do { root = try TOML.parse(bytes) } catch { throw SyntaxMistake.error(error, in: text, found) }
  }

  /// Whether the key of a path is written anywhere.
  func hasKey(_ path: NodePath) -> Bool {
    var node = Node.table(root)
    for component in path.components {
      switch (component, node) {
      case (.key(let key), .table(let table)):
        guard let next = table[key] else { return false }
        node = next
      case (.index(let index), .array(let array)):
        guard array.indices.contains(index) else { return false }
        node = array[index]
      default: return false
      }
    }
    return true
  }

  /// The location of a key; of a missing key, the nearest enclosing table.
  func locationOfKey(_ path: NodePath) -> SourceLocation { location(locations.find(path) { $0.offsetOfKey(path) }) }

  /// The location of a value; of a missing value, the nearest enclosing value or key.
  func locationOfValue(_ path: NodePath) -> SourceLocation { location(locations.find(path) { $0.offsetOfValue(path) }) }

  private func location(_ offset: Int?) -> SourceLocation { offset.map { text.location(of: $0) } ?? .start }

  /// The locations of keys and values, computed lazily for each top-level key: it takes longer than parsing, and a
  /// valid configuration needs few of them.
  private final class LazyLocations: Sendable {
    private let bytes: [UInt8]
    private let found = Mutex<[String: SourceLocations]>([:])
    /// Those of all keys, once so many top-level keys were asked for that one more scan each would take longer.
    private let all = Mutex<SourceLocations?>(nil)
    private static let scanLimit = 8

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func find(_ path: NodePath, _ look: (SourceLocations) -> Int?) -> Int? {
      guard case .key(let top) = path.components.first else { return nil }
      let locations: SourceLocations? = found.withLock { found in
        if let known = found[top] { return known }
        guard found.count < Self.scanLimit else { return nil }
        let locations = SourceScanner.scan(bytes, .below(top))
        found[top] = locations
        return locations
      }
      if let locations { return look(locations) }
      return all.withLock { all in
        let locations = all ?? SourceScanner.scan(bytes, .all)
        all = locations
        return look(locations)
      }
    }
  }
}

/// The reason why a file is not a TOML document.
struct DocumentError: Error {
  var location: SourceLocation
  var problem: String
  var remedy: String

  static let syntaxRemedy = "fix the syntax here: write texts in \"quotation marks\", lists in [brackets]"
}

/// Validates UTF-8 (RFC 3629).
enum UTF8Check {
  static func firstInvalid(_ bytes: [UInt8]) -> Int? {
    var decoder = Unicode.UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    var offset = 0
    while true {
      switch decoder.parseScalar(from: &iterator) {
      case .valid(let scalar): offset += scalar.count
      case .emptyInput: return nil
      case .error: return offset
      }
    }
  }
}
