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
    "A name is cleaned of what is not text",
    arguments: [
      ("Ada", "Ada"), ("  Ada \t King ", "Ada King"), ("A\r\nda", "A da"), ("A\u{0}\u{1B}da", "A da"),
      ("\u{202E}Ada\u{2066}", "Ada"), ("A\u{2028}B", "A B"), ("\u{200B}", nil), ("", nil), ("\r\n", nil),
      ("<script>", "<script>"), ("Zoë 👩‍🚀", "Zoë 👩‍🚀"),
    ] as [(String, String?)])
  func cleansNames(text: String, cleaned: String?) {
    #expect(PersonName(given: text, family: nil)?.given == cleaned)
    #expect(PersonName(given: nil, family: text)?.text == cleaned)
  }

  @Test("A name is cut to 100 characters and 400 bytes")
  func cutsNames() throws {
    let long = try #require(PersonName(given: String(repeating: "a", count: 100_000), family: nil))
    #expect(long.text.count == 100)
    let marks = try #require(PersonName(given: "a" + String(repeating: "\u{0301}", count: 100_000), family: nil))
    #expect(marks.text.utf8.count <= 400)
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

@Suite("Sessions")
struct SessionTests {
  @Test("A session lives until its end, and no longer than the idle time-out after it was last seen")
  func endsInTime() throws {
    var session = try makeSession(lifetime: .seconds(1_000))
    #expect(session.isAlive(at: noon, idleTimeout: .seconds(100)))
    #expect(session.isAlive(at: noon.addingTimeInterval(99), idleTimeout: .seconds(100)))
    #expect(!session.isAlive(at: noon.addingTimeInterval(100), idleTimeout: .seconds(100)))
    session.lastSeen = noon.addingTimeInterval(950)
    #expect(session.isAlive(at: noon.addingTimeInterval(999), idleTimeout: .seconds(100)))
    #expect(!session.isAlive(at: noon.addingTimeInterval(1_000), idleTimeout: .seconds(100)))
    #expect(session.isAlive(at: noon.addingTimeInterval(-10), idleTimeout: .seconds(100)))
  }

  @Test("The name of a browser is kept as 200 bytes of printable ASCII")
  func summarizesUserAgents() {
    #expect(UserAgentSummary("Mozilla/5.0".utf8)?.text == "Mozilla/5.0")
    #expect(UserAgentSummary("a\r\nb\u{1B}é".utf8)?.text == "a??b???")
    #expect(UserAgentSummary(repeatElement(UInt8(ascii: "a"), count: 100_000))?.text.utf8.count == 200)
    #expect(UserAgentSummary("".utf8) == nil)
    #expect(UserAgentSummary("  ".utf8) == nil)
  }

  @Test("Instants and durations far beyond any clock are brought to the nearest possible")
  func clampsInstants() {
    #expect(Date(timeIntervalSince1970: 1e300).millisecondsSince1970 == .max)
    #expect(Date(timeIntervalSince1970: -1e300).millisecondsSince1970 == .min)
    #expect(Date(timeIntervalSince1970: .nan).millisecondsSince1970 == .max)
    #expect(Duration.seconds(Int64.max).milliseconds == .max)
    #expect(Duration.seconds(Int64.min).milliseconds == .min)
    #expect(Duration.milliseconds(-1_500).milliseconds == -1_500)
    #expect(Date(millisecondsSince1970: 1_790_000_000_123).millisecondsSince1970 == 1_790_000_000_123)
  }

  @Test("A mark contains its kind: a sign-in is not a notification of the same name")
  func marksDiffer() {
    let marks: Set<ReplayGuard> = [.attempt([97]), .notification("a"), .handBack([97]), .attempt([97, 0])]
    #expect(marks.count == 4)
    #expect(marks.allSatisfy { $0.bytes.count == 16 })
  }
}
