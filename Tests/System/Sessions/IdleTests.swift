import Foundation
import PostgreSQLServerTesting
import Testing

// An idle time-out under five minutes: a session is idle when nobody has seen it, not when one event loop or one
// gateway has not.

@SystemActor
@Suite("A short idle time-out")
struct IdleTests {
  private static let minutes = 60

  @Test("A session that is used on one event loop is not idle for another; one that nobody uses is")
  func twoLoops() throws {
    let site = try Site(
      fakeClock: true,
      adjust: {
        $0["session", "idle_timeout"] = "\"4m\""
        $0["listen", "workers"] = "2"
      })
    defer { site.stop() }
    let anna = try site.signedIn()
    let cookie = try #require(try anna.cookieHeader(for: site.origin + "/"))
    // Each connection stays on the loop that it came to.
    let connections = try (0..<8).map { _ in try site.gateway.connect() }
    func status(_ connection: TCPConnection) throws -> String {
      try connection.send(
        "GET /.auth/session HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\nCookie: \(cookie)\r\n\r\n")
      let head = try MessageHead(connection.read(through: "\r\n\r\n"))
      _ = try connection.read(count: Int(try #require(head.fields["Content-Length"])) ?? 0)
      return head.startLine
    }
    for connection in connections { #expect(try status(connection).contains(" 200 ")) }
    for step in 1...3 {
      try site.setClock(secondsAhead: step * 3 * Self.minutes)
      #expect(try status(connections[0]).contains(" 200 "))
    }
    for connection in connections { #expect(try status(connection).contains(" 200 ")) }
    try site.setClock(secondsAhead: 14 * Self.minutes)
    for connection in connections { #expect(try status(connection).contains(" 401 ")) }
  }

  @Test("A clock that was ahead for a moment signs nobody out")
  func clockSetBack() throws {
    let site = try Site(fakeClock: true, adjust: { $0["session", "idle_timeout"] = "\"30m\"" })
    defer { site.stop() }
    let anna = try site.signedIn()
    #expect(try site.application(anna) == 200)
    try site.setClock(secondsAhead: 60 * Self.minutes)
    let refused = try anna.fetch(site.own("session"))
    #expect(refused.status == 401)
    try site.setClock(secondsAhead: 0)
    #expect(try site.application(anna) == 200)
    #expect(try anna.fetch(site.own("session")).status == 200)
  }

  @Test("A session that is used at one gateway is not idle for another; one that nobody uses is")
  func twoReplicas() throws {
    let cluster = try Cluster(2, fakeClock: true, adjust: { $0["session", "idle_timeout"] = "\"4m\"" })
    defer { cluster.stop() }
    let anna = try cluster.site.signedIn()
    for replica in 0..<2 { #expect(try cluster.status(of: anna, at: replica) == 200) }
    func lastSeen() throws -> Int {
      try #require(Int(try cluster.server.query("SELECT max(last_seen) FROM cordon.sessions", at: cluster.storeURL)))
    }
    for step in 1...3 {
      let before = try lastSeen()
      try cluster.site.setClock(secondsAhead: step * 3 * Self.minutes)
      #expect(try cluster.status(of: anna, at: 0) == 200)
      try poll("the use to be written down") { try lastSeen() > before ? () : nil }
    }
    #expect(try cluster.status(of: anna, at: 1) == 200)
    try cluster.site.setClock(secondsAhead: 14 * Self.minutes)
    for replica in 0..<2 { #expect(try cluster.status(of: anna, at: replica) == 401) }
  }

  @Test("A short idle time-out has sightings written down as often as it needs")
  func interval() throws {
    let cluster = try Cluster(1, adjust: { $0["session", "idle_timeout"] = "\"20s\"" })
    defer { cluster.stop() }
    let anna = try cluster.site.signedIn()
    func lastSeen() throws -> Int {
      try #require(Int(try cluster.server.query("SELECT max(last_seen) FROM cordon.sessions", at: cluster.storeURL)))
    }
    let before = try lastSeen()
    // Well before a minute is over.
    try poll("a use to be written down") {
      #expect(try cluster.status(of: anna, at: 0) == 200)
      return try lastSeen() > before ? () : nil
    }
  }
}
