import AccessPolicy
import Testing

@testable import Gateway

@Suite("Decisions that a session entry remembers")
struct AccessDecisionCacheTests {
  @Test("A decision is found until another configuration's is remembered, and for its own rule only")
  func generations() {
    var cache = AccessDecisionCache()
    #expect(cache.find(0, generation: 1) == nil)
    cache.remember(.allowed, of: 0, generation: 1)
    cache.remember(.denied(.notListed), of: 3, generation: 1)
    #expect(cache.find(0, generation: 1) == .allowed)
    #expect(cache.find(3, generation: 1) == .denied(.notListed))
    #expect(cache.find(8, generation: 1) == nil, "another rule of the same place")
    #expect(cache.find(0, generation: 2) == nil)
    cache.remember(.denied(.claimNotMet), of: 3, generation: 2)
    #expect(cache.find(0, generation: 2) == nil && cache.find(3, generation: 1) == nil)
    #expect(cache.find(3, generation: 2) == .denied(.claimNotMet))
  }

  @Test("A rule takes the place of the one that was remembered there")
  func replaced() {
    var cache = AccessDecisionCache()
    cache.remember(.allowed, of: 1, generation: 1)
    cache.remember(.denied(.emailHidden), of: 9, generation: 1)
    #expect(cache.find(9, generation: 1) == .denied(.emailHidden) && cache.find(1, generation: 1) == nil)
  }
}
