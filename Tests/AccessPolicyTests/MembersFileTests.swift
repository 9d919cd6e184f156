import AccessPolicy
import Testing

@Suite("Files of members")
struct MembersFileTests {
  private func parse(_ text: String) -> Result<[String], MembersFileSyntaxError> {
    Result { () throws(MembersFileSyntaxError) in try MembersFile.parse(Array(text.utf8)) }
  }

  private func problem(_ text: String) -> (line: Int, reason: MembersFileSyntaxError.Reason)? {
    guard case .failure(let problem) = parse(text) else { return nil }
    return (problem.line, problem.reason)
  }

  @Test("The place of a member is its line in the configuration, or in the file")
  func place() {
    let file = Array("\u{FEFF}# The office\r\n\nAda@Example.com  # Ada\r\n@example.org".utf8)
    let group = GroupConfiguration(
      name: "staff", members: ["001.a", "@example.net"], membersFile: "/staff.txt", memberLines: [7, 8])
    func place(of member: String) -> String? { group.place(of: member) { $0 == "/staff.txt" ? file : nil } }
    #expect(place(of: "@EXAMPLE.net") == "line 8 of the configuration file")
    #expect(place(of: "ada@example.com") == "line 3 of /staff.txt")
    #expect(place(of: "@example.org") == "line 4 of /staff.txt")
    #expect(place(of: "ben@example.com") == nil)
    #expect(group == GroupConfiguration(name: "staff", members: group.members, membersFile: "/staff.txt"))
  }

  @Test("One member a line; comments begin at the start of a line or after white space")
  func members() throws {
    let text = """
      \u{FEFF}# The office
      001234.abc.5678

        ada@example.com   # Ada
      \t@example.com\t#all
      a#b@example.com\r
        # indented
      last#one@example.org
      """
    #expect(
      try parse(text).get() == [
        "001234.abc.5678", "ada@example.com", "@example.com", "a#b@example.com", "last#one@example.org",
      ])
  }

  @Test("An empty file is a problem, also one with comments only")
  func empty() {
    for text in ["", "\n\n", "# nobody\n", "   \r\n"] {
      #expect(problem(text)?.reason == .empty, "\(text)")
    }
  }

  @Test(
    "A line that is not a member is a problem of that line",
    arguments: [
      ("ada@example.com, ben@example.com", GroupMember.Diagnostic.notMember), ("Ada Lovelace", .notMember),
      ("ada@", .notMember), ("@", .notMember), ("a@b@c", .notMember), ("001 234", .notMember), ("\u{E9}", .notMember),
      ("*@example.com", .pattern), ("*", .pattern), ("@*.example.com", .notMember),
      ("@PrivateRelay.appleid.com", .relayDomain), ("a\u{0}b", .notMember), ("a\rb", .notMember),
      ("001.a\u{200B}", .notMember), ("001.a b", .notMember),
      ("ada@example.com\u{200B}", .invisibleCharacter), ("\u{FEFF}ada@example.com", .invisibleCharacter),
      ("a\u{AD}da@example.com", .invisibleCharacter), ("@example.com\u{200E}", .invisibleCharacter),
    ])
  func wrong(line: String, expected: GroupMember.Diagnostic) throws {
    let found = try #require(problem("001.a\n\n\(line)\n002.b\n"))
    #expect(found.line == 3 && found.reason == .member(expected))
  }

  @Test("Bytes that are not UTF-8 are a problem of their line, and the message does not repeat the line")
  func bytes() throws {
    let problem = try #require(throws: MembersFileSyntaxError.self) {
      try MembersFile.parse(Array("001.a\n".utf8) + [0xFF, 0x0A])
    }
    #expect(problem.line == 2 && problem.reason == .notUTF8)
    guard case .failure(let wrong) = parse("private person") else { throw problem }
    #expect(!wrong.description.contains("private") && !wrong.remedy.contains("private"))
  }

  @Test("A file of more than 64 MiB is a problem before any of its lines is read")
  func tooLong() throws {
    let problem = try #require(throws: MembersFileSyntaxError.self) {
      try MembersFile.parse([UInt8](repeating: 0xFF, count: (64 << 20) + 1))
    }
    #expect(problem.line == 1 && problem.reason == .tooLong)
  }

  @Test("More members than a million are a problem")
  func tooMany() {
    let line = Array("1\n".utf8)
    let bytes = [UInt8](unsafeUninitializedCapacity: 2 * 1_000_001) { buffer, count in
      for index in 0..<(2 * 1_000_001) { buffer[index] = line[index & 1] }
      count = 2 * 1_000_001
    }
    do throws(MembersFileSyntaxError) {
      _ = try MembersFile.parse(bytes)
      Issue.record("it was accepted")
    } catch {
      #expect(error.line == 1_000_001 && error.reason == .tooMany)
    }
  }
}
