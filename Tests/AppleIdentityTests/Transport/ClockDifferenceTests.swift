import AppleIdentity
import FoundationEssentials
import Testing

@Suite("Apple's clock")
struct ClockDifferenceTests {
  @Test("Apple's clock is compared with ours")
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
