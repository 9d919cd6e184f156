internal import WebFormats

/// Explains syntax errors of the parser: the problem, its location and the remedy. The parser's own messages assume
/// knowledge of the grammar of TOML, and its location may be lines after the mistake.
enum SyntaxMistake {
  static func error(_ error: TOML.SyntaxError, in text: SourceText, _ locations: SourceLocations) -> DocumentError {
    // At the end of the file the parser counts the last line end as a column.
    let location = error.location.map { text.nearest(to: $0) } ?? .start
    let (subject, message) = parts(of: error.message)
    if let mistake = wrongCharacter(at: location, in: text, locations) { return mistake }
    if message.contains("redefine") { return repetition(at: location, message, in: text) }
    if let unclosed = locations.unclosed, text.location(of: unclosed.offset) <= location, isEnd(message) {
      return self.error(unclosed, at: location, in: text)
    }
    func found(_ problem: String, _ remedy: String) -> DocumentError {
      DocumentError(location: location, problem: problem, remedy: remedy)
    }
    if message.contains("64 bits") || error.message.contains("parsing floating-point") {
      return found("this number is too large", "write a smaller number")
    }
    switch subject {
    case "table header":
      return found(
        "this is not the header of a table",
        "write the name in brackets, alone in its line: [listen], or [[route]] for one of several")
    case "inline table":
      return found(
        "this table in {braces} is not complete",
        "write it in one line with commas between its entries, as in { a = 1, b = 2 }")
    case "array": return found("this list is not complete", "put a comma between two entries, and a ] after the last")
    case "unicode scalar sequence": return escape(at: location)
    case "string" where message.contains("escape"): return escape(at: location)
    case "key-value pair" where message.hasPrefix("expected '='"):
      return found("there is no \"=\" after this key", "write the key, \"=\" and its value, as in workers = 2")
    case "key-value pair" where message.hasPrefix("expected value"):
      return found("there is no value after the \"=\"", "write a value, or remove the key")
    case "key-value pair" where message.hasPrefix("expected a comment"):
      return found(
        "the value has ended, and something follows in the same line",
        "write one key in each line, several values as a list in [brackets], and # before a comment")
    default: return found("this is not valid TOML: \(message)", DocumentError.syntaxRemedy)
    }
  }

  /// The error of a character that may not stand where it does, up to the line of an error: the parser's message would
  /// be about what it expected there. Nil if there is none.
  static func wrongCharacter(
    at location: SourceLocation, in text: SourceText, _ locations: SourceLocations
  ) -> DocumentError? {
    let bytes = text.bytes[..<text.end(ofLine: location.line)]
    if let offset = bytes.indices.first(where: { isControl(bytes[$0], before: $0 + 1, in: bytes) }) {
      let code = String(bytes[offset], radix: 16, uppercase: true)
      return DocumentError(
        location: text.location(of: offset),
        problem: "there is a control character, U+\(String(repeating: "0", count: 4 - code.utf8.count))\(code)",
        remedy: "remove it")
    }
    guard let offset = locations.foreignCharacters.first(where: { text.location(of: $0).line == location.line }) else {
      return nil
    }
    func found(_ problem: String, _ remedy: String) -> DocumentError {
      DocumentError(location: text.location(of: offset), problem: problem, remedy: remedy)
    }
    let rest = bytes[offset...]
    if rest.starts(with: [0xC2, 0xA0]) { return found("there is a no-break space", "write an ordinary space") }
    // U+2018 to U+201F.
    if rest.starts(with: [0xE2, 0x80]), (0x98...0x9F).contains(rest.dropFirst(2).first ?? 0) {
      return found("these are typographic quotation marks, which TOML does not know", DocumentError.syntaxRemedy)
    }
    return found(
      "this name has characters other than A to Z, a to z, 0 to 9, \"_\" and \"-\"",
      "put a name with other letters into quotation marks")
  }

  /// Whether a byte is a control character that TOML allows nowhere, not even in comments; lines end with LF or CR LF.
  private static func isControl(_ byte: UInt8, before next: Int, in bytes: ArraySlice<UInt8>) -> Bool {
    switch byte {
    case 0x09, 0x0A: false
    case 0x0D: next < bytes.endIndex && bytes[next] != 0x0A
    case 0..<0x20, 0x7F: true
    default: false
    }
  }

  /// The error of a text or a list without an end: a text's location is its beginning, a list's the point of detection.
  static func error(
    _ unclosed: SourceLocations.Unclosed, at location: SourceLocation, in text: SourceText
  ) -> DocumentError {
    let start = text.location(of: unclosed.offset)
    return switch unclosed.kind {
    case .text:
      DocumentError(
        location: start, problem: "the text that begins here has no closing quotation mark",
        remedy: "put one after the text, in the same line")
    case .longText:
      DocumentError(
        location: start, problem: "the text of several lines that begins here does not end",
        remedy: "put the same three quotation marks after the text")
    case .list:
      DocumentError(
        location: location, problem: "the list that begins in line \(start.line) has no closing bracket before this",
        remedy: "put a \"]\" after its last entry")
    }
  }

  /// The subject that the parser was reading, and its message.
  private static func parts(of message: String) -> (subject: Substring, message: Substring) {
    let start = "Error while parsing "
    guard message.hasPrefix(start), let colon = message.firstIndex(of: ":") else { return ("", message[...]) }
    return (message[..<colon].dropFirst(start.count), message[colon...].dropFirst(2))
  }

  /// Whether the parser met the end of a line, or of the file, where it expected something else.
  private static func isEnd(_ message: Substring) -> Bool {
    message.contains("control characters") || message.contains("end-of-file") || message.contains("closing ']'")
  }

  private static func escape(at location: SourceLocation) -> DocumentError {
    DocumentError(
      location: location, problem: "a backslash in \"quotation marks\" begins an escape, and this is none",
      remedy: "write \\\\ for a backslash, or put the text into 'single quotation marks'")
  }

  /// The error of a repeated key or table, with the line of the first one.
  private static func repetition(
    at location: SourceLocation, _ message: Substring, in text: SourceText
  ) -> DocumentError {
    let name = message.split(separator: "'", omittingEmptySubsequences: false).dropFirst().first.map(String.init) ?? ""
    let repeats = SourceScanner.scan(text.bytes, .all).repeats
    // The parser's place may be after the value.
    let second = repeats.keys.filter { $0 < text.end(ofLine: location.line) }.max()
    let location = second.map { text.location(of: $0) } ?? location
    let first = second.flatMap { repeats[$0] }.map { text.location(of: $0).line }
    let isHeader = text.startsWithBracket(location.line)
    func found(_ problem: String, _ remedy: String) -> DocumentError {
      DocumentError(location: location, problem: problem, remedy: remedy)
    }
    if message.contains("existing array"), isHeader {
      return found(
        "\"\(name)\" is a list\(first.map { " since line \($0)" } ?? ""), of which this is not an entry",
        "write [[\(name)]] for each of its entries")
    }
    if message.contains(" as array") {
      return found(
        "\"\(name)\" is not a list\(first.map { ", by line \($0)" } ?? ""), so that this cannot be an entry of it",
        "write both headers with two brackets, or keep one")
    }
    let other = first.map { "; the first is in line \($0)" } ?? ""
    return isHeader
      ? found("the table \"\(name)\" is here for the second time\(other)", "write all of its keys below one header")
      : found("the key \"\(name)\" is here for the second time\(other)", "keep one of the two")
  }
}
