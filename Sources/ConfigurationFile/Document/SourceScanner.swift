/// Scans a TOML document for the offsets of its keys and values, and for input that must not reach the parser.
///
/// It reads any bytes and never fails: in a document that is not TOML it finds some offsets, and the parser reports the
/// error.
struct SourceScanner {
  private var found = SourceLocations()

  private let bytes: [UInt8]
  private let scope: SourceLocations.Scope
  private var position = 0
  /// The offset of the outermost list that is being scanned.
  private var openList: Int?
  /// The number of elements of each array of tables so far.
  private var tableCounts: [NodePath: Int] = [:]
  /// The parts of the key that was scanned last, in `bytes`.
  private var parts: [Range<Int>] = []

  /// The table or value that is being scanned.
  private struct Location {
    /// Nil where offsets are not recorded.
    var path: NodePath?
    /// The number of keys and lists that lead here.
    var level = 0
  }

  private init(_ bytes: [UInt8], _ scope: SourceLocations.Scope) {
    self.bytes = bytes
    self.scope = scope
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  /// Scans a whole document.
  static func scan(_ bytes: [UInt8], _ scope: SourceLocations.Scope) -> SourceLocations {
    var scanner = SourceScanner(bytes, scope)
    scanner.scanDocument()
    return scanner.found
  }

  private mutating func noteKey(_ path: NodePath, at offset: Int) {
    if let first = found.keys[path] {
      if case .all = scope, first != offset { found.repeats[offset] = first }
    } else {
      found.keys[path] = offset
    }
  }

  private mutating func scanDocument() {
    // At the top level, the first part of each key decides whether offsets are recorded.
    var table = Location(path: NodePath())
    while found.tooDeep == nil {
      skipBlank(newlines: true)
      guard let byte = current else { return }
      if byte == UInt8(ascii: "[") {
        if let header = scanHeader() { table = header }
      } else {
        scanPair(in: table, depth: 0)
      }
      skipLine()
    }
  }

  // MARK: Headers and keys

  private mutating func scanHeader() -> Location? {
    position += 1
    let isArray = current == UInt8(ascii: "[")
    if isArray { position += 1 }
    skipBlank(newlines: false)
    let start = position
    guard scanKey(), !parts.isEmpty else {
      if found.tooDeep == nil, found.malformed == nil { found.malformed = (start, "this table has no name") }
      return nil
    }
    let level = parts.count + (isArray ? 1 : 0)
    guard isRecorded(parts[0]) else { return Location(path: nil, level: level) }
    var path = NodePath()
    for part in parts.dropLast() {
      path = path.appending(text(part))
      noteKey(path, at: start)
      if let count = tableCounts[path] { path = path.appending(count - 1) }
    }
    path = path.appending(text(parts[parts.count - 1]))
    noteKey(path, at: start)
    if isArray {
      let index = tableCounts[path, default: 0]
      tableCounts[path] = index + 1
      path = path.appending(index)
      noteKey(path, at: start)
    }
    return Location(path: path, level: level)
  }

  /// `key = value`, or something else up to the end of the line.
  private mutating func scanPair(in table: Location, depth: Int) {
    let start = position
    guard scanKey() else { return }
    var location = Location(path: table.path, level: table.level + parts.count)
    if let path = table.path {
      location.path = path.components.isEmpty && !isRecorded(parts[0]) ? nil : path
    }
    if var path = location.path {
      for part in parts {
        path = path.appending(text(part))
        noteKey(path, at: start)
      }
      location.path = path
    }
    skipBlank(newlines: false)
    guard current == UInt8(ascii: "=") else { return }
    position += 1
    skipBlank(newlines: false)
    scanValue(at: location, depth: depth)
  }

  /// Scans the parts of a dotted key into `parts`; false without a key.
  private mutating func scanKey() -> Bool {
    parts.removeAll(keepingCapacity: true)
    while true {
      skipBlank(newlines: false)
      let start = position
      switch current {
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        skipString()
        parts.append(min(start + 1, position)..<max(start + 1, position - 1))
      default:
        while let byte = current, Self.isBareKeyByte(byte) { position += 1 }
        if let byte = current, byte >= 0x80 { found.foreignCharacters.append(position) }
        guard position > start else { return !parts.isEmpty }
        parts.append(start..<position)
      }
      guard parts.count <= SourceLocations.depthLimit else {
        if found.tooDeep == nil { found.tooDeep = start }
        return false
      }
      skipBlank(newlines: false)
      guard current == UInt8(ascii: ".") else { return true }
      position += 1
    }
  }

  private func text(_ part: Range<Int>) -> String { String(decoding: bytes[part], as: UTF8.self) }

  /// Whether offsets are recorded below a top-level key.
  private func isRecorded(_ part: Range<Int>) -> Bool {
    switch scope {
    case .none: false
    case .below(let top): top.utf8.elementsEqual(bytes[part])
    case .all: true
    }
  }

  private static func isBareKeyByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  // MARK: Values

  private mutating func scanValue(at location: Location, depth: Int) {
    guard depth <= SourceLocations.depthLimit, location.level <= 4 * SourceLocations.depthLimit else {
      if found.tooDeep == nil { found.tooDeep = position }
      return
    }
    if let path = location.path { found.values[path] = position }
    switch current {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): skipString()
    case UInt8(ascii: "["): scanArray(at: location, depth: depth)
    case UInt8(ascii: "{"): scanInlineTable(at: location, depth: depth)
    default:
      let start = position
      while let byte = current, !",]}#\n".utf8.contains(byte) { position += 1 }
      if found.malformed == nil, !BareValue.isPlausible(bytes[start..<position]) {
        found.malformed = (start, BareValue.problem(with: bytes[start..<position]))
        // The next key, or the next header, read as an entry of a list.
        if let openList, isBehindLine(of: openList, start), startsKeyOrHeader(start) {
          note(.list, from: openList)
        }
      }
    }
  }

