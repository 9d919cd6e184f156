import Foundation
import PostgreSQLServerTesting
import TemporaryDirectoryTesting
import Testing

// Several hosts at one gateway, and at several gateways on one database.
//
// - Each request is judged by its own authority, also on one HTTP/2 connection; others get 421.
// - A form or a WebSocket of a sibling host is refused.
// - A session that ends on one host ends on all, on every replica, with what is open of it.
// - A one-time code is used once over all replicas. A reload adds hosts and takes them away.

@SystemActor
@Suite("Several hosts", .serialized)
struct HostTests {
  private static let names = ["wiki", "tickets"]

  private func site(adjust: (inout GatewayConfiguration) -> Void = { _ in }) throws -> Site {
    try Site(upstream: EchoingApplication.answer) {
      $0["pages", "show_sign_in_page"] = "false"
      $0["admin", "token_file"] = "\"admin.token\""
      try? $0.addHosts(Self.names)
      adjust(&$0)
    }
  }

  /// A WebSocket on a host, open.
  private func socket(_ gateway: GatewayProcess, _ authority: String, cookie: String) throws -> TCPConnection {
    let connection = try gateway.connect()
    try connection.openWebSocket(authority, fields: ["Origin: http://\(authority)", "Cookie: \(cookie)"])
    return connection
  }

  /// Somebody who is signed in on all hosts.
  private func visitor(_ site: Site, as user: String = "anna") throws -> Visitor {
    let visitor = try site.signedIn(as: user)
    for name in Self.names { try visitor.open(site.origin(of: name) + "/") }
    return visitor
  }

  @Test("Signing out on one host ends the session on all, with the WebSockets of the others")
  func signOut() throws {
    let site = try site()
    defer { site.stop() }
    for leaving in [nil] + Self.names.map(Optional.some) {
      let anna = try visitor(site)
      let cookies = try Self.names.map { try anna.session(on: $0) }
      let sockets = try zip(Self.names, cookies).map {
        try socket(site.gateway, site.client(of: $0).authority, cookie: $1)
      }
      let origin = leaving.map { site.origin(of: $0) } ?? site.origin
      let response = try anna.fetch(origin + "/.auth/sign-out", method: "POST", fields: [("Origin", origin)])
      #expect(response.status == 204 && response.setCookies.contains { $0.hasPrefix("__Host-cordon=;") })
      for (name, cookie) in zip(Self.names, cookies) {
        let status = try site.client(of: name).get("/.auth/session", fields: [("Cookie", cookie)]).status
        #expect(status == 401, "\(name) after leaving \(origin)")
      }
      for socket in sockets { try socket.waitForClose() }
    }
  }

  @Test("A ban ends the session on all hosts")
  func ban() throws {
    let site = try site()
    defer { site.stop() }
    let ben = try visitor(site, as: "ben")
    let cookies = try Self.names.map { try ben.session(on: $0) }
    let open = try zip(Self.names, cookies).map { try socket(site.gateway, site.client(of: $0).authority, cookie: $1) }
    try site.gateway.order("PUT", try site.ban(of: "ben"))
    for (name, cookie) in zip(Self.names, cookies) {
      #expect(try site.client(of: name).get("/", fields: [("Cookie", cookie)]).status != 200)
    }
    for socket in open { try socket.waitForClose() }
  }

  @Test("A form, a sign-out and a WebSocket of a sibling host are refused")
  func siblings() throws {
    let site = try site()
    defer { site.stop() }
    let anna = try visitor(site)
    let cookie = try anna.session(on: "wiki")
    for origin in [site.origin, site.origin(of: "tickets"), "http://evil.example"] {
      let response = try site.client(of: "wiki").post(
        "/.auth/sign-out", form: [], fields: [("Origin", origin), ("Cookie", cookie)])
      #expect(response.status == 403, "\(origin)")
      let connection = try site.gateway.connect()
      try connection.askForWebSocket(
        site.client(of: "wiki").authority, fields: ["Origin: \(origin)", "Cookie: \(cookie)"])
      #expect(try HTTPResponse.read(from: connection).status == 403, "\(origin)")
    }
    #expect(try site.client(of: "wiki").get("/.auth/session", fields: [("Cookie", cookie)]).status == 200)
  }

  @Test("Accounts are at public_url, signing in is, too, and what a host does not have is 404")
  func endpoints() throws {
    let site = try site()
    defer { site.stop() }
    let client = site.client(of: "wiki")
    for name in ["account", "people", "invite/abc"] {
      let response = try client.get("/.auth/\(name)?a=b")
      #expect(response.status == 302 && response.location == site.own("\(name)?a=b"))
    }
    for name in ["authorize", "callback", "native", "native/exchange", "notifications", "keys"] {
      #expect(try client.get("/.auth/\(name)").status == 404, "\(name)")
    }
    #expect(try site.gateway.client.get("/.auth/arrive?code=x").status == 404)
    let page = try client.get("/.auth/sign-out", fields: [("Accept", "text/html")])
    #expect(page.status == 200 && page.text.contains("wiki.localhost"))
  }

