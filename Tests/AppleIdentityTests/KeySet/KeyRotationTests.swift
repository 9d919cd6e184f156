import AppleIdentity
import FoundationEssentials
import Testing

@Suite("Apple's keys when they rotate")
struct KeyRotationTests {
  private let second = SigningKey.elliptic("APPLEKEY02")
  private let third = SigningKey.elliptic("APPLEKEY03")

  private func fetches(_ fixture: Fixture) -> Int {
    fixture.apple.requests(to: "/auth/keys").count
  }

  @Test("Keys that rotate are found at once, also twice in a minute, and withdrawn ones are dropped")
  func rotation() async throws {
    let fixture = try Fixture()
    #expect(await fixture.rejection(try fixture.token()) == nil)
    fixture.apple.answer("/auth/keys", .json(jwks(try second.jwk())))
    #expect(await fixture.rejection(try fixture.token(key: second)) == nil)
    fixture.apple.answer("/auth/keys", .json(jwks(try third.jwk())))
    #expect(await fixture.rejection(try fixture.token(key: third)) == nil)
    #expect(fetches(fixture) == 3)
    // For ten minutes, servers of Apple may still publish them.
    fixture.clock.advance(599)
    #expect(await fixture.rejection(try fixture.token()) == nil)
    #expect(await fixture.rejection(try fixture.token(key: second)) == nil)
    #expect(fetches(fixture) == 3)
    fixture.clock.advance(1)
    #expect(await fixture.rejection(try fixture.token(key: second)) == .unknownKey)
    #expect(await fixture.rejection(try fixture.token(key: third)) == nil)
    #expect(fetches(fixture) == 4)
  }

  @Test("A key is used for ten minutes after the first fetch without it, though the set that had it is hours old")
  func withdrawnFromOldSet() async throws {
    let fixture = try Fixture()
    #expect(await fixture.rejection(try fixture.token()) == nil)
    fixture.clock.advance(8 * 3600)
    fixture.apple.answer("/auth/keys", .json(jwks(try second.jwk())))
    #expect(await fixture.rejection(try fixture.token(key: second)) == nil)
    #expect(await fixture.rejection(try fixture.token()) == nil)
    fixture.clock.advance(300)
    try await fixture.provider.keySet.fetchNow()
    fixture.clock.advance(299)
    #expect(await fixture.rejection(try fixture.token()) == nil)
    #expect(fetches(fixture) == 3)
    fixture.clock.advance(1)
    #expect(await fixture.rejection(try fixture.token()) == .unknownKey, "later fetches without it do not prolong that")
  }

  @Test("A key that is published again with other content replaces the one that was withdrawn")
  func replacedContent() async throws {
    let fixture = try Fixture()
    #expect(await fixture.rejection(try fixture.token()) == nil)
    fixture.apple.answer("/auth/keys", .json(jwks(try second.jwk())))
    try await fixture.provider.keySet.fetchNow()
    let other = SigningKey.elliptic(fixture.appleKey.identifier)
    fixture.apple.answer("/auth/keys", .json(jwks(try other.jwk())))
    #expect(await fixture.rejection(try fixture.token()) == nil, "withdrawn a moment ago")
    try await fixture.provider.keySet.fetchNow()
    #expect(await fixture.rejection(try fixture.token(key: other)) == nil)
    #expect(await fixture.rejection(try fixture.token()) != nil)
    fixture.apple.answer("/auth/keys", .json(jwks(try second.jwk())))
    try await fixture.provider.keySet.fetchNow()
    #expect(await fixture.rejection(try fixture.token(key: other)) == nil)
    #expect(await fixture.rejection(try fixture.token()) != nil)
  }

  @Test("Of the keys that were withdrawn, no more are kept than a set may have, and the latest stay")
  func boundedWithdrawnKeys() async throws {
    let fixture = try Fixture()
    #expect(await fixture.rejection(try fixture.token()) == nil)
    for set in 0..<2 {
      fixture.clock.advance(1)
      let keys = try (0..<64).map { try SigningKey.elliptic("APPLEKEY\(set)-\($0)").jwk() }
      fixture.apple.answer("/auth/keys", .json(jwks(keys.joined(separator: ","))))
      try await fixture.provider.keySet.fetchNow()
    }
    fixture.clock.advance(1)
    fixture.apple.answer("/auth/keys", .json(jwks(try second.jwk())))
    try await fixture.provider.keySet.fetchNow()
    #expect(await fixture.rejection(try fixture.token()) == .unknownKey, "the oldest of 129")
    let held = try fixture.token(header: ["kid": #""APPLEKEY1-63""#])
    #expect(await fixture.rejection(held) == .signatureInvalid)
    let dropped = try fixture.token(header: ["kid": #""APPLEKEY0-63""#])
    #expect(await fixture.rejection(dropped) == .keysUnavailable(.coolingDown))
  }

  @Test("Two sets that are published in turn are fetched once each, and all their keys are accepted")
  func alternatingSets() async throws {
    let fixture = try Fixture()
    for _ in 0..<10 {
      fixture.apple.answer("/auth/keys", .json(jwks(try second.jwk())))
      #expect(await fixture.rejection(try fixture.token(key: second)) == nil)
      fixture.apple.answer("/auth/keys", .json(jwks(try fixture.appleKey.jwk())))
      #expect(await fixture.rejection(try fixture.token()) == nil)
    }
    #expect(fetches(fixture) == 2)
  }

  @Test("A set that changes all the time is not fetched for every token")
  func flappingSet() async throws {
    let fixture = try Fixture()
    for index in 0..<20 {
      let key = SigningKey.elliptic("APPLEKEY1\(index)")
      fixture.apple.answer("/auth/keys", .json(jwks(try key.jwk())))
      _ = await fixture.rejection(try fixture.token(key: key))
    }
    #expect(fetches(fixture) == AppleKeySet.Policy().fetchesPerCoolDown)
  }
}
