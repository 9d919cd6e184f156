import AppleIdentity
import FoundationEssentials
import Testing

@Suite("Apple's clock")
struct HTTPDateTests {
  @Test(
    "Is read from the Date field",
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777.0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
      ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199), ("Sat, 21 Nov 2026 08:00:00 GMT", 1_795_248_000),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800),
    ])
  func read(text: String, seconds: Double) {
    #expect(HTTPDate.parse(text) == Date(timeIntervalSince1970: seconds))
  }

  @Test(
    "Is not read from anything else",
    arguments: [
      "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 UTC",
      "Sun, 31 Feb 2024 00:00:00 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 1969 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
      "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov -994 08:49:37 GMT", "Thu, 29 Feb 2100 00:00:00 GMT",
      "Sün, 06 Nov 1994 08:49:37 GM",
    ])
  func notRead(text: String) {
    #expect(HTTPDate.parse(text) == nil)
  }

  @Test("Is compared with ours")
  func difference() async throws {
    let fixture = try Fixture()
    let keys = jwks(try fixture.appleKey.jwk())
    fixture.apple.answer("/auth/keys", .json(keys, date: "Sat, 21 Nov 2026 08:00:00 GMT"), .json(keys))
    let first = try await fixture.provider.keySet.fetchNow()
    #expect(first.clockDifference(at: Date(timeIntervalSince1970: 1_795_248_090)) == 90)
    let second = try await fixture.provider.keySet.fetchNow()
    #expect(second.clockDifference(at: fixture.clock.time) == nil)
  }
}
