import Foundation
import TemporaryDirectoryTesting
import Testing

// The applications behind the gateway: which one a request goes to, and what a bad one costs.
//
// - Several addresses: all are used, the one with less to do first; one that refuses costs no request, is told in
//   health and metrics, and comes back.
// - Routes name upstreams; the longest prefix, byte for byte, decides.
// - One that never answers holds up no other.
// - Checks: off unless configured; an address that fails them gets no requests, and gets them again.
// - A kept connection that has gone stale: a GET is sent again, a POST never.
// - Surplus bytes end their connection and reach nobody.
// - Empty lines before a response are skipped, whatever pieces they come in; anything else there is 502.

@SystemActor
@Suite("Upstreams")
struct UpstreamTests {
  private static let everything = "[[route]]\npath = \"/\"\naccess = \"public\"\n"

  /// A gateway before these upstreams, everything public, with more lines for the configuration.
  private func gateway(
    _ upstreams: [RawUpstream], ending: String = UpstreamTests.everything,
    wrapper: ProcessWrapper? = nil, adjust: (inout GatewayConfiguration) -> Void = { _ in }
  ) throws -> GatewayProcess {
    var configuration = try GatewayConfiguration(upstream: "")
    configuration["upstream", "url"] = nil
    configuration["upstream", "urls"] = Self.list(upstreams.map(\.port))
    // One event loop, so that what it learns holds for every request.
    configuration["listen", "workers"] = "1"
    configuration.ending = ending
    adjust(&configuration)
    return try GatewayProcess(configuration, wrapper: wrapper)
  }

  private static func list(_ ports: [UInt16]) -> String {
    "[" + ports.map { "\"http://127.0.0.1:\($0)\"" }.joined(separator: ", ") + "]"
  }

  private static func named(_ body: String) throws -> RawUpstream {
    try RawUpstream { _, connection in try connection.send(RawUpstream.response(body: body)) }
  }

  // MARK: Several addresses

  @Test("Requests go to every address")
  func spread() throws {
    let upstreams = try ["one", "two", "three"].map { try Self.named($0) }
    let gateway = try gateway(upstreams)
    defer { gateway.stop() }
    let answers = try (0..<60).map { _ in try gateway.client.get("/").text }
    #expect(Set(answers) == ["one", "two", "three"])
  }

  @Test("Of two addresses the one with fewer requests under way gets the next one")
  func leastOutstanding() throws {
    let mayAnswer = Watched(false)
    let slow = try RawUpstream { _, connection in
      mayAnswer.take { $0 ? () : nil }
      try connection.send(RawUpstream.response(body: "slow"))
    }
    let quick = try Self.named("quick")
    let gateway = try gateway([slow, quick])
    defer { gateway.stop() }
    // Requests, each on a connection of its own, until the slow one has one to do.
    var connections: [TCPConnection] = []
    while slow.requests.isEmpty {
      let connection = try gateway.connect()
      try connection.send("GET / HTTP/1.1\r\nHost: \(gateway.client.authority)\r\n\r\n")
      connections.append(connection)
      try poll("the request to arrive") { slow.requests.count + quick.requests.count == connections.count ? () : nil }
    }
    for _ in 0..<40 { #expect(try gateway.client.get("/").text == "quick") }
    #expect(slow.requests.count == 1)
    mayAnswer.update { $0 = true }
    let last = try #require(connections.last)
    #expect(try HTTPResponse.read(from: last).text == "slow")
    try poll("the other one to be asked again") { try gateway.client.get("/").text == "slow" ? () : nil }
  }

  @Test("An address that refuses costs no request of any method, is told, and gets requests again when it is back")
  func refusing() throws {
    let (well, gone) = try (Self.named("well"), Self.named("gone"))
    gone.stop()
    let gateway = try gateway([well, gone])
    defer { gateway.stop() }
    for _ in 0..<30 {
      #expect(try gateway.client.get("/").status == 200)
      #expect(try gateway.client.send("POST", "/", body: Array("abc".utf8)).status == 200)
    }
    let address = "http://127.0.0.1:\(gone.port)"
    try poll("health to tell") {
      try gateway.admin.get("/healthz").text.contains("1 of 2 unhealthy: \(address) does not answer") ? () : nil
    }
    #expect(try gateway.admin.get("/readyz").status == 200)
    let metrics = try gateway.admin.get("/metrics").text
    #expect(metrics.contains("cordon_upstream_address_up{upstream=\"default\",address=\"\(address)\"} 0\n"))
    #expect(
      metrics.contains("cordon_upstream_address_up{upstream=\"default\",address=\"http://127.0.0.1:\(well.port)\"} 1\n")
    )

    let back = try RawUpstream(port: gone.port) { _, connection in
      try connection.send(RawUpstream.response(body: "back"))
    }
    defer { back.stop() }
    try poll("the address to be used again") { try gateway.client.get("/").text == "back" ? () : nil }
    try poll("health to tell") {
      try gateway.admin.get("/healthz").text.contains("\"name\":\"upstream\",\"status\":\"ok\"") ? () : nil
    }
  }

