import Foundation
import PostgreSQLServerTesting
import Testing

// Access on three gateways with one PostgreSQL database.
//
// - Whatever takes access away on one gateway holds on all within two seconds, for requests, WebSockets and streams:
//   a ban, a denied group, a removal from a group, ended sessions, "stop using", a revoked token. With NOTIFY, and by
//   polling alone. What gives it back holds on all, too.
// - A user who asks for access at all gateways at once gets one code, and is admitted once.
// - A guest who presses Join at all gateways at once uses one place of an invitation, which a kill does not give back.

@SystemActor
@Suite("Access on several gateways", .serialized)
struct AccessReplicaTests {
  private static let replicas = 0..<3
  /// A Close frame with status 1008, "policy violation" (RFC 6455, 7.4.1).
  private static let forbidden: [UInt8] = [0x88, 0x02, 0x03, 0xF0]
  /// A frame of a client, masked with zeroes.
  private static let frame: [UInt8] = [0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]

  private static func adjust(_ configuration: inout GatewayConfiguration) {
    configuration["admin", "token_file"] = "\"admin.token\""
    configuration["access", "allow_groups"] = #"["staff", "machines"]"#
    configuration["access", "deny_groups"] = #"["blocked"]"#
    configuration["access", "tokens"] = "true"
    configuration.ending = ["staff", "machines", "blocked"].map { "[[group]]\nname = \"\($0)\"\n" }.joined()
  }

  /// An act that takes access away.
  private enum Act: CaseIterable {
    case ban, denial, removal, endedSessions, stopUsing, revokedToken
  }

  /// A user or a machine, with a WebSocket and a stream at each gateway.
  private struct Client {
    let credential: (String, String)
    var sockets: [TCPConnection] = []
    var streams: [TCPConnection] = []
  }

  private func connect(_ visitor: Visitor, _ cluster: Cluster) throws -> Client {
    let cookie = try #require(try visitor.cookieHeader(for: cluster.site.origin + "/"))
    return try connect(("Cookie", cookie), cluster)
  }

  private func connect(_ credential: (String, String), _ cluster: Cluster) throws -> Client {
    var client = Client(credential: credential)
    let fields = ["Origin: \(cluster.site.origin)", "\(credential.0): \(credential.1)"]
    for gateway in cluster.gateways {
      let (socket, stream) = (try gateway.connect(), try gateway.connect())
      try socket.openWebSocket(cluster.authority, fields: fields)
      // A whole frame, so that a Close frame may follow.
      try socket.send(Self.frame)
      _ = try socket.read(count: Self.frame.count)
      let request = ["GET /events HTTP/1.1", "Host: \(cluster.authority)"] + fields
      try stream.send(request.joined(separator: "\r\n") + "\r\n\r\n")
      _ = try stream.read(through: "data: first\n\n")
      client.sockets.append(socket)
      client.streams.append(stream)
    }
    return client
  }

