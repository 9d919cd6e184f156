internal import WebFormats

/// Explains syntax errors of the parser: the problem, its location and the remedy. The parser's own messages assume
/// knowledge of the grammar of TOML, and its location may be lines after the mistake.
enum SyntaxMistake {
  static func error(_ error: TOML.SyntaxError, in text: SourceText, _ locations: SourceLocations) -> DocumentError {
    // At the end of the file the parser counts the last line end as a column.
    let location = error.location.map { text.nearest(to: $0) } ?? .start
    let (subject, problem) = parts(of: error.message)
    if problem.contains("redefine") { return repetition(at: location, problem, in: text) }
    if let unclosed = locations.unclosed, text.location(of: unclosed.offset) <= location, isEnd(problem) {
      return self.error(unclosed, at: location, in: text)
    }
    func found(_ what: String, _ remedy: String) -> DocumentError {
      DocumentError(location: location, what: what, remedy: remedy)
    }
    if problem.contains("64 bits") || error.message.contains("parsing floating-point") {
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
    case "string" where problem.contains("escape"): return escape(at: location)
    case "key-value pair" where problem.hasPrefix("expected '='"):
      return found("there is no \"=\" after this key", "write the key, \"=\" and its value, as in workers = 2")
    case "key-value pair" where problem.hasPrefix("expected value"):
      return found("there is no value after the \"=\"", "write a value, or remove the key")
    case "key-value pair" where problem.hasPrefix("expected a comment"):
      return found(
        "the value has ended, and something follows in the same line",
        "write one key in each line, several values as a list in [brackets], and # before a comment")
    default: return found("this is not valid TOML: \(problem)", DocumentError.syntaxRemedy)
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
        location: start, what: "the text that begins here has no closing quotation mark",
        remedy: "put one after the text, in the same line")
    case .longText:
      DocumentError(
        location: start, what: "the text of several lines that begins here does not end",
        remedy: "put the same three quotation marks after the text")
    case .list:
      DocumentError(
        location: location, what: "the list that begins in line \(start.line) has no closing bracket before this",
        remedy: "put a \"]\" after its last entry")
    }
  }

  /// The subject that the parser was reading, and its message.
  private static func parts(of message: String) -> (subject: Substring, problem: Substring) {
    let start = "Error while parsing "
    guard message.hasPrefix(start), let colon = message.firstIndex(of: ":") else { return ("", message[...]) }
    return (message[..<colon].dropFirst(start.count), message[colon...].dropFirst(2))
  }

  /// Whether the parser met the end of a line, or of the file, where it expected something else.
  private static func isEnd(_ problem: Substring) -> Bool {
    problem.contains("control characters") || problem.contains("end-of-file") || problem.contains("closing ']'")
  }

  private static func escape(at location: SourceLocation) -> DocumentError {
    DocumentError(
      location: location, what: "a backslash in \"quotation marks\" begins an escape, and this is none",
      remedy: "write \\\\ for a backslash, or put the text into 'single quotation marks'")
  }

  /// The error of a repeated key or table, with the line of the first one.
  private static func repetition(
    at location: SourceLocation, _ problem: Substring, in text: SourceText
  ) -> DocumentError {
    let name = problem.split(separator: "'", omittingEmptySubsequences: false).dropFirst().first.map(String.init) ?? ""
    let repeats = SourceLocations(text.bytes, below: nil, notesAll: true).repeats
    // The parser's place may be after the value.
    let second = repeats.keys.filter { $0 < text.end(ofLine: location.line) }.max()
    let location = second.map { text.location(of: $0) } ?? location
    let first = second.flatMap { repeats[$0] }.map { text.location(of: $0).line }
    let isHeader = text.startsWithBracket(location.line)
    func found(_ what: String, _ remedy: String) -> DocumentError {
      DocumentError(location: location, what: what, remedy: remedy)
    }
    if problem.contains("existing array"), isHeader {
      return found(
        "\"\(name)\" is a list\(first.map { " since line \($0)" } ?? ""), of which this is not an entry",
        "write [[\(name)]] for each of its entries")
    }
    if problem.contains(" as array") {
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
