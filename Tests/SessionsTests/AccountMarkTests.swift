import Testing

@testable import Sessions

@Suite("Keyed hashes of accounts in cookies")
struct AccountMarkTests {
  @Test("A mark is made with the current secret, and known by every secret of the keyring, for its user only")
  func marks() throws {
    let ada = try #require(Subject("001234.ada.0987"))
    let ben = try #require(Subject("001234.ben.0987"))
    let old = try keyring("a")
    let rotated = try keyring("b", "a")
    let mark = old.accountMark(of: ada)
    #expect(mark.utf8.count == 22)
    #expect(old.isAccountMark(mark, of: ada) && rotated.isAccountMark(mark, of: ada))
    let current = rotated.accountMark(of: ada)
    #expect(try current == keyring("b").accountMark(of: ada) && current != mark)
    #expect(!old.isAccountMark(mark, of: ben))
    #expect(try !keyring("b").isAccountMark(mark, of: ada), "its secret is gone")
    for other in ["", String(mark.dropLast()), mark + "A", mark.lowercased() + "="] {
      #expect(!old.isAccountMark(other, of: ada), "\(other)")
    }
  }

  @Test("There is one code for each secret, the current one first, another one for each user, cookie and nobody")
  func codes() throws {
    let ada = try #require(Subject("001234.ada.0987"))
    let ben = try #require(Subject("001234.ben.0987"))
    let rotated = try keyring("b", "a")
    #expect(
      try rotated.accountCodes(of: ada, for: "sid")
        == keyring("b").accountCodes(of: ada, for: "sid") + keyring("a").accountCodes(of: ada, for: "sid"))
    let codes = ["sid", "id", ""].flatMap { cookie in
      [ada, ben, nil].flatMap { rotated.accountCodes(of: $0, for: cookie) }
    }
    #expect(Set(codes).count == 2 * 3 * 3 && codes.allSatisfy { $0.utf8.count == 16 })
  }
}
