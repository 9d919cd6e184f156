import Testing

@testable import HTTPWire

// Cases: spellings that something behind the gateway takes for the same, names that are not, the forwarding family, and
// many names and families together.

@Suite("Names that only the gateway may set")
struct ReservedNamesTests {
  private let reserved = ReservedNames([
    "X-Forwarded-User", "Remote_User", "1-Digit", String(repeating: "l", count: 70),
  ])

  private func isReserved(_ name: String) -> Bool {
    let bytes = Array("(\(name))".utf8)
    return reserved.contains(bytes.span.bytes, 1..<bytes.count - 1)
  }

  private let families = ReservedNames([], families: ["X-Forwarded-", "X-WEBAUTH-"])

  private func isFamily(_ name: String) -> Bool { families.contains(name) }

  @Test(
    "A reserved name is found in every spelling",
    arguments: [
      "X-Forwarded-User", "x-forwarded-user", "X_Forwarded_User", "X.Forwarded.User", "x_FORWARDED-user",
      "X-Forwarded.User",
      "Remote-User", "remote_user", "REMOTE.USER", "1-digit", "1_DIGIT",
    ])
  func spellings(_ name: String) { #expect(isReserved(name)) }

  @Test("Each character that CGI servers turn into an underscore counts as one")
  func everyOtherCharacter() {
    for character in "!#$%&'*+-.^_`|~" {
      #expect(isReserved("X\(character)Forwarded\(character)User"), "\(character)")
      #expect(isFamily("x\(character)forwarded\(character)anything"), "\(character)")
    }
  }

  @Test(
    "A name that only resembles a reserved one is not reserved",
    arguments: [
      "X-Forwarded-Users", "X-Forwarded-Use", "XForwardedUser", "X-ForwardedUser", "Y-Forwarded-User",
      "X-Forwarded-Usex",
      "X--Forwarded-User", "Remote-Use", "-Remote-User", "2-Digit", "Host", "l",
    ])
  func others(_ name: String) { #expect(!isReserved(name)) }

  @Test("Names longer than any table are compared in full")
  func longNames() {
    #expect(isReserved(String(repeating: "L", count: 70)))
    #expect(!isReserved(String(repeating: "l", count: 69)))
    #expect(!isReserved(String(repeating: "l", count: 63)))
  }

  @Test("A family is everything that begins with its name and a separator")
  func family() {
    let long = "X-Forwarded-" + String(repeating: "l", count: 70)
    for name in [
      "X-Forwarded-For", "x_forwarded_proto", "X.FORWARDED.Anything", "X-Forwarded-", "X-WebAuth-User", "x_webauth_",
      long,
    ] {
      #expect(isFamily(name), "\(name)")
    }
    for name in [
      "X-Forwarded", "Forwarded", "X-Forwardedfor", "Y-Forwarded-For", "XX-Forwarded-For", "X-Forward-For1",
      "X-WEBAUTH", "X-WEBAUTHUSER", "",
    ] {
      #expect(!isFamily(name), "\(name)")
    }
  }

  @Test("Names and families of one or two characters are found, and what only begins alike is not")
  func shortNames() {
    let reserved = ReservedNames(["Q", "Qz"], families: ["$", "SM"])
    for name in ["Q", "q", "Qz", "qZ", "$", "$W", "-1", "_-", "sm", "SM-User"] {
      #expect(reserved.contains(name), "\(name)")
    }
    for name in ["Qa", "Q-", "Qzz", "1", "1$", "S", "Sn", "S-M"] { #expect(!reserved.contains(name), "\(name)") }
  }

  @Test("Each name is found among many names and families, and no other name is")
  func manyNames() {
    var words: [String] = []
    var longest = [""]
    for _ in 1...6 {
      longest = longest.flatMap { word in ["a", "b", "-"].map { word + $0 } }
      words += longest
    }
    for step in [3, 7, 31, 101] {
      let names = stride(from: 1, to: words.count, by: step).map { words[$0] }
      // Some of these begin with others.
      let families = stride(from: 5, to: words.count, by: step * 13).map { words[$0] }
      let reserved = ReservedNames(names, families: families)
      let wrong = words.filter { word in
        let expected =
          names.contains(word) || families.contains { word.utf8.starts(with: $0.utf8) }
        return reserved.contains(word) != expected
      }
      #expect(wrong.isEmpty, "\(wrong.prefix(10))")
    }
  }
}