  private func isBehindLine(of offset: Int, _ other: Int) -> Bool { bytes[offset..<other].contains(0x0A) }

  /// Whether the line of an offset begins with a header, or a key and `=`.
  private func startsKeyOrHeader(_ offset: Int) -> Bool {
    let start = bytes[..<offset].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    let line = bytes[start...].prefix { $0 != 0x0A }.drop { $0 == UInt8(ascii: " ") || $0 == 0x09 }
    if line.first == UInt8(ascii: "[") { return true }
    let rest = line.drop { Self.isBareKeyByte($0) || $0 == UInt8(ascii: ".") }
      .drop { $0 == UInt8(ascii: " ") || $0 == 0x09 }
    return rest.startIndex > line.startIndex && rest.first == UInt8(ascii: "=")
  }

  private mutating func note(_ kind: SourceLocations.Unclosed.Kind, from offset: Int) {
    if found.unclosed == nil { found.unclosed = SourceLocations.Unclosed(kind: kind, offset: offset) }
  }

  private mutating func scanArray(at list: Location, depth: Int) {
    let first = position
    let isOutermost = openList == nil
    if isOutermost { openList = first }
    defer { if isOutermost { openList = nil } }
    position += 1
    var index = 0
    while found.tooDeep == nil {
      skipBlank(newlines: true)
      guard let byte = current else {
        if isOutermost { note(.list, from: first) }
        return
      }
      if byte == UInt8(ascii: "]") {
        position += 1
        return
      }
      let start = position
      if byte == UInt8(ascii: ",") {
        position += 1
      } else if byte == UInt8(ascii: "}") {
        if found.malformed == nil { found.malformed = (position, "there is a \"}\" in a list") }
        return
      } else {
        scanValue(at: Location(path: list.path?.appending(index), level: list.level + 1), depth: depth + 1)
        index += 1
      }
      if position == start { position += 1 }
    }
  }

  private mutating func scanInlineTable(at table: Location, depth: Int) {
    position += 1
    while found.tooDeep == nil {
      skipBlank(newlines: false)
      guard let byte = current, byte != 0x0A else { return }
      if byte == UInt8(ascii: "}") {
        position += 1
        return
      }
      let start = position
      if byte == UInt8(ascii: ",") { position += 1 } else { scanPair(in: table, depth: depth + 1) }
      if position == start { position += 1 }
    }
  }

  /// A basic or literal string, of one line or of several, with its quotation marks.
  private mutating func skipString() {
    guard let quote = current else { return }
    let isBasic = quote == UInt8(ascii: "\"")
    let start = position
    let isMultiline = byte(at: position + 1) == quote && byte(at: position + 2) == quote
    position += isMultiline ? 3 : 1
    while let byte = current {
      if isBasic, byte == UInt8(ascii: "\\") {
        noteNUL()
        position += 2
      } else if byte == quote, !isMultiline {
        position += 1
        return
      } else if byte == quote, self.byte(at: position + 1) == quote, self.byte(at: position + 2) == quote {
        position += 3
        // Up to two quotation marks may stand right before the three that end the text.
        for _ in 0..<2 where current == quote { position += 1 }
        return
      } else if byte == 0x0A, !isMultiline {
        return note(.text, from: start)
      } else {
        position += 1
      }
    }
    note(isMultiline ? .longText : .text, from: start)
    position = min(position, bytes.count)
  }

  private mutating func noteNUL() {
    let digits = byte(at: position + 1) == UInt8(ascii: "u") ? 4 : byte(at: position + 1) == UInt8(ascii: "U") ? 8 : 0
    guard digits > 0, found.escapedNUL == nil else { return }
    if (0..<digits).allSatisfy({ byte(at: position + 2 + $0) == UInt8(ascii: "0") }) { found.escapedNUL = position }
  }

  // MARK: Bytes

  private var current: UInt8? { byte(at: position) }

  private func byte(at index: Int) -> UInt8? { index < bytes.count ? bytes[index] : nil }

  private mutating func skipBlank(newlines: Bool) {
    while let byte = current {
      if byte == UInt8(ascii: " ") || byte == 0x09 || (newlines && (byte == 0x0A || byte == 0x0D)) {
        position += 1
      } else if newlines, byte == UInt8(ascii: "#") {
        skipLine()
      } else {
        return
      }
    }
  }

  private mutating func skipLine() {
    while let byte = current, byte != 0x0A { position += 1 }
  }
}