  /// Carries out an act on one gateway against a client that is connected to all of them.
  ///
  /// - Returns: the client, and what gives it back the access that it had, if anything does.
  private func carryOut(
    _ act: Act, on gateway: GatewayProcess, of cluster: Cluster
  ) throws -> (client: Client, undo: (() throws -> Void)?) {
    let site = cluster.site
    if act == .revokedToken {
      let made = try site.gateway.admin.send(
        "POST", "/tokens", fields: [("Authorization", "Bearer \(GatewayConfiguration.adminToken)")],
        body: Array(#"{"name":"backup","group":"machines"}"#.utf8))
      let token = try #require(made.text.firstMatch(of: /cdn_[A-Za-z0-9_-]{43}/)?.output, "\(made.text)")
      let machine = try connect(("Authorization", "Bearer \(token)"), cluster)
      try gateway.order("DELETE", "/tokens/backup")
      return (machine, nil)
    }
    let (member, denied) = (try site.member("ben", of: "staff"), try site.member("ben", of: "blocked"))
    try site.gateway.order("PUT", member)
    let ben = try site.signedIn(as: "ben")
    let client = try connect(ben, cluster)
    switch act {
    case .ban: try gateway.order("PUT", site.ban(of: "ben"))
    case .endedSessions: try gateway.order("DELETE", "/accounts/\(site.apple.subject(of: "ben"))/sessions")
    case .stopUsing:
      ben.detours[site.gateway.configuration.port] = gateway.configuration.port
      let page = try ben.open(site.own("account/stop"))
      let form = try #require(page.forms.first { $0.inputs.contains { $0.0 == "stop" } }, "\(page.text)")
      #expect(try ben.submit(form).text.contains("You have stopped using"))
    case .denial:
      try gateway.order("PUT", denied)
      return (client, { try site.gateway.order("DELETE", denied) })
    case .removal:
      try gateway.order("DELETE", member)
      return (client, { try site.gateway.order("PUT", member) })
    case .revokedToken: break
    }
    return (client, nil)
  }

  /// Waits until every gateway answers a client with one of these, and returns how many seconds that took.
  private func seconds(until client: Client, gets statuses: [Int], at cluster: Cluster) throws -> Double {
    let began = Date()
    for replica in Self.replicas {
      try poll("gateway \(replica) to answer \(statuses)") {
        let status = try cluster.client(of: replica).get("/x", fields: [client.credential]).status
        return statuses.contains(status) ? () : nil
      }
    }
    return Date().timeIntervalSince(began)
  }

  @Test(
    "Access that is taken away on one gateway ends on all three within two seconds, with what is open",
    arguments: [true, false])
  func takenAway(notifies: Bool) throws {
    let cluster = try Cluster(upstream: StreamingApplication.answer) {
      Self.adjust(&$0)
      $0["store", "notify"] = "\(notifies)"
    }
    defer { cluster.stop() }
    let site = cluster.site
    try site.gateway.order("PUT", site.member("anna", of: "staff"))
    let anna = try connect(try site.signedIn(as: "anna"), cluster)
    for act in Act.allCases {
      var (ends, returns): ([Double], [Double]) = ([], [])
      for gateway in cluster.gateways {
        let (client, undo) = try carryOut(act, on: gateway, of: cluster)
        let began = Date()
        for socket in client.sockets { #expect(try socket.read(count: 4) == Self.forbidden, "\(act)") }
        for stream in client.streams {
          #expect(try !String(decoding: stream.readToEnd(), as: UTF8.self).hasSuffix("0\r\n\r\n"), "\(act)")
        }
        _ = try seconds(until: client, gets: [401, 403], at: cluster)
        ends.append(Date().timeIntervalSince(began))
        if act == .ban {
          #expect(try Visitor().signIn(site, as: "ben").text.contains("Your account is blocked"))
          try cluster.gateways[1].order("DELETE", site.ban(of: "ben"))
        }
        if let undo {
          try undo()
          returns.append(try seconds(until: client, gets: [200], at: cluster))
        }
      }
      // Two seconds; a machine that is busy may hold one of the rounds up, not all of them.
      #expect(try #require(ends.min()) < 2, "\(act) \(ends)")
      #expect(returns.isEmpty || returns.contains { $0 < 2 }, "\(act) \(returns)")
    }
    for socket in anna.sockets {
      try socket.send(Self.frame)
      #expect(try socket.read(count: Self.frame.count) == Self.frame, "what others lose is nothing to her")
    }
    _ = try seconds(until: anna, gets: [200], at: cluster)
  }

  /// Sends a POST from the gateway's own page to all gateways, `times` to each, all at the same moment.
  private func race(_ path: String, of visitor: Visitor, _ cluster: Cluster, times: Int) throws -> [HTTPResponse] {
    let cookie = try #require(try visitor.cookieHeader(for: cluster.site.origin + path))
    let connections = try (0..<3 * times).map { try cluster.gateways[$0 % 3].connect() }
    let lines = [
      "POST \(path) HTTP/1.1", "Host: \(cluster.authority)", "Origin: \(cluster.site.origin)", "Cookie: \(cookie)",
      "Accept: text/html", "Content-Length: 0", "Connection: close",
    ]
    for connection in connections { try connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n") }
    return try connections.map { try HTTPResponse.read(from: $0, method: "POST") }
  }

  @Test("A user who asks for access at all gateways at once gets one code, and is admitted on all")
  func asked() throws {
    let cluster = try Cluster(adjust: AccessSite.adjust)
    defer { cluster.stop() }
    let site = cluster.site
    let ben = try site.signedIn(as: "ben")
    let answers = try race("/.auth/request-access", of: ben, cluster, times: 4)
    let codes = Set(answers.map { site.code(in: $0.text) })
    #expect(answers.allSatisfy { $0.status == 200 } && codes.count == 1, "\(answers.map(\.status)) \(codes)")
    let code = try #require(codes.compactMap { $0 }.first)
    #expect(try cluster.server.query("SELECT count(*) FROM cordon.access_requests", at: cluster.storeURL) == "1")
    // Admitted at the second gateway by its people page, and let in by the third.
    let anna = try site.signedIn()
    cluster.lead(anna, to: 1)
    let people = try anna.open(site.own("people"))
    #expect(try anna.submit(try people.form("admit", "code", code).filling(["group": "guests"])).status == 200)
    for replica in Self.replicas {
      cluster.lead(ben, to: replica)
      try poll("gateway \(replica) to admit") { try ben.fetch(site.origin + "/").status != 403 ? () : nil }
    }
    cluster.lead(ben, to: 2)
    #expect(try ben.signIn(site, as: "ben").status == 200)
    #expect(try cluster.server.query("SELECT count(*) FROM cordon.access_requests", at: cluster.storeURL) == "0")
  }

  @Test("A guest who presses Join at all gateways at once uses one place, which a kill does not give back")
  func joined() throws {
    let cluster = try Cluster(adjust: AccessSite.adjust)
    defer { cluster.stop() }
    let site = cluster.site
    let link = try site.invite(try site.signedIn(), uses: 5)
    let ben = try site.signedIn(as: "ben")
    let answers = try race(try WebAddress(link).path, of: ben, cluster, times: 4)
    #expect(answers.allSatisfy { $0.status == 200 }, "\(answers.map(\.status))")
    for gateway in cluster.gateways { try gateway.killAndRestart() }
    #expect(try race(try WebAddress(link).path, of: ben, cluster, times: 1).allSatisfy { $0.status == 200 })
    #expect(try cluster.server.query("SELECT used FROM cordon.invitations", at: cluster.storeURL) == "1")
    for replica in Self.replicas {
      cluster.lead(ben, to: replica)
      #expect(try ben.fetch(site.origin + "/").status != 403)
    }
  }
}
