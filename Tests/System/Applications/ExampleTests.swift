import Foundation
import PostgreSQLServerTesting
import Testing

// Every folder of examples/, started as it stands there: one signs in, and reaches what is behind.
//
// - In front of a Python application, a PHP one, a static site, a chat.
// - Asked by nginx, Caddy, HAProxy and Apache: strangers are sent to sign in, users come through with their headers,
//   forged ones do not, and the gateway's rules hold.
// - Three applications on three hosts: one sign-in, a cookie for each, one end.
// - Three gateways behind HAProxy: a session made at one is a session at all, and one that ends ends at all. Neither an
//   outage of PostgreSQL nor a gateway that is killed fails a request.
// - What the page about the local Apple has one type works as it is printed. (verify-assertion is in AssertionTests.)

@SystemActor
@Suite("The examples")
struct ExampleTests {
  @Test("Every folder of examples/ is tried")
  func everyFolder() throws {
    let folders = try FileManager.default.contentsOfDirectory(
      atPath: Machine.packageRoot.appending(path: "examples").path
    ).filter { !$0.contains(".") }
    let tests = try [
      "Applications/ExampleTests", "Forwarding/AssertionTests", "Applications/ApplicationTests",
      "Applications/ProxyApplicationTests", "Applications/WikiApplicationTests", "Applications/ServletApplicationTests",
      "Applications/GradioApplicationTests", "Applications/SeveralApplicationTests",
    ].map {
      try String(contentsOf: Machine.packageRoot.appending(path: "Tests/System/\($0).swift"), encoding: .utf8)
    }.joined()
    #expect(folders.count > 8)
    #expect(folders.filter { !tests.contains("\"\($0)\"") && !tests.contains("examples/\($0)/") } == [])
  }

  @Test("The Python time sheet greets a signed-in user by name, and shows its hours to everybody")
  func wsgi() throws {
    let example = try Example("legacy-wsgi")
    defer { example.stop() }
    try example.start(
      Machine.program("python3", package: "python3"), ["app.py", "\(example.port(3_000))"], listeningOn: 3_000)
    try example.startGateway()
    #expect(try Visitor().open(example.origin + "/public/").text.contains("pening hours"))
    let (_, page) = try example.signedIn(as: "eleni")
    #expect(page.status == 200)
    #expect(page.text.contains("Ελένη"), "\(page.text)")
  }

  @Test("The commands on the page about the local Apple work as they are printed")
  func simulator() throws {
    let apple = try SimulatorProcess(redirectURI: "http://localhost:8080/.auth/callback")
    defer { apple.stop() }
    let page = try String(
      contentsOf: Machine.packageRoot.appending(path: "examples/apple-simulator/README.md"), encoding: .utf8)
    let blocks = page.components(separatedBy: "```").filter { $0.hasPrefix("sh\nAPPLE=") }
    let script = try #require(blocks.first).dropFirst(3).replacing("http://127.0.0.1:8090", with: apple.baseURL)
      .replacing("curl ", with: "curl --fail-with-body --silent --show-error ")
    let run = try ServerProcess.run(Machine.program("bash", package: "bash"), ["-e", "-c", String(script)])
    #expect(run.exit == .code(0), "\(run.standardOutput)\(run.standardError)")
    #expect(script.split(separator: "\n").count { $0.hasPrefix("curl ") } > 5)
  }

  @Test("The PHP notice board greets a signed-in user by name, and shows its rules to everybody")
  func php() throws {
    let example = try Example("legacy-php")
    defer { example.stop() }
    try example.start(
      Machine.program("php", package: "php-cli"), ["-S", "127.0.0.1:\(example.port(3_000))", "index.php"],
      listeningOn: 3_000)
    try example.startGateway()
    #expect(try Visitor().open(example.origin + "/public/").text.contains("House rules"))
    let (_, page) = try example.signedIn(as: "eleni")
    #expect(page.status == 200)
    #expect(page.text.contains("Hello, Ελένη"), "\(page.text)")
  }

  @Test("A static site is for those who are signed in, and its public folder for everybody")
  func staticSite() throws {
    let example = try Example("static-site")
    defer { example.stop() }
    try example.start(
      Machine.program("python3", package: "python3"),
      ["-m", "http.server", "--bind", "127.0.0.1", "--directory", "site", "\(example.port(3_000))"],
      listeningOn: 3_000)
    try example.startGateway()
    #expect(try Visitor().open(example.origin + "/public/").text.contains("Becoming a member"))
    let (_, page) = try example.signedIn()
    #expect(page.text.contains("The water is turned on"))
  }

