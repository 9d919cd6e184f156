import Testing

@testable import Gateway

// The time in which caches may be used without another answer of the store. Times are in milliseconds.
@Suite("The trust in the answers of the store")
struct StoreTrustTests {
  @Test("An answer is trusted for the outage grace from its question, and a second from its arrival at least")
  func renewal() {
    var trust = StoreTrust.until(0)
    trust.renew(at: 4_000, asked: 0, grace: 10_000)
    #expect(trust == .until(10_000))
    trust.renew(at: 40_000, asked: 20_000, grace: 10_000)
    #expect(trust == .until(41_000))
  }

  @Test("Trust ends at its end, and is none long before it: then the clock was ahead")
  func bounds() {
    let trust = StoreTrust.until(3_600_000)
    #expect(trust.contains(3_599_999, grace: 10_000) && !trust.contains(3_600_000, grace: 10_000))
    #expect(trust.contains(3_589_000, grace: 10_000) && !trust.contains(3_588_999, grace: 10_000))
  }

  @Test("No answer renews the trust in a store that refuses this version")
  func refusal() {
    var trust = StoreTrust.refused
    trust.renew(at: 4_000, asked: 3_000, grace: 10_000)
    #expect(trust == .refused)
    for moment in [Int64.min, 0, 4_000, .max] { #expect(!trust.contains(moment, grace: 10_000)) }
  }

  @Test("A shorter grace ends trust earlier, at once and for good, a longer one changes nothing that was given")
  func otherGrace() {
    var trust = StoreTrust.until(600_000)
    trust.shorten(from: 600_000, to: 10_000)
    #expect(trust == .until(10_000))
    trust.shorten(from: 10_000, to: 600_000)
    #expect(trust == .until(10_000))
    var refused = StoreTrust.refused
    refused.shorten(from: 600_000, to: 10_000)
    #expect(refused == .refused)
  }

  @Test("Trust and refusal are kept in one number")
  func encoding() {
    for trust in [StoreTrust.refused, .until(0), .until(1_790_000_000_000)] {
      #expect(StoreTrust(encoded: trust.encoded) == trust)
    }
  }

  @Test("A setting of less than a second is a grace of one second")
  func shortestGrace() {
    #expect(StoreTrust.grace(.zero) == 1_000 && StoreTrust.grace(.seconds(600)) == 600_000)
  }
}
