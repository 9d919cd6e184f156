import Foundation
import PostgreSQLServerTesting
import Testing

// Several hosts at three gateways on one database.
//
// - A code that arrives at all gateways at the same moment signs in at one of them. One that was used stays used when
//   its gateway is killed at once.
// - A ban ends the session on all hosts of all gateways within two seconds, with what is open.

@SystemActor
@Suite("Several hosts at several gateways", .serialized)
struct HostReplicaTests {
  private static let replicas = 0..<3
  private static let names = ["wiki", "tickets"]

  private func cluster() throws -> Cluster {
    try Cluster(upstream: EchoingApplication.answer) {
      $0["pages", "show_sign_in_page"] = "false"
      $0["admin", "token_file"] = "\"admin.token\""
      try? $0.addHosts(Self.names)
    }
  }

  /// The lines of a navigation to a one-time code, with the cookie of its visit.
  private func arrival(_ code: String, _ visitor: Visitor) throws -> String {
    let cookie = try #require(try visitor.cookieHeader(for: code))
    let address = try WebAddress(code)
    return [
      "GET \(address.target) HTTP/1.1", "Host: \(address.host):\(address.port)", "Cookie: \(cookie)",
      "Accept: text/html", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document", "Sec-Fetch-Site: cross-site",
      "Connection: close",
    ].joined(separator: "\r\n") + "\r\n\r\n"
  }

  private func isSignedIn(_ response: HTTPResponse) -> Bool {
    response.setCookies.contains { $0.hasPrefix("__Host-cordon=") && !$0.hasPrefix("__Host-cordon=;") }
  }

  @Test("A code that arrives at three gateways at the same moment signs in at exactly one of them")
  func race() throws {
    let cluster = try cluster()
    defer { cluster.stop() }
    let anna = try cluster.site.signedIn()
    for round in 0..<10 {
      let code = try cluster.site.code(for: anna, on: Self.names[round % 2], returnTo: "/x")
      let request = try arrival(code, anna)
      let connections = try (0..<6).map { try cluster.gateways[($0 + round) % 3].connect() }
      for connection in connections { try connection.send(request) }
      let answers = try connections.map { try HTTPResponse.read(from: $0) }
      let statuses = answers.map(\.status)
      #expect(statuses.count { $0 == 303 } == 1 && statuses.count { $0 == 400 } == 5, "\(statuses)")
      #expect(answers.count { isSignedIn($0) } == 1)
    }
  }

  @Test("A code that was used at a gateway which is killed at once is refused by all")
  func killed() throws {
    let cluster = try cluster()
    defer { cluster.stop() }
    let anna = try cluster.site.signedIn()
    let request = try arrival(try cluster.site.code(for: anna, on: "wiki"), anna)
    func answer(at replica: Int) throws -> HTTPResponse {
      let connection = try cluster.gateways[replica].connect()
      try connection.send(request)
      return try HTTPResponse.read(from: connection)
    }
    #expect(isSignedIn(try answer(at: 1)))
    try cluster.gateways[1].killAndRestart()
    for replica in Self.replicas {
      let again = try answer(at: replica)
      #expect(again.status == 400 && !isSignedIn(again), "gateway \(replica)")
    }
  }

  @Test("A ban at one gateway ends the session on all hosts of all gateways within two seconds")
  func ban() throws {
    let cluster = try cluster()
    defer { cluster.stop() }
    let site = cluster.site
    var seconds: [Double] = []
    for round in Self.replicas {
      let ben = try site.signedIn(as: "ben")
      for name in Self.names { try ben.open(site.origin(of: name) + "/") }
      let cookies = try Self.names.map { ($0, try ben.session(on: $0)) }
      var sockets: [TCPConnection] = []
      for (name, cookie) in cookies {
        for gateway in cluster.gateways {
          let socket = try gateway.connect()
          let authority = site.client(of: name).authority
          try socket.openWebSocket(authority, fields: ["Origin: http://\(authority)", "Cookie: \(cookie)"])
          sockets.append(socket)
        }
      }
      try cluster.gateways[round].order("PUT", site.ban(of: "ben"))
      let began = Date()
      for socket in sockets { try socket.waitForClose() }
      for (name, cookie) in cookies {
        for gateway in cluster.gateways {
          let client = HTTPClient(port: gateway.configuration.port, authority: site.client(of: name).authority)
          try poll("the cookie of \(name) to be refused") {
            try client.get("/.auth/session", fields: [("Cookie", cookie)]).status == 401 ? () : nil
          }
        }
      }
      seconds.append(Date().timeIntervalSince(began))
      try site.gateway.order("DELETE", site.ban(of: "ben"))
    }
    // A machine that is busy may hold one of the rounds up, not all of them.
    #expect(try #require(seconds.min()) < 2, "\(seconds)")
  }
}
