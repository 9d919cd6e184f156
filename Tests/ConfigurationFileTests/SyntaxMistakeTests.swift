import Testing

@testable import ConfigurationFile

// What operators are told of a file that is not TOML: the place, what is wrong in plain words, and the remedy. The
// parser's own words are for readers who know the grammar.
@Suite("Mistakes of syntax")
struct SyntaxMistakeTests {
  private func error(_ text: String) throws -> DocumentError {
    try #require(throws: DocumentError.self) { try Document(Array(text.utf8)) }
  }

  private static let head = "public_url = \"https://a.example.com\"\n[listen]\n"

  @Test(
    "A text or a list without an end is reported with its beginning",
    arguments: [
      ("a = \"x\n[t]\n", 1, 5, "the text that begins here has no closing quotation mark"),
      ("a = 'x\n[t]\n", 1, 5, "the text that begins here has no closing quotation mark"),
      ("b = 1\na = \"x", 2, 5, "the text that begins here has no closing quotation mark"),
      ("a = [\"x\", \"y\n]\n[t]\n", 1, 11, "the text that begins here has no closing quotation mark"),
      ("a = [\"x\", \"y\n[t]\nb = 1\n", 1, 11, "the text that begins here has no closing quotation mark"),
      ("\"a = 1\n", 1, 1, "the text that begins here has no closing quotation mark"),
      ("a = \"\"\"x\nb = 2\n", 1, 5, "the text of several lines that begins here does not end"),
      ("a = [\"x\",\n\n[t]\nb = 1\n", 3, 2, "the list that begins in line 1 has no closing bracket before this"),
      ("a = [\"x\",\n[[t]]\nb = 1\n", 2, 3, "the list that begins in line 1 has no closing bracket before this"),
      ("a = [\"x\"\nb = \"y\"\n", 2, 1, "the list that begins in line 1 has no closing bracket before this"),
      ("a = [\n \"x\"\n", 2, 5, "the list that begins in line 1 has no closing bracket before this"),
    ])
  func unclosed(text: String, line: Int, column: Int, problem: String) throws {
    let error = try error(text)
    #expect(error.location == SourceLocation(line: line, column: column) && error.problem == problem, "\(error)")
  }

  @Test(
    "A key or a table that is there twice is reported with the line of the first",
    arguments: [
      ("workers = 1\nworkers = 2\n", 4, "the key \"workers\" is here for the second time; the first is in line 3"),
      (
        "hosts = [\n\"x\"]\na = 1\nhosts = [\n\"y\"\n]\n", 6,
        "the key \"hosts\" is here for the second time; the first is in line 3"
      ), ("[store]\n[listen]\n", 4, "the table \"listen\" is here for the second time; the first is in line 2"),
      ("[[route]]\n[[route]]\nx = 1\n[route]\n", 6, "\"route\" is a list since line 3, of which this is not an entry"),
      ("[route]\n[[route]]\n", 4, "\"route\" is not a list, by line 3, so that this cannot be an entry of it"),
      ("limits.a = 1\nlimits.a = 2\n", 4, "the key \"limits.a\" is here for the second time; the first is in line 3"),
      ("x = { a = 1, a = 2 }\n", 3, "the key \"a\" is here for the second time; the first is in line 3"),
      (
        "[listen.limits]\na = 1\n[listen.limits]\n", 5,
        "the table \"listen.limits\" is here for the second time; the first is in line 3"
      ),
    ])
  func repeated(text: String, line: Int, problem: String) throws {
    let error = try error(Self.head + text)
    #expect(error.location.line == line && error.problem == problem, "\(error)")
    #expect(error.remedy.contains("keep one") || error.remedy.contains("write"))
  }

  @Test(
    "A character that may not stand there is reported at its place with the remedy",
    arguments: [
      ("x = \"a\u{1}b\"\n", 7, "there is a control character, U+0001", "remove it"),
      ("x = 'a\u{1B}[0m'\n", 7, "there is a control character, U+001B", "remove it"),
      ("x = \"\"\"a\u{7F}\"\"\"\n", 9, "there is a control character, U+007F", "remove it"),
      ("x = \u{1B}\n", 5, "there is a control character, U+001B", "remove it"),
      ("x = 1 # \u{8}\n", 9, "there is a control character, U+0008", "remove it"),
      ("x = 1\ry = 2\n", 6, "there is a control character, U+000D", "remove it"),
      ("\u{C}x = 1\n", 1, "there is a control character, U+000C", "remove it"),
      ("[\u{FC}n\u{EF}]\n", 2, Self.otherName, Self.quoted), ("[[t\u{FC}r]]\n", 4, Self.otherName, Self.quoted),
      ("[a.\u{FC}]\n", 4, Self.otherName, Self.quoted), ("\u{FC}n\u{EF} = 1\n", 1, Self.otherName, Self.quoted),
      ("na\u{EF}ve = 1\n", 3, Self.otherName, Self.quoted), ("x = { \u{E4} = 1 }\n", 7, Self.otherName, Self.quoted),
      ("\u{A0}x = 1\n", 1, "there is a no-break space", "write an ordinary space"),
      (
        "\u{201C}x\u{201D} = 1\n", 1, "these are typographic quotation marks, which TOML does not know",
        DocumentError.syntaxRemedy
      ),
    ])
  func wrongCharacter(text: String, column: Int, problem: String, remedy: String) throws {
    let error = try error(text)
    #expect(error.location == SourceLocation(line: 1, column: column), "\(error)")
    #expect(error.problem == problem && error.remedy == remedy, "\(error)")
  }

  private static let otherName = "this name has characters other than A to Z, a to z, 0 to 9, \"_\" and \"-\""
  private static let quoted = "put a name with other letters into quotation marks"

  @Test("Letters of other scripts are accepted in texts, comments and quoted names")
  func otherLetters() throws {
    #expect(try Document(Array("# \u{FC}\n[\"\u{FC}\"]\nx = \"\u{E4}\u{A0}\t\" # \u{F6}\r\n".utf8)).root.count == 1)
  }

  @Test(
    "Other mistakes are told in plain words",
    arguments: [
      ("[listen\na = 1\n", "this is not the header of a table"), ("[[route]\n", "this is not the header of a table"),
      ("[route]]\n", "this is not the header of a table"), ("a: 1\n", "there is no \"=\" after this key"),
      ("a\nb = 1\n", "there is no \"=\" after this key"), ("a =\nb = 1\n", "there is no value after the \"=\""),
      ("a = \"x\", \"y\"\n", "the value has ended, and something follows in the same line"),
      ("a = \"C:\\Users\"\n", "a backslash in \"quotation marks\" begins an escape, and this is none"),
      ("a = \"\\d+\"\n", "a backslash in \"quotation marks\" begins an escape, and this is none"),
      ("a = { b = 1\nc = 2 }\n", "this table in {braces} is not complete"),
      ("a = [\"x\" \"y\"]\n", "this list is not complete"),
      ("a = https://x.example\"\n", "this text has no opening quotation mark"),
      ("a = \u{201C}x\u{201D}\n", "these are typographic quotation marks, which TOML does not know"),
      ("a = True\n", "this is not a Boolean, which is true or false in lower case"),
      ("a = 5 m\n", "this is neither a number nor a text in quotation marks"),
      ("a = 99999999999999999999\n", "this number is too large"),
    ])
  func others(text: String, problem: String) throws {
    let error = try error(text)
    #expect(error.problem == problem && error.location.line == 1, "\(error)")
    #expect(!error.remedy.isEmpty && !error.problem.contains("Error while parsing"))
  }
}
