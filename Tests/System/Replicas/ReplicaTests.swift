import Foundation
import PostgreSQLServerTesting
import TemporaryDirectoryTesting
import Testing

// Three gateways on one PostgreSQL database. (Signing in over several: ReplicaSignInTests.)
//
// - A session is one on all of them; ended on one, it is refused by the others within two seconds, and what is open of
//   it closes: with NOTIFY, and by polling alone.
// - An account is asked about once a day: under a thousand racing requests, after kills, after restarts.
// - Keys rotate from one gateway to the next without a sign-out. Signing a user out everywhere is everywhere.
// - No log holds the password of the database.

@SystemActor
@Suite("Several gateways on one database")
struct ReplicaTests {
  private static let day = 24 * 3_600
  private static let due = 36 * 3_600
  private static let replicas = 0..<3

  /// An answer that streams, of which the first event has come.
  private func stream(of visitor: Visitor, _ cluster: Cluster, at replica: Int) throws -> TCPConnection {
    let connection = try cluster.gateways[replica].connect()
    let cookie = try #require(try visitor.cookieHeader(for: cluster.site.origin + "/"))
    try connection.send("GET /events HTTP/1.1\r\nHost: \(cluster.authority)\r\nCookie: \(cookie)\r\n\r\n")
    _ = try connection.read(through: "data: first\n\n")
    return connection
  }

