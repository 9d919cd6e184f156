import Testing

@testable import ConfigurationFile

@Suite("Places in a document")
struct DocumentTests {
  private func document(_ text: String) throws -> Document { try Document(Array(text.utf8)) }

  @Test("Keys and values are found under tables, in dotted keys, in lists and inline tables")
  func places() throws {
    let document = try document(
      """
      # café
      a = 1
      [ t.u ]   # table
      "b" = "x # no comment"
      c.d = [ 1,
        # inside
        "two", [3, 4], { e = '''
      raw "text" ''', f = 2 },
      ]
      [[r]]
      g = \"\"\"one
      g = 2 \\\"\"\"\"
      [[r]]
      'g' = 0x10
      [r.s]
      h = 1979-05-27
      """)
    func key(_ path: NodePath) -> String {
      let p = document.locationOfKey(path)
      return "\(p.line):\(p.column)"
    }
    func value(_ path: NodePath) -> String {
      let p = document.locationOfValue(path)
      return "\(p.line):\(p.column)"
    }
    #expect(key(NodePath("a")) == "2:1")
    #expect(value(NodePath("a")) == "2:5")
    #expect(key(NodePath("t")) == "3:3")
    #expect(key(NodePath("t.u")) == "3:3")
    #expect(value(NodePath("t.u.b")) == "4:7")
    #expect(key(NodePath("t.u.c.d")) == "5:1")
    let list = NodePath("t.u.c.d")
    #expect(value(list.appending(0)) == "5:9")
    #expect(value(list.appending(1)) == "7:3")
    #expect(value(list.appending(2).appending(1)) == "7:14")
    #expect(key(list.appending(3).appending("f")) == "8:17")
    #expect(value(list.appending(3).appending("f")) == "8:21")
    #expect(value(NodePath("r").appending(0).appending("g")) == "11:5")
    #expect(key(NodePath("r").appending(1).appending("g")) == "14:1")
    #expect(value(NodePath("r").appending(1).appending("s").appending("h")) == "16:5")
    #expect(document.root["r"] != nil)
  }

  @Test("Of what is not there, the nearest table around it is the place")
  func absent() throws {
    let document = try document("a = 1\n[t]\nb = 2\n")
    #expect(document.locationOfKey(NodePath("t.x")) == SourceLocation(line: 2, column: 2))
    #expect(document.locationOfKey(NodePath("x.y")) == .start)
    #expect(document.locationOfValue(NodePath("t.b").appending(3)) == SourceLocation(line: 3, column: 5))
  }

  @Test(
    "An error at the end of the file is reported at its last line",
    arguments: [("a = [1\n", 1, 7), ("\na = [[1]\r\n", 2, 10), ("a = [", 1, 6)])
  func endOfFile(text: String, line: Int, column: Int) throws {
    let error = try #require(throws: DocumentError.self) { try document(text) }
    #expect(error.location == SourceLocation(line: line, column: column), "\(error.location)")
  }

  @Test("Columns are counted in characters, lines end with LF or CR LF")
  func columns() throws {
    let document = try document("\"ä🍎\" = 1\r\nb = 2\r\n")
    #expect(document.locationOfValue(NodePath("ä🍎")) == SourceLocation(line: 1, column: 8))
    #expect(document.locationOfValue(NodePath("b")) == SourceLocation(line: 2, column: 5))
  }

  @Test("A byte order mark is not a part of the first key")
  func byteOrderMark() throws {
    let document = try Document([0xEF, 0xBB, 0xBF] + Array("a = 1".utf8))
    #expect(document.root["a"] == .integer(1))
    #expect(document.locationOfKey(NodePath("a")).line == 1)
  }

  @Test("Values come out as they are written")
  func values() throws {
    let root = try document(
      "i = -9223372036854775808\nf = inf\nb = true\ns = \"\\u00e9\\\"\"\nd = 1979-05-27\nt = {}\nl = [1, \"x\", []]\n"
    ).root
    #expect(root["i"] == .integer(.min))
    #expect(root["f"] == .number(.infinity))
    #expect(root["b"] == .boolean(true))
    #expect(root["s"] == .string("é\""))
    #expect(root["d"] == .moment)
    #expect(root["t"] == .table([:]))
    #expect(root["l"] == .array([.integer(1), .string("x"), .array([])]))
  }

  @Test(
    "A text that is not a document is reported with the place of the error",
    arguments: [
      ("a = ", 1), ("a = 1\nb = [1, \n", 2), ("[a\n", 1), ("a = \"x\n", 1), ("a = 1 b = 2", 1),
      ("\na = 99999999999999999999", 2),
      ("= 1", 1), ("a = 1\na.b = 2", 2), ("[a]\n[a]", 2), ("a = '\u{1}'", 1),
    ])
  func syntax(text: String, line: Int) {
    #expect {
      try document(text)
    } throws: { error in
      ((error as? DocumentError)?.location.line ?? 0) >= line
    }
  }

  @Test("A document that is too long or too deep is refused before it is parsed")
  func bounds() {
    #expect(throws: DocumentError.self) { try Document([UInt8](repeating: 0x0A, count: Document.sizeLimit + 1)) }
    for text in [
      "a = " + String(repeating: "[", count: 500_000), "a = " + String(repeating: "{a=", count: 300_000),
      String(repeating: "a.", count: 500_000) + "a = 1", "[" + String(repeating: "a.", count: 500_000) + "a]",
      "x = {" + String(repeating: "a.", count: 500_000) + "a = 1}", String(repeating: "a.", count: 100) + "a = 1",
    ] {
      #expect(throws: DocumentError.self, "\(text.prefix(20))") { try document(text) }
    }
    // Whatever becomes of many tables, they do not trap.
    _ = try? document(String(repeating: "[[a]]\n", count: 20_000))
  }
}