  @Test("The chat knows who speaks, and its sockets close when the session ends")
  func chat() throws {
    let example = try Example("websocket-chat")
    defer { example.stop() }
    try example.start(
      Machine.program("python3", package: "python3"), ["chat.py", "\(example.port(3_000))"], listeningOn: 3_000)
    try example.startGateway()
    let (visitor, page) = try example.signedIn()
    #expect(page.text.contains("Night shift chat"))

    let socket = try chatSocket(example, visitor)
    let response = try visitor.fetch(
      example.origin + "/.auth/sign-out", method: "POST", fields: [("Origin", example.origin)])
    #expect([200, 204, 303].contains(response.status))
    #expect(throws: Never.self) { try socket.readToEnd() }
  }

  /// A WebSocket of the chat, which has greeted the visitor.
  private func chatSocket(_ example: Example, _ visitor: Visitor) throws -> TCPConnection {
    let socket = try TCPConnection(port: example.port(8_080))
    let cookie = try visitor.cookieHeader(for: example.origin + "/") ?? ""
    try socket.openWebSocket(
      "localhost:\(example.port(8_080))", fields: ["Origin: \(example.origin)", "Cookie: \(cookie)"])
    // A text frame whose first bytes are its length and "Anna Apple is here."
    let greeting = try socket.read(count: 2)
    #expect(greeting[0] == 0x81)
    let text = String(decoding: try socket.read(count: Int(greeting[1])), as: UTF8.self)
    #expect(text.hasPrefix("Anna") && text.hasSuffix("is here."), "\(text)")
    return socket
  }

  /// Programs that ask the gateway about each request, by the folders of their examples.
  nonisolated private static let askingProxies = [
    "behind-nginx": ("nginx", "nginx-light", ["-p", ".", "-c", "nginx.conf"]),
    "behind-caddy": ("caddy", "caddy", ["run", "--adapter", "caddyfile", "--config", "Caddyfile"]),
    "behind-haproxy": ("haproxy", "haproxy", ["-f", "haproxy.cfg"]),
    "behind-apache": ("apache2", "apache2-bin", ["-d", ".", "-f", "apache.conf", "-D", "FOREGROUND"]),
  ]

  @Test("nginx, Caddy, HAProxy and Apache ask the gateway about each request", arguments: askingProxies.keys.sorted())
  func askingProxies(name: String) throws {
    let example = try Example(name)
    defer { example.stop() }
    try AskingProxy.startServers(of: example)
    let (program, package, arguments) = try #require(Self.askingProxies[name])
    // Apache serves as another user than root, who must reach its script.
    if name == "behind-apache" {
      for (path, mode) in [(example.path, 0o755), ("\(example.path)/cordon.lua", 0o644)] {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
      }
    }
    try example.start(
      Machine.program(program, package: package), arguments.map { $0 == "." ? example.path : $0 }, listeningOn: 8_080,
      environment: ["HOME": example.path])

    try AskingProxy.check(example, hidesSession: true)

    // Of an absolute URL as target the path counts, except in Apache, which refuses it.
    let host = "localhost:\(example.port(8_080))"
    for (path, status) in [("/public/headers", 200), ("/office/", 401)] {
      let connection = try TCPConnection(port: example.port(8_080))
      try connection.send("GET http://\(host)\(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
      let response = try HTTPResponse.read(from: connection)
      #expect(response.status == (name == "behind-apache" ? 400 : status), "\(path)")
    }

    // A user whom the gateway refuses sees its own page, and a script gets its JSON.
    let (refused, _) = try example.signedIn(as: "anna", at: "/headers")
    let page = try refused.open(example.origin + "/office/")
    #expect(page.status == 403 && page.text.contains("Ask for access"), "\(page.text)")
    let answer = try refused.fetch(example.origin + "/office/", fields: [("Accept", "application/json")])
    #expect(answer.status == 403 && answer.text.contains("\"error\":\"forbidden\""), "\(answer.text)")
  }

  @Test(
    "A proxy waits for verify for longer than the ten seconds for which the gateway may wait for Apple or the store",
    arguments: [
      ("examples/behind-apache/cordon.lua", "http.TIMEOUT = ", 1),
      ("examples/behind-haproxy/cordon.lua", "timeout = ", 1_000),
      ("examples/behind-envoy/envoy.yaml", "cluster: gateway, timeout: ", 1),
      ("deploy/kubernetes/examples/envoy-gateway-verify.yaml", "    timeout: ", 1),
    ])
  func patience(file: String, setting: String, unit: Int) throws {
    let text = try String(contentsOf: Machine.packageRoot.appending(path: file), encoding: .utf8)
    let rest = try #require(text.components(separatedBy: setting).dropFirst().first)
    let number = try #require(Int(rest.prefix { $0.isNumber }))
    #expect(number > 10 * unit)
  }

  @Test("nginx that asks the gateway passes WebSockets, large bodies, long addresses and renewed cookies on")
  func nginxForwarding() throws {
    let example = try Example("behind-nginx")
    defer { example.stop() }
    let chat = Machine.packageRoot.appending(path: "examples/websocket-chat/chat.py").path
    try example.start(
      Machine.program("python3", package: "python3"), [chat, "\(example.port(3_000))"], listeningOn: 3_000)
    let gateway = try example.startGateway(listeningOn: 8_081)
    // nginx keeps large bodies in files, and its workers serve as another user than root.
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: example.path)
    try example.start(
      Machine.program("nginx", package: "nginx-light"), ["-p", example.path, "-c", "nginx.conf"], listeningOn: 8_080)

    let (visitor, _) = try example.signedIn()
    let socket = try chatSocket(example, visitor)
    defer { socket.close() }
    // Refused by the gateway for want of a session, not by nginx for its size.
    let body = String(repeating: "x", count: 2_000_000)
    #expect(try Visitor().fetch(example.origin + "/", method: "POST", form: body).status == 401)
    // The header of the redirect to sign in is longer than nginx's default buffer, 4 KiB.
    let address = example.origin + "/?" + String(repeating: "&f=%2C", count: 336)
    #expect(try Visitor().open(address, following: false).status == 302)

    let keygen = try ServerProcess.run(
      Machine.binary("cordon"), ["keygen", "--output", "new.key"], directory: example.path)
    #expect(keygen.exit == .code(0), "\(keygen.standardError)")
    #expect(try visitor.fetch(example.origin + "/").fields["Set-Cookie"] == nil)
    try example.change("gateway.conf") { $0.replacing("[\"session.key\"]", with: "[\"new.key\", \"session.key\"]") }
    gateway.signal(SIGHUP)
    let renewed = try poll("the cookie to be renewed") { try visitor.fetch(example.origin + "/").fields["Set-Cookie"] }
    #expect(renewed.hasPrefix("__Host-cordon="))

    // Of a subrequest that fails nginx makes a 500; this is the answer of the gateway's address instead.
    gateway.stop()
    #expect(try visitor.fetch(example.origin + "/").status == 502)
  }

