import Foundation
import Testing

// The end of a session, told without using it.
@SystemActor
@Suite("GET session?peek=1")
struct SessionPeekTests {
  @Test("A peek tells both ends of a session in RFC 3339, and puts neither off")
  func peek() throws {
    let site = try Site(
      fakeClock: true,
      adjust: {
        $0["session", "lifetime"] = "\"10h\""
        $0["session", "idle_timeout"] = "\"1h\""
      })
    defer { site.stop() }
    let anna = try site.signedIn()
    func peek() throws -> (ends: Date, idleEnds: Date) {
      let response = try anna.fetch(site.own("session?peek=1"))
      let json = try response.json()
      #expect(response.status == 200 && response.setCookies == [] && json.count == 2, "\(json)")
      let ends = try #require(json["ends"] as? String)
      let idleEnds = try #require(json["idle_ends"] as? String)
      #expect(ends.wholeMatch(of: /[0-9-]{10}T[0-9:]{8}Z/) != nil, "\(ends)")
      return (try Date(ends, strategy: .iso8601), try Date(idleEnds, strategy: .iso8601))
    }
    #expect(try anna.fetch(site.origin + "/x").status == 200)
    let first = try peek()
    #expect(abs(first.ends.timeIntervalSince(first.idleEnds) - 9 * 3_600) < 120)
    try site.setClock(secondsAhead: 1_800)
    let second = try peek()
    #expect(second.ends == first.ends && abs(second.idleEnds.timeIntervalSince(first.idleEnds)) < 2)
    #expect(try anna.fetch(site.origin + "/x").status == 200)
    let third = try peek()
    #expect(third.ends == first.ends && abs(third.idleEnds.timeIntervalSince(first.idleEnds) - 1_800) < 60)
    for minutes in stride(from: 40, through: 80, by: 10) {
      try site.setClock(secondsAhead: minutes * 60)
      #expect(abs(try peek().idleEnds.timeIntervalSince(third.idleEnds)) < 2)
    }
    try site.setClock(secondsAhead: 1_800 + 3_700)
    let over = try anna.fetch(site.own("session?peek=1"))
    #expect(over.status == 401 && over.fields["WWW-Authenticate"] == "Bearer")
    #expect(try Visitor().fetch(site.own("session?peek=1")).status == 401)
  }
}
