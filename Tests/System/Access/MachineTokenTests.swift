import Foundation
import TemporaryDirectoryTesting
import Testing

// Programs without a browser: machine tokens, from the store to the application.
//
// - A token passes where its group is admitted, as bearer token and as password of HTTP Basic; the application sees its
//   name and never the token.
// - Nothing else passes: no wrong form, no unknown token, no route without `tokens = true`, no cookie beside it.
// - Revoked, it ends within two seconds on every gateway, and its streams and WebSockets with it.
// - `verify` and `GET session` judge it; a 401 says how to authenticate; no token is in a log.

@SystemActor
@Suite("Machine tokens", .serialized)
struct MachineTokenTests {
  private static let routes = """
    [[group]]
    name = "machines"

    [[group]]
    name = "staff"

    [[route]]
    path = "/api/"
    tokens = true
    allow_groups = ["staff", "machines"]

    [[route]]
    path = "/socket"
    tokens = true
    allow_groups = ["machines"]

    [[route]]
    path = "/events"
    tokens = true
    allow_groups = ["machines"]

    [[route]]
    path = "/staff/"
    tokens = true
    allow_groups = ["staff"]

    [[route]]
    path = "/public/"
    access = "public"

    """

  private static func adjust(_ configuration: inout GatewayConfiguration) {
    configuration["admin", "token_file"] = "\"admin.token\""
    configuration["identity.headers", "X-Forwarded-User"] = "\"sub\""
    configuration["identity.headers", "X-Groups"] = "\"groups\""
    configuration["log", "access"] = "true"
    configuration["log", "format"] = "\"json\""
    configuration.ending = routes
  }

  private func site() throws -> Site { try Site(upstream: StreamingApplication.answer, adjust: Self.adjust) }

  /// Another process writes to the store of a gateway.
  private func write(_ site: Site, _ command: String, _ names: String...) throws -> String {
    var store = try #require(site.gateway.configuration["store", "url"]).filter { $0 != "\"" }
    if store.hasPrefix("sqlite:") { store = "\(site.gateway.directory.path)/\(store.dropFirst(7))" }
    let result = try ServerProcess.run(Machine.binary("store-writer"), [command, store] + names)
    guard result.exit == .code(0) else { throw HarnessError.malformed("\(command): \(result)") }
    return result.standardOutput
  }