  @Test("nginx asks about the host whose application it forwards to, also where an absolute target names another")
  func absoluteTarget() throws {
    let example = try Example("behind-nginx")
    defer { example.stop() }
    let wiki = "wiki.localhost:\(example.port(8_080))"
    try example.change("gateway.conf") {
      $0 + """

        [[host]]
        name = "\(wiki)"

        [[route]]
        host = "\(wiki)"
        path = "/headers"
        access = "public"
        """
    }
    try AskingProxy.startServers(of: example)
    try example.start(
      Machine.program("nginx", package: "nginx-light"), ["-p", example.path, "-c", "nginx.conf"], listeningOn: 8_080)
    let own = "localhost:\(example.port(8_080))"
    for (path, host, status) in [("/public/headers", own, 200), ("/headers", own, 401), ("/headers", wiki, 401)] {
      let connection = try TCPConnection(port: example.port(8_080))
      try connection.send("GET http://\(own)\(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
      #expect(try HTTPResponse.read(from: connection).status == status, "\(path) \(host)")
    }
  }

  @Test("Three applications on three hosts have one sign-in, each its own cookie, and one end")
  func severalHosts() throws {
    let example = try Example("several-hosts")
    defer { example.stop() }
    let app = Machine.packageRoot.appending(path: "examples/legacy-wsgi/app.py").path
    for port in [3_000, 3_001, 3_002] as [UInt16] {
      try example.start(
        Machine.program("python3", package: "python3"), [app, "\(example.port(port))"], listeningOn: port)
    }
    try example.startGateway()
    let hosts = ["localhost", "wiki.localhost", "tickets.localhost"].map { "http://\($0):\(example.port(8_080))" }
    for host in hosts { #expect(try Visitor().open(host + "/public/").text.contains("pening hours"), "\(host)") }

    // Signed in once, on the first; the others are reached without a page of Apple's or ours.
    let (visitor, _) = try example.signedIn(as: "anna")
    for host in hosts.dropFirst() {
      let page = try visitor.open(host + "/headers?a=1&b=%26")
      #expect(page.address.description == host + "/headers?a=1&b=%26", "\(page.address)")
      #expect(page.text.contains("X-Forwarded-Name: Anna"), "\(page.text)")
    }
    let cookies = try hosts.map { try #require(try visitor.cookieHeader(for: $0 + "/")) }
    #expect(Set(cookies).count == 3)
    // The cookie of one host is worth nothing on another.
    for (cookie, host) in zip(cookies, hosts) {
      for other in hosts {
        let client = HTTPClient(port: example.port(8_080), authority: String(other.dropFirst("http://".utf8.count)))
        let status = try client.get("/.auth/session", fields: [("Cookie", cookie)]).status
        #expect(status == (other == host ? 200 : 401), "\(host) at \(other)")
      }
    }
    #expect(try visitor.fetch(hosts[2] + "/office/").status == 403)
    #expect(try visitor.fetch(hosts[1] + "/office/").status != 403)

    let signOut = try visitor.fetch(hosts[1] + "/.auth/sign-out", method: "POST", fields: [("Origin", hosts[1])])
    #expect([200, 204, 303].contains(signOut.status))
    for (cookie, host) in zip(cookies, hosts) {
      let client = HTTPClient(port: example.port(8_080), authority: String(host.dropFirst("http://".utf8.count)))
      #expect(try client.get("/.auth/session", fields: [("Cookie", cookie)]).status == 401, "\(host)")
    }
  }

  @Test("No configuration that we ship puts a decoded path into a redirect")
  func decodedPaths() throws {
    for folder in ["examples", "deploy", "Documentation"] {
      let root = Machine.packageRoot.appending(path: folder)
      let files = try #require(FileManager.default.enumerator(atPath: root.path))
      for case let file as String in files {
        guard let text = try? String(contentsOf: root.appending(path: file), encoding: .utf8) else { continue }
        #expect(!text.contains(/return 30\d[^\n]*\$(uri|document_uri|request_uri)/), "\(folder)/\(file)")
        #expect(!text.contains(/redir [^\n]*return_to=\{/), "\(folder)/\(file)")
      }
    }
  }

  @Test("Behind HAProxy a session of one gateway is one of all three, and so is its end")
  func threeGateways() throws {
    let server = try PostgreSQLServer()
    let example = try Example("three-gateways")
    defer { example.stop() }
    let app = Machine.packageRoot.appending(path: "examples/legacy-wsgi/app.py").path
    try example.start(
      Machine.program("python3", package: "python3"), [app, "\(example.port(3_000))"], listeningOn: 3_000)
    let database = try server.makeDatabase()
    var gateways: [ServerProcess] = []
    for (written, admin) in [(8_081, 9_901), (8_082, 9_902), (8_083, 9_903)] as [(UInt16, UInt16)] {
      gateways.append(
        try example.startGateway(
          listeningOn: written,
          environment: [
            "PORT": "\(example.port(written))", "ADMIN_PORT": "\(example.port(admin))", "DATABASE_URL": database,
          ]))
    }
    try example.start(
      Machine.program("haproxy", package: "haproxy"), ["-f", "haproxy.cfg"], listeningOn: 8_080)
    try poll("HAProxy to find its gateways") {
      (try? HTTPClient(port: example.port(8_080)).get("/.auth/session"))?.status == 421 ? () : nil
    }

    let (visitor, page) = try example.signedIn()
    #expect(page.text.contains("Anna"))
    // One after another, so each gateway is asked at least twice.
    for _ in 0..<6 { #expect(try visitor.fetch(example.origin + "/.auth/session").status == 200) }

    let cookie = try visitor.cookieHeader(for: example.origin + "/") ?? ""
    let load = SteadyLoad(port: example.port(8_080), target: "/", fields: [("Cookie", cookie)])
    try load.waitForMore(50)
    try server.stop()
    for admin in [9_901, 9_902, 9_903] as [UInt16] {
      try poll("the gateway at \(admin) to notice") {
        let health = try HTTPClient(port: example.port(admin)).get("/healthz").text
        return health.contains("\"name\":\"store\",\"status\":\"failing\"") ? () : nil
      }
    }
    // More than the two checks after which HAProxy would take a gateway out.
    try load.waitForMore(300)
    #expect(load.complaints + load.cutOff == [])
    try server.start()
    try load.waitForMore(50)
    #expect(load.complaints + load.cutOff == [])
    gateways[0].stop()
    try load.waitForMore(200)
    try load.stop()
    // A request that the killed gateway had not answered goes to another one. Nobody can do that for the responses that
    // it was sending, at most one for each client.
    #expect(load.complaints == [])
    #expect(load.cutOff.count <= 4, "\(load.cutOff)")

    let signOut = try visitor.fetch(
      example.origin + "/.auth/sign-out", method: "POST", fields: [("Origin", example.origin)])
    #expect([200, 204, 303].contains(signOut.status))
    for written in [8_082, 8_083] as [UInt16] {
      var client = HTTPClient(port: example.port(written))
      client.authority = "localhost:\(example.port(8_080))"
      try poll("the gateway at \(written) to hear of it") {
        try client.get("/.auth/session", fields: [("Cookie", cookie)]).status == 401 ? () : nil
      }
    }
  }
}