  @Test("Each request of an HTTP/2 connection is judged by its own authority; one for an unknown host gets 421")
  func coalescing() throws {
    let site = try site {
      $0.acceptHTTP2()
      $0.ending += "[[route]]\nhost = \"*\"\npath = \"/public/\"\naccess = \"public\"\n"
    }
    defer { site.stop() }
    let port = site.gateway.configuration.port
    let names = ["localhost:\(port)", "wiki.localhost:\(port)", "other.localhost:\(port)", "tickets.localhost:\(port)"]
    let answers = try HTTP2Client(site.gateway).run(
      ["authorities", "/public/x"] + names, as: [HTTP2Client.Answer].self)
    #expect(answers.map(\.status) == ["200", "200", "421", "200"])
    for (name, answer) in zip(names, answers) where answer.status == "200" {
      #expect(answer.body.contains("Host: \(name)"))
    }
  }

  @Test("A page of the gateway names the host that was asked, also if its application does not answer")
  func pages() throws {
    let site = try site { configuration in
      configuration.ending += "[[route]]\nhost = \"*\"\npath = \"/public/\"\naccess = \"public\"\n"
    }
    defer { site.stop() }
    let page = [("Accept", "text/html")]
    #expect(try site.client(of: "wiki").get("/.auth/nothing", fields: page).text.contains("<bdi>wiki.localhost"))
    site.upstream.stop()
    let failed = try site.client(of: "tickets").get("/public/x", fields: page)
    #expect(failed.status == 502 && failed.text.contains("<bdi>tickets.localhost"))
  }

  @Test("A reload that takes a host away closes what is open there, and leaves the session on the others")
  func reload() throws {
    let site = try site()
    defer { site.stop() }
    let anna = try visitor(site)
    let sockets = try Self.names.map {
      try socket(site.gateway, site.client(of: $0).authority, cookie: try anna.session(on: $0))
    }
    let wiki = try anna.session(on: "wiki")
    func reload(_ names: [String]) throws {
      var configuration = site.gateway.configuration
      configuration.ending = ""
      try configuration.addHosts(names)
      _ = try configuration.install(in: site.gateway.directory)
      site.gateway.process.signal(SIGHUP)
    }
    func status(_ name: String, _ cookie: String) throws -> Int {
      try site.client(of: name).get("/", fields: [("Cookie", cookie)]).status
    }
    try reload(["tickets"])
    try poll("the host to be gone") { try status("wiki", wiki) == 421 ? () : nil }
    try sockets[0].waitForClose()
    try sockets[1].send("still here")
    #expect(try sockets[1].read(count: 10) == Array("still here".utf8))
    // Another order: the numbers of hosts are not what their cookies are told apart by.
    try reload(["new", "tickets", "wiki"])
    try poll("the host to be back") { try status("wiki", wiki) == 200 ? () : nil }
    #expect(try status("tickets", wiki) != 200 && status("new", wiki) != 200)
    #expect(try status("tickets", try anna.session(on: "tickets")) == 200)
  }

  @Test("On every replica a code works once, and a session that ends on one host is over on all within two seconds")
  func replicas() throws {
    let cluster = try Cluster(upstream: EchoingApplication.answer) {
      $0["pages", "show_sign_in_page"] = "false"
      try? $0.addHosts(Self.names)
    }
    defer { cluster.stop() }
    let site = cluster.site
    func ask(_ name: String, _ target: String, _ cookie: String, at replica: Int) throws -> HTTPResponse {
      let client = HTTPClient(
        port: cluster.gateways[replica].configuration.port, authority: site.client(of: name).authority)
      return try client.get(target, fields: [("Cookie", cookie)])
    }

    let anna = try site.signedIn()
    let code = try WebAddress(try site.code(for: anna, on: "wiki", returnTo: "/x"))
    let visit = try #require(try anna.cookieHeader(for: site.origin(of: "wiki") + "/"))
    #expect(try ask("wiki", code.target, visit, at: 1).status == 303)
    for replica in 0..<3 { #expect(try ask("wiki", code.target, visit, at: replica).status == 400) }

    var seconds: [Double] = []
    for round in 0..<3 {
      // The visit begins on one replica, continues on the next, and arrives at the third.
      let visitor = try site.signedIn()
      for name in Self.names {
        cluster.lead(visitor, to: round)
        try visitor.open(site.own("sign-in?return_to=/", on: name), following: false)
        cluster.lead(visitor, to: (round + 1) % 3)
        try visitor.followOnce()
        cluster.lead(visitor, to: (round + 2) % 3)
        #expect(try visitor.followOnce().status == 303)
      }
      let cookies = try Self.names.map { try visitor.session(on: $0) }
      let sockets = try (0..<3).flatMap { replica in
        try zip(Self.names, cookies).map {
          try socket(cluster.gateways[replica], site.client(of: $0).authority, cookie: $1)
        }
      }
      cluster.lead(visitor, to: round)
      let origin = site.origin(of: "tickets")
      #expect(
        try visitor.fetch(origin + "/.auth/sign-out", method: "POST", fields: [("Origin", origin)]).status == 204)
      let ended = Date()
      for replica in 0..<3 {
        for (name, cookie) in zip(Self.names, cookies) {
          try poll("gateway \(replica) to refuse the cookie of \(name)") {
            try ask(name, "/.auth/session", cookie, at: replica).status == 401 ? () : nil
          }
        }
      }
      for socket in sockets { try socket.waitForClose() }
      seconds.append(Date().timeIntervalSince(ended))
    }
    // A machine that is busy may hold one of the rounds up, not all of them.
    #expect(try #require(seconds.min()) < 2, "\(seconds)")
  }
}