  private func token(_ site: Site, name: String = "backup", group: String = "machines") throws -> String {
    let said = try write(site, "token", name, group)
    return String(try #require(said.firstMatch(of: /cdn_[A-Za-z0-9_-]{43}/)?.output))
  }

  private func bearer(_ token: String) -> [(String, String)] { [("Authorization", "Bearer \(token)")] }

  private func basic(_ token: String, user: String = "token") -> [(String, String)] {
    [("Authorization", "Basic " + Data("\(user):\(token)".utf8).base64EncodedString())]
  }

  private func socket(
    of token: String, _ gateway: GatewayProcess, _ authority: String, fields: [String] = []
  ) throws -> (connection: TCPConnection, status: String) {
    let connection = try gateway.connect()
    try connection.askForWebSocket(authority, fields: fields + ["Authorization: Bearer \(token)"])
    return (connection, try MessageHead(connection.read(through: "\r\n\r\n")).startLine)
  }

  @Test("A token passes as bearer token and as password, and the application sees its name, its group, and no token")
  func admitted() throws {
    let site = try site()
    defer { site.stop() }
    let token = try token(site)
    for credential in [bearer(token), basic(token), [("authorization", "bEARER \(token)")]] {
      site.upstream.forget()
      let forged = [("X-Forwarded-User", "admin"), ("X-Groups", "staff")]
      let response = try site.gateway.client.get("/api/orders", fields: credential + forged)
      #expect(response.status == 200, "\(credential)")
      #expect(response.setCookies == [])
      let request = try #require(site.upstream.requests.last)
      #expect(request.fields[all: "X-Forwarded-User"] == ["token:backup"])
      #expect(!request.fields[all: "X-Groups"].contains("staff"))
      #expect(!request.fields.contains("Authorization") && !request.headText.contains("cdn_"), "\(request.headText)")
      #expect(!request.fields.contains("X-Forwarded-Email") && !request.fields.contains("X-Forwarded-Name"))
    }
    let log = String(decoding: site.gateway.log, as: UTF8.self)
    #expect(!log.contains(token) && !log.contains(String(token.dropFirst(4))))
    let metrics = try site.gateway.admin.get("/metrics").text
    #expect(metrics.contains(#"cordon_token_requests_total{outcome="admitted"} 3"#))
  }

  @Test("A token that is unknown, malformed or sent twice is refused without a redirect, also beside a good cookie")
  func refused() throws {
    let site = try site()
    defer { site.stop() }
    let token = try token(site)
    let cookie = [("Cookie", try #require(try site.signedIn().cookieHeader(for: site.origin + "/")))]
    #expect(try site.gateway.client.get("/other", fields: cookie).status == 200)
    let wrong = [
      bearer(token + "A"), bearer(String(token.dropLast())), bearer("cdn_"), bearer(token.uppercased()),
      bearer("cdn_" + String(repeating: "A", count: 43)), bearer("cdn_" + String(repeating: "A", count: 8_000)),
      bearer("\"\(token)\""), bearer(token) + bearer(token), bearer(token) + [("Authorization", "Basic YTpi")],
      basic(token + ":"), basic(":" + token), basic(token, user: "Token"), basic(token, user: ""), basic("cdn_"),
      [("Authorization", "Basic " + String(Data("token:\(token)".utf8).base64EncodedString().dropLast(3)))],
      [("Authorization", "Token \(token)")], [("Authorization", token)],
    ]
    site.upstream.forget()
    for fields in wrong {
      let response = try site.gateway.client.get("/api/x", fields: fields + cookie + [("Accept", "text/html")])
      #expect([401, 403].contains(response.status), "\(fields)")
      if fields.first?.1 != "Bearer \(token.uppercased())" { #expect(response.status == 401, "\(fields)") }
      #expect(response.location == nil)
    }
    for (path, status) in [("/staff/x", 403), ("/other", 401)] {
      #expect(try site.gateway.client.get(path, fields: bearer(token) + cookie).status == status, "\(path)")
    }
    #expect(site.upstream.requests.isEmpty, "\(site.upstream.requests.map(\.headText))")
    // On a public route it is nobody.
    #expect(try site.gateway.client.get("/public/x", fields: bearer(token) + cookie).status == 200)
    let request = try #require(site.upstream.requests.last)
    #expect(!request.headText.contains("cdn_") && !request.fields.contains("X-Forwarded-User"))
    #expect(try site.gateway.client.get("/api/x", fields: bearer(token)).status == 200, "the good one still passes")
  }

  @Test("A 401 names Bearer, and Basic where tokens are accepted, but not to browsers; browsers are sent to sign in")
  func challenge() throws {
    let site = try site()
    defer { site.stop() }
    let basic = "Basic realm=\"\(site.gateway.client.authority)\""
    for (path, fields, expected) in [
      ("/api/x", [("Accept", "*/*")], ["Bearer", basic]), ("/api/x", [], ["Bearer", basic]),
      ("/api/x", [("Sec-Fetch-Mode", "cors")], ["Bearer"]), ("/other", [("Sec-Fetch-Mode", "cors")], ["Bearer"]),
      ("/.auth/session", [], ["Bearer"]),
    ] as [(String, [(String, String)], [String])] {
      let response = try site.gateway.client.get(path, fields: fields)
      #expect(response.status == 401 && response.fields[all: "WWW-Authenticate"] == expected, "\(path) \(fields)")
    }
    #expect(try site.gateway.client.get("/api/x", fields: [("Accept", "text/html")]).status == 302)
  }

  @Test("verify and GET session judge a token by itself")
  func verify() throws {
    let site = try Site(adjust: {
      Self.adjust(&$0)
      $0["listen", "trusted_proxies"] = "[\"127.0.0.0/8\"]"
    })
    defer { site.stop() }
    let token = try token(site)
    func verify(_ path: String, _ credential: [(String, String)]) throws -> HTTPResponse {
      try site.gateway.client.get("/.auth/verify", fields: [("X-Original-URI", path)] + credential)
    }
    let passed = try verify("/api/x", bearer(token))
    #expect(passed.status == 200 && passed.fields["X-Forwarded-User"] == "token:backup")
    #expect(try verify("/staff/x", bearer(token)).status == 403)
    #expect(try verify("/other", bearer(token)).status == 401)
    #expect(try verify("/api/x", bearer("cdn_x")).status == 401)
    let open = try verify("/public/x", bearer(token))
    #expect(open.status == 200 && !open.fields.contains("X-Forwarded-User"))
    let session = try site.gateway.client.get("/.auth/session", fields: bearer(token))
    let described = try session.json()
    #expect(described["sub"] as? String == "token:backup" && described["groups"] as? [String] == ["machines"])
    #expect(try site.gateway.client.get("/.auth/session", fields: bearer("cdn_x")).status == 401)
  }

  @Test("Revoking ends a token, its stream and its WebSocket within two seconds, and frees its name")
  func revoked() throws {
    let site = try site()
    defer { site.stop() }
    let (token, other) = (try token(site), try token(site, name: "other"))
    let authority = site.gateway.client.authority
    let (socket, status) = try socket(of: token, site.gateway, authority)
    #expect(status.hasPrefix("HTTP/1.1 101"))
    let (staying, _) = try self.socket(of: other, site.gateway, authority)
    let foreign = try self.socket(of: other, site.gateway, authority, fields: ["Origin: https://evil.example"])
    #expect(foreign.status.hasPrefix("HTTP/1.1 403"))
    let events = try site.gateway.connect()
    try events.send("GET /events HTTP/1.1\r\nHost: \(authority)\r\nAuthorization: Bearer \(token)\r\n\r\n")
    _ = try events.read(through: "data: first\n\n")
    _ = try write(site, "revoke", "backup")
    let revoked = ContinuousClock.now
    #expect(try socket.readToEnd() == [0x88, 0x02, 0x03, 0xF0])
    #expect(try !String(decoding: events.readToEnd(), as: UTF8.self).hasSuffix("0\r\n\r\n"))
    #expect(try site.gateway.client.get("/api/x", fields: bearer(token)).status == 401)
    // Two seconds, and what a busy machine adds.
    #expect(ContinuousClock.now - revoked < .seconds(20))
    let data: [UInt8] = [0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]
    try staying.send(data)
    #expect(try staying.read(count: data.count) == data)
    let next = try self.token(site)
    #expect(next != token)
    #expect(try site.gateway.client.get("/api/x", fields: bearer(next)).status == 200)
    #expect(try site.gateway.client.get("/api/x", fields: bearer(token)).status == 401)
  }

  @Test("A token outlives a restart and the session secrets, and holds on every gateway of its database")
  func everywhere() throws {
    let cluster = try Cluster(2, upstream: StreamingApplication.answer, adjust: Self.adjust)
    defer { cluster.stop() }
    let token = try token(cluster.site)
    for replica in 0..<2 { #expect(try cluster.client(of: replica).get("/api/x", fields: bearer(token)).status == 200) }
    let (socket, status) = try socket(of: token, cluster.gateways[1], cluster.authority)
    #expect(status.hasPrefix("HTTP/1.1 101"))
    try cluster.site.gateway.directory.write("another secret of sessions, long enough\n", to: "session.key")
    try cluster.site.gateway.restart()
    #expect(try cluster.client(of: 0).get("/api/x", fields: bearer(token)).status == 200)
    _ = try write(cluster.site, "revoke", "backup")
    let revoked = ContinuousClock.now
    #expect(try socket.readToEnd() == [0x88, 0x02, 0x03, 0xF0])
    try poll("the other gateway to refuse the token") {
      try cluster.client(of: 1).get("/api/x", fields: bearer(token)).status == 401 ? () : nil
    }
    // Two seconds, and what a busy machine adds.
    #expect(ContinuousClock.now - revoked < .seconds(20))
  }
}
