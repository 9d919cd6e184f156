import Foundation
import Testing

@testable import Sessions

@Suite("Accounts")
struct AccountTests {
  @Test("A subject is 1 to 255 visible ASCII characters")
  func judgesSubjects() {
    #expect(Subject("001234.0123456789abcdef.0123")?.text == "001234.0123456789abcdef.0123")
    for text in ["", " ", "a b", "a\n", "é", "\u{212A}", String(repeating: "a", count: 256)] {
      #expect(Subject(text) == nil)
    }
  }

  @Test(
    "A name loses what is not text",
    arguments: [
      ("Ada", "Ada"), ("  Ada \t King ", "Ada King"), ("A\r\nda", "A da"), ("A\u{0}\u{1B}da", "Ada"),
      ("\u{202E}Ada\u{2066}", "Ada"), ("A\u{2028}B", "A B"), ("\u{200B}", nil), ("", nil), ("\r\n", nil),
      ("<script>", "<script>"), ("Zoë 👩‍🚀", "Zoë 👩‍🚀"),
    ] as [(String, String?)])
  func sanitizesNames(text: String, sanitized: String?) {
    #expect(PersonName(given: text, family: nil)?.given == sanitized)
    #expect(PersonName(given: nil, family: text)?.text == sanitized)
  }

  @Test("A name is cut to 100 characters and 256 bytes, at the end of a character")
  func cutsNames() throws {
    let long = try #require(PersonName(given: String(repeating: "a", count: 100_000), family: nil))
    #expect(long.text.count == 100)
    let wide = try #require(PersonName(given: String(repeating: "😀", count: 100), family: nil))
    #expect(wide.text == String(repeating: "😀", count: 64))
    #expect(PersonName(given: "a" + String(repeating: "\u{0301}", count: 100_000), family: nil) == nil)
    let parted = PersonName(given: String(repeating: "a", count: 99) + " b", family: nil)
    #expect(parted?.given == String(repeating: "a", count: 99), "no space is left at the end")
  }

  @Test("A name is shown as given and family name, or as it is to be displayed")
  func showsNames() {
    #expect(PersonName(given: "Ada", family: "Lovelace")?.text == "Ada Lovelace")
    #expect(PersonName(given: nil, family: "Lovelace")?.text == "Lovelace")
    #expect(PersonName(given: "Ada", family: "Lovelace", display: "Lovelace Ada")?.text == "Lovelace Ada")
    #expect(PersonName(given: " ", family: nil, display: "\n") == nil)
  }

  @Test("After a sign-in an organization that was left is gone, an address the token is silent on stays")
  func mergesAfterSignIn() {
    var known = AccountClaims()
    known.email = "ada@example.com"
    known.emailVerified = true
    known.organizationID = "org"
    known.realUserStatus = 2
    known.other = ["old": .truth(true)]
    for silent in [nil, ""] as [String?] {
      var newer = AccountClaims()
      newer.email = silent
      let merged = known.afterSignIn(newer)
      #expect(merged.email == "ada@example.com")
      #expect(merged.emailVerified == true)
      #expect(merged.organizationID == nil)
      #expect(merged.realUserStatus == 2)
      #expect(merged.other.isEmpty)
    }
  }

  @Test("A new address never inherits that the old one was verified")
  func addressesComeWithTheirFlags() {
    var known = AccountClaims()
    known.email = "ada@example.com"
    known.emailVerified = true
    known.isPrivateEmail = true
    var newer = AccountClaims()
    newer.email = "root@example.com"
    for merged in [known.afterSignIn(newer), known.afterCheck(newer)] {
      #expect(merged.email == "root@example.com")
      #expect(merged.emailVerified == nil)
      #expect(merged.isPrivateEmail == nil)
    }
  }

  @Test("After a check only what the token says is replaced")
  func mergesAfterCheck() {
    var known = AccountClaims()
    known.email = "ada@example.com"
    known.emailVerified = true
    known.organizationID = "org"
    known.other = ["a": .integer(1), "b": .integer(2)]
    var newer = AccountClaims()
    newer.other = ["b": .integer(3)]
    newer.scopes = ["s"]
    let merged = known.afterCheck(newer)
    #expect(merged.email == "ada@example.com")
    #expect(merged.organizationID == "org")
    #expect(merged.scopes == ["s"])
    #expect(merged.other == ["a": .integer(1), "b": .integer(3)])
  }

  @Test("Claims are read back from JSON as they were written")
  func claimsAreCodable() throws {
    var claims = AccountClaims()
    claims.email = "ada@example.com"
    claims.other = [
      "t": .truth(true), "n": .integer(1), "max": .integer(.max), "h": .decimal(1.5), "s": .text("1"), "z": .integer(0),
    ]
    #expect(try JSONDecoder().decode(AccountClaims.self, from: JSONEncoder().encode(claims)) == claims)
  }
}