  @Test("A gateway that is about to end refuses a session that another has ended meanwhile")
  func endedWhileDraining() throws {
    let cluster = try Cluster(2, adjust: { $0["shutdown", "delay"] = "\"1h\"" })
    defer { cluster.stop() }
    let anna = try cluster.site.signedIn(as: "anna")
    for replica in 0..<2 { #expect(try cluster.status(of: anna, at: replica) == 200) }
    let cookie = try #require(try anna.cookieHeader(for: cluster.site.origin + "/"))
    let ending = cluster.gateways[1]
    ending.process.signal(SIGTERM)
    try poll("readiness to end") { try ending.admin.get("/readyz").status == 503 ? () : nil }
    try cluster.signOut(anna, at: 0)
    try poll("the other gateway to refuse the cookie") {
      try cluster.client(of: 1).get("/.auth/session", fields: [("Cookie", cookie)]).status == 401 ? () : nil
    }
    #expect(ending.process.isRunning)
  }

  @Test(
    "A session ended on one is refused by all within two seconds, and what is open of it closes",
    arguments: [true, false])
  func endedElsewhere(notifies: Bool) throws {
    let cluster = try Cluster(upstream: StreamingApplication.answer) { $0["store", "notify"] = "\(notifies)" }
    defer { cluster.stop() }
    var seconds: [Double] = []
    for round in Self.replicas {
      let anna = try cluster.site.signedIn(as: "anna")
      let ben = try cluster.site.signedIn(as: "ben")
      for replica in Self.replicas { #expect(try cluster.status(of: anna, at: replica) == 200) }
      let open = try Self.replicas.flatMap {
        [try cluster.gateways[$0].webSocket(of: anna, cluster.site), try stream(of: anna, cluster, at: $0)]
      }
      let staying = try Self.replicas.map { try cluster.gateways[$0].webSocket(of: ben, cluster.site) }
      let cookie = try #require(try anna.cookieHeader(for: cluster.site.origin + "/"))
      try cluster.signOut(anna, at: round)
      let ended = Date()
      for replica in Self.replicas {
        try poll("gateway \(replica) to refuse the cookie") {
          let client = cluster.client(of: replica)
          return try client.get("/.auth/session", fields: [("Cookie", cookie)]).status == 401 ? () : nil
        }
      }
      for connection in open { _ = try connection.readToEnd() }
      seconds.append(Date().timeIntervalSince(ended))
      for connection in staying {
        try connection.send("still here")
        #expect(try connection.read(count: 10) == Array("still here".utf8))
      }
      for replica in Self.replicas { #expect(try cluster.status(of: ben, at: replica) == 200) }
      for visitor in [anna, ben] { cluster.lead(visitor, to: 0) }
    }
    // A machine that is busy may hold one of the rounds up, not all of them.
    #expect(try #require(seconds.min()) < 2, "\(seconds)")
    for gateway in cluster.gateways {
      let log = String(decoding: gateway.log, as: UTF8.self)
      #expect(!log.contains(PostgreSQLServer.password) && !log.contains("s3cret"))
    }
  }

  @Test("An account is asked about once a day under a thousand racing requests, after kills and restarts")
  func oncePerDay() throws {
    let cluster = try Cluster(fakeClock: true)
    defer { cluster.stop() }
    // Apple would answer a second check with 429: a fault, not a count, would show.
    try cluster.site.apple.switches(["throttle": "refresh"])
    let browsers = try (0..<4).map { _ in try cluster.site.signedIn() }
    let cookies = try browsers.map { try #require(try $0.cookieHeader(for: cluster.site.origin + "/")) }
    for round in 1...3 {
      try cluster.site.setClock(secondsAhead: round * Self.due)
      let clients = Self.replicas.map { cluster.client(of: $0) }
      let statuses = race(1_000) { number in
        try clients[number % 3].get("/.auth/session", fields: [("Cookie", cookies[number % cookies.count])]).status
      }
      #expect(statuses.count == 1_000 && statuses.allSatisfy { $0 == 200 })
      try poll("check \(round)") { try checks(cluster) >= round ? () : nil }
      switch round {
      case 1: for gateway in cluster.gateways { try gateway.killAndRestart() }
      case 2: for gateway in cluster.gateways { try gateway.restart() }
      default: break
      }
      for replica in Self.replicas {
        for browser in browsers { #expect(try cluster.status(of: browser, at: replica) == 200) }
      }
      #expect(try checks(cluster) == round)
    }
    #expect(try cluster.site.apple.tokenRequests("refresh_token").allSatisfy { $0.status == 200 })
  }

  private func checks(_ cluster: Cluster) throws -> Int { try cluster.site.apple.checks(of: "anna", kind: "refresh") }

  /// Carries `body` out this often, from 16 threads at once.
  private func race(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Int) -> [Int] {
    let results = Watched<[Int]>([])
    DispatchQueue.concurrentPerform(iterations: 16) { thread in
      for number in stride(from: thread, to: count, by: 16) {
        let result = (try? body(number)) ?? -1
        results.update { $0.append(result) }
      }
    }
    return results.current
  }

  @Test("A kill between the claim and the answer makes no second check that day, on no gateway")
  func killedMidCheck() throws {
    let cluster = try Cluster(fakeClock: true)
    defer { cluster.stop() }
    let anna = try cluster.site.signedIn()
    try cluster.site.setClock(secondsAhead: Self.due)
    try cluster.site.apple.fault("token", "slow", ["grant_type": "refresh_token", "milliseconds": 20_000, "times": 1])
    #expect(try cluster.status(of: anna, at: 1) == 200)
    try poll("the check to begin") {
      try cluster.site.apple.tokenRequests("refresh_token").count == 1 ? () : nil
    }
    try cluster.gateways[1].killAndRestart()
    for replica in Self.replicas {
      for _ in 0..<10 { #expect(try cluster.status(of: anna, at: replica) == 200) }
    }
    #expect(try cluster.site.apple.tokenRequests("refresh_token").count == 1)
  }

  @Test("Keys rotate from one gateway to the next, and nobody is signed out")
  func keyRotation() throws {
    let cluster = try Cluster()
    defer { cluster.stop() }
    var visitors = [try cluster.site.signedIn(as: "anna")]
    func expectEverybodyIn() throws {
      for visitor in visitors {
        for replica in Self.replicas { #expect(try cluster.status(of: visitor, at: replica) == 200) }
        cluster.lead(visitor, to: 0)
      }
    }
    func restart(_ replica: Int, _ secrets: String) throws {
      let gateway = cluster.gateways[replica]
      var changed = gateway.configuration
      changed["session", "secret_files"] = secrets
      try gateway.directory.write("another secret of the tests, just as long as it must be\n", to: "new.key")
      try gateway.restart(with: changed)
    }
    // Every gateway learns to read the new key before any of them writes with it.
    for secrets in ["[\"session.key\", \"new.key\"]", "[\"new.key\", \"session.key\"]"] {
      for replica in Self.replicas {
        try restart(replica, secrets)
        try expectEverybodyIn()
      }
      visitors.append(try cluster.site.signedIn(as: visitors.count == 1 ? "ben" : "anna"))
      try expectEverybodyIn()
    }
    let file = cluster.gateways[0].file
    let resealed = try ServerProcess.run(Machine.binary("cordon"), ["store", "reseal", "--config", file])
    #expect(resealed.exit == .code(0), "\(resealed.standardError)")
    #expect(resealed.standardOutput.contains("now sealed by key") || resealed.standardOutput.contains("already"))
    // Without the old secret: the tokens are all there still, and so a start is not refused.
    for replica in Self.replicas { try restart(replica, "[\"new.key\"]") }
    for replica in Self.replicas { #expect(try cluster.status(of: visitors[2], at: replica) == 200) }
  }

  @Test("A user who is signed out everywhere is so on every gateway, and in every browser")
  func everywhere() throws {
    let folder = try TemporaryDirectory()
    let token = "a-token-of-the-tests-long-enough-to-be-one"
    let file = try folder.write(token + "\n", to: "admin.token")
    let cluster = try Cluster(adjust: { $0["admin", "token_file"] = "\"\(file)\"" })
    defer { cluster.stop() }
    let browsers = try (0..<3).map { _ in try cluster.site.signedIn(as: "anna") }
    let ben = try cluster.site.signedIn(as: "ben")
    for browser in browsers + [ben] {
      for replica in Self.replicas { #expect(try cluster.status(of: browser, at: replica) == 200) }
    }
    let subject = try cluster.site.apple.subject(of: "anna")
    let ended = try cluster.gateways[1].admin.send(
      "DELETE", "/accounts/\(subject)/sessions", fields: [("Authorization", "Bearer \(token)")])
    #expect(ended.status == 200, "\(ended.text)")
    for browser in browsers {
      for replica in Self.replicas {
        try poll("gateway \(replica) to refuse") {
          try cluster.status(of: browser, at: replica) == 401 ? () : nil
        }
      }
    }
    for replica in Self.replicas { #expect(try cluster.status(of: ben, at: replica) == 200) }
  }
}
