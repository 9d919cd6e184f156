import AppleIdentity
import Testing

@Suite("The name that a browser submits")
struct SubmittedUserTests {
  private func name(_ given: String?, _ family: String? = nil) -> String? {
    SubmittedUser(givenName: given, familyName: family).name
  }

  private func user(_ json: String) throws -> SubmittedUser {
    try SubmittedUser(json: Array(json.utf8))
  }

  @Test("The submitted name is read from Apple's form, and the address with it is unverified")
  func appleForm() throws {
    let user = try user(#"{"name":{"firstName":"Tim","lastName":"Apple"},"email":"boss@example.com"}"#)
    #expect(user.givenName == "Tim")
    #expect(user.familyName == "Apple")
    #expect(user.name == "Tim Apple")
    #expect(user.claimedEmail == "boss@example.com")
    for odd in ["a b@example.com", "a\\u0000@example.com", "a@", String(repeating: "a", count: 255)] {
      #expect(try self.user(#"{"email":"\#(odd)"}"#).claimedEmail == nil, "\(odd)")
    }
  }

  @Test(
    "The submitted name may be partial or absent",
    arguments: [
      (#"{"name":{"firstName":"Tim"}}"#, "Tim"), (#"{"name":{"lastName":"Apple"}}"#, "Apple"),
      (#"{"name":{"firstName":" ","lastName":null}}"#, nil), (#"{"name":{"firstName":["x"]}}"#, nil),
      (#"{"name":"Tim"}"#, nil), (#"{"name":null}"#, nil), ("{}", nil),
    ] as [(String, String?)])
  func partly(json: String, expected: String?) throws {
    #expect(try user(json).name == expected)
  }

  @Test("The submitted name has no control characters and line breaks, which become a space or nothing")
  func controls() {
    #expect(name("Tim\r\nX-Forwarded-User: admin") == "Tim X-Forwarded-User: admin")
    #expect(name("T\u{0}i\u{1B}m\u{7F}\u{9B}") == "Tim")
    #expect(name("Tim\u{2028}A\u{2029}B\u{85}C\u{B}D") == "Tim A B C D")
    #expect(name("\r\n\t\u{0}") == nil)
  }

  @Test("The submitted name has nothing that turns text around or hides in it, but joiners that some scripts need")
  func invisible() {
    #expect(name("Tim\u{202E}nimda\u{202C}") == "Timnimda")
    #expect(name("\u{2066}Tim\u{2069}\u{200E}\u{200F}\u{FEFF}\u{200B}\u{AD}") == "Tim")
    #expect(name("\u{E000}\u{F8FF}\u{E0041}Tim") == "Tim")
    #expect(name("علی\u{200C}رضا") == "علی\u{200C}رضا")
    #expect(name("\u{200C}\u{200D}") == nil)
  }

  @Test("The submitted name is trimmed, and white space inside becomes one space")
  func spaces() {
    #expect(name("  Tim \t\u{A0}\u{3000} Apple  ", " X ") == "Tim Apple X")
  }

  @Test("The submitted name keeps markup, which is escaped on output")
  func markup() {
    #expect(name("<b>O'Neil & \"Co\"</b>") == "<b>O'Neil & \"Co\"</b>")
  }

  @Test("The submitted name is in composed form")
  func composed() throws {
    let composed = try #require(self.name("Jose\u{301}"))
    #expect(Array(composed.utf8) == Array("José".utf8))
  }

  @Test("The submitted name is bounded: 100 characters, 256 bytes, and no half characters")
  func bounded() throws {
    #expect(name(String(repeating: "x", count: 10_000)) == String(repeating: "x", count: 100))
    let family = try #require(name(String(repeating: "👨‍👩‍👧‍👦", count: 50)))
    #expect(family.utf8.count <= 256)
    #expect(family.allSatisfy { $0 == "👨‍👩‍👧‍👦" })
    #expect(name("x" + String(repeating: "\u{301}", count: 10_000)) == nil)
    #expect(name(String(repeating: "x", count: 99) + " y") == String(repeating: "x", count: 99))
  }

  @Test(
    "The submitted name is not read from text that is deep, huge, or no object",
    arguments: [
      "", "null", "[]", "7", "\"Tim\"", "{", "{\"name\":{\"firstName\":\"\\ud800\"}}",
      #"{"name":{"x":{"y":{"z":{}}}}}"#, "{\"name\":\"" + String(repeating: "x", count: 4096) + "\"}",
      String(repeating: "{\"name\":", count: 100_000),
    ])
  func unreadable(json: String) {
    #expect(throws: SubmittedUserError.self) { try user(json) }
  }

  @Test("The submitted name is not read from bytes that are not UTF-8")
  func notUTF8() {
    let json = Array(#"{"name":{"firstName":""#.utf8) + [0xC3, 0x28] + Array(#""}}"#.utf8)
    #expect(throws: SubmittedUserError.self) { try SubmittedUser(json: json) }
  }
}