  @Test("With every address gone the answer is 502, and the first that is back serves")
  func allGone() throws {
    let upstreams = try [Self.named("one"), Self.named("two")]
    for upstream in upstreams { upstream.stop() }
    let gateway = try gateway(upstreams)
    defer { gateway.stop() }
    for _ in 0..<10 { #expect(try gateway.client.get("/").status == 502) }
    let back = try RawUpstream(port: upstreams[1].port)
    defer { back.stop() }
    // All are ejected; so all are tried.
    let answers = try (0..<10).map { _ in try gateway.client.get("/").status }
    #expect(answers.allSatisfy { $0 == 200 })
  }

  // MARK: Routes

  @Test("A route's requests go to the upstream that it names; the prefix as it is written decides")
  func routes() throws {
    let (application, reports) = try (Self.named("application"), Self.named("reports"))
    let gateway = try gateway(
      [application],
      ending: """
        [[upstreams]]
        name = "reports"
        url = "http://127.0.0.1:\(reports.port)"
        [[route]]
        path = "/"
        access = "public"
        [[route]]
        path = "/reports/"
        access = "public"
        upstream = "reports"
        [[route]]
        path = "/reports/secret/"
        access = "signed-in"
        upstream = "reports"
        """)
    defer { gateway.stop() }
    for (path, expected) in [
      ("/", "application"), ("/reports/a", "reports"), ("/reports", "application"), ("/REPORTS/a", "application"),
      ("/x/reports/", "application"), ("/reports/?a=/", "reports"),
    ] {
      #expect(try gateway.client.get(path).text == expected, "\(path)")
    }
    let secret = try gateway.client.get("/reports/secret/a", fields: [("Sec-Fetch-Mode", "cors")])
    #expect(secret.status == 401)
    #expect(!reports.requests.contains { $0.target.hasPrefix("/reports/secret/") })
    try poll("health to tell") {
      let health = try gateway.admin.get("/healthz").text
      return health.contains("{\"name\":\"upstream reports\",\"status\":\"ok\"") ? () : nil
    }
  }

  @Test("An upstream that never answers, and one that takes no connection, hold up no other")
  func stuck() throws {
    let application = try Self.named("application")
    let silent = try RawUpstream(connections: { connection, _ in _ = try connection.readToEnd(by: .seconds(60)) })
    let gateway = try gateway(
      [application],
      ending: """
        [[upstreams]]
        name = "silent"
        url = "http://127.0.0.1:\(silent.port)"
        [[upstreams]]
        name = "away"
        url = "http://192.0.2.1:80"
        [[upstreams]]
        name = "nameless"
        url = "http://no-such-host.invalid"
        [[route]]
        path = "/"
        access = "public"
        [[route]]
        path = "/silent/"
        access = "public"
        upstream = "silent"
        [[route]]
        path = "/away/"
        access = "public"
        upstream = "away"
        [[route]]
        path = "/nameless/"
        access = "public"
        upstream = "nameless"
        """)
    defer { gateway.stop() }
    let host = gateway.client.authority
    let waiting = try (0..<30).map { number in
      let connection = try gateway.connect()
      try connection.send("GET /\(["silent", "away", "nameless"][number % 3])/ HTTP/1.1\r\nHost: \(host)\r\n\r\n")
      return connection
    }
    defer { for connection in waiting { connection.close() } }
    try poll("requests to be stuck") { silent.connectionCount == 10 ? () : nil }
    for _ in 0..<20 { #expect(try gateway.client.get("/").text == "application") }
    #expect(waiting.enumerated().allSatisfy { $0.offset % 3 != 0 || $0.element.received.isEmpty })
  }

  @Test("Timeouts and idle connections of one application are its own, and those of [upstream] hold for the others")
  func ownTimeouts() throws {
    let (application, once) = try (Self.named("application"), Self.named("once"))
    let silent = try RawUpstream(connections: { connection, _ in _ = try connection.readToEnd(by: .seconds(60)) })
    let gateway = try gateway(
      [application],
      ending: """
        [[upstreams]]
        name = "once"
        url = "http://127.0.0.1:\(once.port)"
        idle_connections = 0
        [[upstreams]]
        name = "silent"
        url = "http://127.0.0.1:\(silent.port)"
        [upstreams.timeouts]
        first_byte = "500ms"
        [[route]]
        path = "/"
        access = "public"
        [[route]]
        path = "/once/"
        access = "public"
        upstream = "once"
        [[route]]
        path = "/silent/"
        access = "public"
        upstream = "silent"
        """)
    defer { gateway.stop() }
    #expect(try gateway.client.get("/silent/").status == 504)
    let expected: [(String, RawUpstream, [String])] = [("/", application, []), ("/once/", once, ["close"])]
    for (path, upstream, connection) in expected {
      #expect(try gateway.client.get(path).status == 200)
      #expect(try upstream.waitForRequest().fields[all: "Connection"] == connection, "\(path)")
    }
  }

  // MARK: Checks

  @Test("Nothing asks the application unless it is configured")
  func noChecks() throws {
    let upstream = try Self.named("application")
    let gateway = try gateway([upstream])
    defer { gateway.stop() }
    try poll("health to be told") { try gateway.admin.get("/healthz").text.contains("\"upstream\"") ? () : nil }
    #expect(try gateway.client.get("/.auth/session").status == 401)
    #expect(upstream.connectionCount == 0)
  }

  @Test("An address that fails its checks gets no requests, and gets them again when it passes")
  func checks() throws {
    let isWell = Watched(false)
    let (first, second) = try (
      Self.named("first"),
      RawUpstream { request, connection in
        let fails = request.target == "/health?full=1" && !isWell.current
        try connection.send(RawUpstream.response(fails ? "503 Service Unavailable" : "200 OK", body: "second"))
      }
    )
    let gateway = try gateway([first, second]) { configuration in
      configuration["upstream.check", "path"] = "\"/health?full=1\""
      configuration["upstream.check", "interval"] = "\"100ms\""
      // The first one passes its checks on a machine that is busy, too.
      configuration["upstream.check", "timeout"] = "\"30s\""
    }
    defer { gateway.stop() }
    try poll("the checks to be told") {
      let text = "1 of 2 unhealthy: http://127.0.0.1:\(second.port) fails its checks (status 503)"
      return try gateway.admin.get("/healthz").text.contains(text) ? () : nil
    }
    #expect(try gateway.admin.get("/readyz").status == 200)
    for _ in 0..<30 { #expect(try gateway.client.get("/").text == "first") }
    let check = try second.waitForRequest { $0.target == "/health?full=1" }
    #expect(check.method == "GET" && check.fields["Host"] == gateway.client.authority)
    isWell.update { $0 = true }
    try poll("requests to come again") { try gateway.client.get("/").text == "second" ? () : nil }
  }

  @Test("An address that does not answer its checks is reported with the reason")
  func unansweredChecks() throws {
    let upstream = try RawUpstream { _, connection in connection.reset() }
    let gateway = try gateway([upstream]) { configuration in
      configuration["upstream.check", "path"] = "\"/health\""
      configuration["upstream.check", "interval"] = "\"100ms\""
    }
    defer { gateway.stop() }
    try poll("the checks to be told") {
      let text = "1 of 1 unhealthy: http://127.0.0.1:\(upstream.port) fails its checks ("
      return try gateway.admin.get("/healthz").text.contains(text) ? () : nil
    }
  }

  // MARK: What is sent twice, and what never is

  /// Answers the first request of each connection, and ends the connection upon the second without a word.
  private static func stale() throws -> RawUpstream {
    let seen = Watched<Set<Int>>([])
    return try RawUpstream { request, connection in
      if seen.update({ $0.insert(request.connection).inserted }) {
        try connection.send(RawUpstream.response(body: "\(request.method) \(request.connection)"))
      } else {
        connection.reset()
      }
    }
  }

  @Test("A GET on a kept connection that ends is sent again on a fresh one; with a body it is not")
  func staleGet() throws {
    let upstream = try Self.stale()
    let gateway = try gateway([upstream])
    defer { gateway.stop() }
    #expect(try gateway.client.get("/").text == "GET 0")
    #expect(try gateway.client.get("/again").text == "GET 1")
    #expect(upstream.requests.map(\.target) == ["/", "/again", "/again"])
    #expect(try gateway.client.send("PUT", "/", body: Array("abc".utf8)).status == 502)
    #expect(upstream.requests.count == 4)
  }

  @Test("A POST is never sent twice, on no connection and to no address", arguments: ["", "abc"])
  func postOnce(_ body: String) throws {
    let (one, other) = try (Self.stale(), Self.stale())
    let gateway = try gateway([one, other])
    defer { gateway.stop() }
    func received() -> Int { one.requests.count + other.requests.count }
    var statuses: [Int] = []
    for number in 1...20 {
      statuses.append(try gateway.client.send("POST", "/", body: Array(body.utf8)).status)
      #expect(received() == number)
    }
    #expect(Set(statuses) == [200, 502])
    // And where the upstream ends a fresh connection upon receipt.
    let closing = try RawUpstream { _, connection in connection.close() }
    let second = try self.gateway([closing])
    defer { second.stop() }
    for number in 1...3 {
      #expect(try second.client.send("POST", "/", body: Array(body.utf8)).status == 502)
      #expect(closing.requests.count == number)
    }
  }

  @Test("Surplus bytes after a response end that connection, reach no client, and cost none its own")
  func surplus() throws {
    let upstream = try RawUpstream { request, connection in
      try connection.send(RawUpstream.response(body: "honest") + RawUpstream.response(body: "evil"))
    }
    let gateway = try gateway([upstream])
    defer { gateway.stop() }
    let client = try gateway.connect()
    for number in 1...5 {
      try client.send("GET / HTTP/1.1\r\nHost: \(gateway.client.authority)\r\n\r\n")
      #expect(try HTTPResponse.read(from: client).text == "honest")
      #expect(upstream.connectionCount == number)
    }
    #expect(client.received.isEmpty)
  }

  @Test("An empty line that a server sends behind each body costs no request that comes before it on that connection")
  func emptyLineBehindBody() throws {
    let upstream = try RawUpstream { request, connection in
      // The line of the response before: it arrives when the next request is under way.
      switch request.target {
      case "/first": break
      case "/pieces":
        try connection.send("\r")
        Thread.sleep(forTimeInterval: 0.05)
        try connection.send("\n\r\n")
        Thread.sleep(forTimeInterval: 0.05)
        try connection.send("\r\nHTTP/1.1 100 Continue\r\n\r\n\r\n")
      default: try connection.send("\r\n")
      }
      try connection.send(RawUpstream.response(body: "\(request.method) \(request.target)"))
    }
    let gateway = try gateway([upstream]) { $0.acceptHTTP2() }
    defer { gateway.stop() }
    for path in ["/first", "/second", "/pieces", "/third"] {
      #expect(try gateway.client.get(path).text == "GET \(path)")
    }
    #expect(try gateway.client.send("POST", "/", body: Array("abc".utf8)).text == "POST /")
    #expect(upstream.connectionCount == 1)
    #expect(try HTTP2Client(gateway).get("/pieces").body == "GET /pieces")
  }

  @Test("A server that sends an empty line in place of a response is asked once more for a GET, on a fresh connection")
  func emptyLineWithoutResponse() throws {
    let upstream = try RawUpstream { request, connection in
      if request.connection == 0, request.target == "/again" {
        try connection.send("\r\n")
        connection.close()
      } else {
        try connection.send(RawUpstream.response(body: "\(request.connection)"))
      }
    }
    let gateway = try gateway([upstream])
    defer { gateway.stop() }
    #expect(try gateway.client.get("/").text == "0")
    #expect(try gateway.client.get("/again").text == "1")
  }

  @Test("Other bytes before a response are refused")
  func bytesBeforeResponse() throws {
    let bytes = ["\n", "\r", "\rX", "\r\n\n", "\r\n\r", " \r\n", "\r\n \r\n", "\r\n0\r\n\r\n"]
    let upstream = try RawUpstream { request, connection in
      let number = Int(request.target.dropFirst()) ?? 0
      try connection.send(bytes[number] + RawUpstream.response(body: "evil"))
    }
    let gateway = try gateway([upstream])
    defer { gateway.stop() }
    for number in bytes.indices { #expect(try gateway.client.get("/\(number)").status == 502, "\(number)") }
  }

  @Test("A host's name is found, and what it names is reached")
  func name() throws {
    let upstream = try Self.named("application")
    let gateway = try gateway([]) { configuration in
      configuration["upstream", "urls"] = nil
      configuration["upstream", "url"] = "\"http://localhost:\(upstream.port)\""
    }
    defer { gateway.stop() }
    #expect(try gateway.client.get("/").text == "application")
  }

  @Test("A name that has come to mean another address is followed while the gateway runs")
  func nameThatMoves() throws {
    let upstream = try Self.named("application")
    let folder = try TemporaryDirectory()
    let hosts = try folder.write("127.0.0.9 app.test\n127.0.0.1 localhost\n", to: "hosts")
    let gateway = try gateway([], wrapper: .hosts(hosts)) { configuration in
      configuration["upstream", "urls"] = nil
      configuration["upstream", "url"] = "\"http://app.test:\(upstream.port)\""
    }
    defer { gateway.stop() }
    #expect(try gateway.client.get("/").status == 502)
    // Into the same file: another one in its place would not be seen by whoever has it mounted.
    let file = try FileHandle(forWritingTo: URL(filePath: hosts))
    try file.write(contentsOf: Data("127.0.0.1 app.test\n".utf8))
    try file.truncate(atOffset: UInt64("127.0.0.1 app.test\n".utf8.count))
    try poll("the name to be looked up again") { try gateway.client.get("/").text == "application" ? () : nil }
  }
}
