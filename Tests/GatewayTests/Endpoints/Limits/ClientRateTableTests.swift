import Sessions
import Testing
import WebFormats

@testable import Gateway

// A clock of its own: nanoseconds as the test says.
//
// - A client may act so often at once, then as time passes; refusals cost nothing and name the time to wait.
// - IPv6 addresses of one /64 are one client; IPv4 addresses are one each.
// - Another rate: what a client has done counts on, up to the burst of the new rate.
// - A full table: nobody gains by being displaced, and newcomers are let in while anybody in the group may act.

@Suite("Rates of clients")
struct ClientRateTableTests {
  private static let second: UInt64 = 1_000_000_000

  private func client(_ text: String) throws -> ClientNetwork { ClientNetwork(try #require(IPAddress(text))) }

  @Test("A client may act as often as its rate at once, and again as time passes")
  func bucket() throws {
    var table = ClientRateTable(SignInRate(count: 3, period: .minute), groupCount: 4)
    let anna = try client("192.0.2.1")
    let start = 5 * Self.second
    for _ in 0..<3 { #expect(table.refusal(of: anna, at: start) == nil) }
    for _ in 0..<100 { #expect(table.refusal(of: anna, at: start) == 20) }
    #expect(table.refusal(of: anna, at: start + 19 * Self.second) == 1)
    #expect(table.refusal(of: anna, at: start + 20 * Self.second) == nil)
    #expect(table.refusal(of: anna, at: start + 20 * Self.second) == 20)
    // Rested for long, it may act three times again, not more.
    for _ in 0..<3 { #expect(table.refusal(of: anna, at: 3_600 * Self.second) == nil) }
    #expect(table.refusal(of: anna, at: 3_600 * Self.second) == 20)
    #expect(table.refusal(of: try client("192.0.2.2"), at: 3_600 * Self.second) == nil)
  }

  @Test("The addresses of one /64 network are one client, mapped IPv4 addresses are those of IPv4")
  func keys() throws {
    #expect(try client("2001:db8:1:2::1") == client("2001:db8:1:2:ffff::9"))
    #expect(try client("2001:db8:1:2::1") != client("2001:db8:1:3::1"))
    #expect(try client("::ffff:192.0.2.1") == client("192.0.2.1"))
    #expect(try client("192.0.2.1") != client("192.0.2.2"))
    #expect(try Set(["::1", "0.0.0.0", "::192.0.2.1", "127.0.0.1"].map(client)).count == 3)
  }

  @Test("A client that others displace gains nothing, and a newcomer is let in while one of its group may act")
  func full() throws {
    var table = ClientRateTable(SignInRate(count: 4, period: .minute), groupCount: 1)
    let (anna, now) = (try client("192.0.2.1"), 100 * Self.second)
    for _ in 0..<4 { #expect(table.refusal(of: anna, at: now) == nil) }
    // Eight places: others come and go, each once.
    var admitted = 0
    for number in 0..<200 {
      if table.refusal(of: try client("198.51.100.\(number)"), at: now) == nil { admitted += 1 }
      #expect(table.refusal(of: anna, at: now) != nil)
    }
    // Seven places of four each.
    #expect(admitted == 28)
    // Time frees them, one after the other.
    #expect(table.refusal(of: try client("203.0.113.1"), at: now + 15 * Self.second) == nil)
  }

  @Test("With another rate each client has acted as often as before, at most as often as that rate admits at once")
  func adapted() throws {
    var table = ClientRateTable(SignInRate(count: 3, period: .minute), groupCount: 4)
    let (anna, now) = (try client("192.0.2.1"), 100 * Self.second)
    for _ in 0..<3 { #expect(table.refusal(of: anna, at: now) == nil) }

    var higher = table.adapted(to: SignInRate(count: 6, period: .minute), at: now)
    for _ in 0..<3 { #expect(higher.refusal(of: anna, at: now) == nil) }
    #expect(higher.refusal(of: anna, at: now) == 10)
    #expect(higher.refusal(of: try client("192.0.2.2"), at: now) == nil)

    var lower = table.adapted(to: SignInRate(count: 2, period: .hour), at: now)
    #expect(lower.refusal(of: anna, at: now) == 1_800, "not for the third event, too")
    #expect(lower.refusal(of: try client("192.0.2.2"), at: now) == nil)

    // A client that has rested since has all of its events.
    var later = table.adapted(to: SignInRate(count: 2, period: .hour), at: now + 60 * Self.second)
    for _ in 0..<2 { #expect(later.refusal(of: anna, at: now + 60 * Self.second) == nil) }
  }

  @Test("Extreme rates and times do not trap")
  func extremes() throws {
    let anna = try client("192.0.2.1")
    for rate in [
      SignInRate(count: 1, period: .hour), SignInRate(count: 1_000_000, period: .second),
      SignInRate(count: 1_000_000, period: .hour), SignInRate(count: 0, period: .second),
    ] {
      var table = ClientRateTable(rate, groupCount: 1)
      #expect(table.refusal(of: anna, at: 0) == nil)
      for now: UInt64 in [0, 1, 0] { #expect(table.refusal(of: anna, at: now) ?? 1 <= 3_600) }
      #expect(table.refusal(of: anna, at: UInt64.max / 4) == nil)
      for other in [SignInRate(count: 0, period: .hour), SignInRate(count: 1_000_000, period: .second)] {
        var adapted = table.adapted(to: other, at: 0)
        #expect(adapted.refusal(of: anna, at: 0) ?? 1 <= 3_600)
      }
    }
  }
}
