import Foundation
import PostgreSQLServerTesting
import TemporaryDirectoryTesting
import Testing

// A gateway that is started while its store is away.
//
// - PostgreSQL stopped: /livez answers at once, public routes are served, sign-in and signed-in requests get 503 with
//   Retry-After, /readyz says why; when the server is back, everybody is signed in and others sign in, without a
//   restart.
// - A server that accepts connections and never answers: the same, and SIGTERM ends it.
// - What does not pass by itself ends the process with 78 and the remedy.

@SystemActor
@Suite("A start without the store")
struct StoreAwayAtStartTests {
  @Test("A gateway started while PostgreSQL is stopped serves public routes, and everything once the server is back")
  func stopped() throws {
    let server = try PostgreSQLServer()
    let url = try server.makeDatabase()
    let site = try Site(adjust: {
      $0["store", "url"] = "\"\(url)\""
      $0.ending = "[[route]]\npath = \"/open/\"\naccess = \"public\"\n"
    })
    defer { site.stop() }
    let anna = try site.signedIn()
    try server.stop()
    try site.gateway.restart(until: "/livez")
    for visitor in [anna, Visitor()] {
      #expect(try visitor.fetch("\(site.origin)/open/page").status == 200)
      for path in ["sign-in", "authorize"] {
        let refused = try visitor.fetch(site.own(path), fields: [("Accept", "text/html")])
        #expect(refused.status == 503 && refused.fields["Retry-After"] != nil, "\(path) \(refused)")
      }
    }
    let refused = try anna.fetch("\(site.origin)/app")
    #expect(refused.status == 503 && refused.fields["Retry-After"] != nil)
    #expect(try anna.fetch(site.own("session")).status == 503)
    let ready = try poll("the reason in /readyz") { () throws -> HTTPResponse? in
      let ready = try site.gateway.admin.get("/readyz")
      #expect(ready.status == 503)
      return ready.text.contains("cannot be reached") ? ready : nil
    }
    #expect(ready.text.contains("\"store\"") && !ready.text.contains(PostgreSQLServer.password), "\(ready.text)")
    #expect(try site.gateway.admin.get("/livez").status == 200)
    let asked = try ServerProcess.run(Machine.binary("cordon"), ["ready", "--config", site.gateway.file])
    #expect(asked.exit == .code(1) && asked.standardError.contains("cannot be reached"), "\(asked)")
    try site.gateway.waitForLog("cordon is listening, without its session store")
    try site.gateway.waitForLog("session store cannot be opened, retrying")
    try server.start()
    try poll("/readyz to answer 200") { try site.gateway.admin.get("/readyz").status == 200 ? () : nil }
    try poll("the session to be let in") { try site.application(anna) == 200 ? () : nil }
    let ben = try site.signedIn(as: "ben")
    #expect(try site.application(ben) == 200)
    try site.gateway.waitForLog("cordon is ready", count: 2)
    #expect(site.gateway.process.isRunning)
  }

  @Test("A secret that was missing at a start without the store, and is added by a reload, opens the store")
  func missingSecret() throws {
    let server = try PostgreSQLServer()
    let url = try server.makeDatabase()
    let site = try Site(adjust: { $0["store", "url"] = "\"\(url)\"" })
    defer { site.stop() }
    let anna = try site.signedIn()
    try server.stop()
    try site.gateway.directory.write("the other secret, long enough to be one\n", to: "new.key")
    var configuration = site.gateway.configuration
    configuration["session", "secret_files"] = "[\"new.key\"]"
    try site.gateway.restart(with: configuration, until: "/livez")
    try site.gateway.waitForLog("session store cannot be opened, retrying")
    configuration["session", "secret_files"] = "[\"new.key\", \"session.key\"]"
    _ = try configuration.install(in: site.gateway.directory)
    site.gateway.process.signal(SIGHUP)
    try site.gateway.waitForLog("configuration reloaded")
    try server.start()
    try poll("the session to be let in") { try site.application(anna) == 200 ? () : nil }
    #expect(site.gateway.process.isRunning)
  }

  @Test("A gateway whose database accepts connections and never answers serves public routes, and ends on SIGTERM")
  func silent() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let port = try FreePort.take()
    // Connections are established by the kernel and wait in the queue.
    let silent = try HeldSocket(port: port)
    defer { withExtendedLifetime(silent) {} }
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:\(upstream.port)")
    configuration["store", "url"] = "\"postgresql://cordon@127.0.0.1:\(port)/cordon\""
    configuration.ending = "[[route]]\npath = \"/open/\"\naccess = \"public\"\n"
    let directory = try TemporaryDirectory()
    let file = try configuration.install(in: directory)
    let gateway = try ServerProcess(Machine.binary("cordon"), ["run", "--config", file], directory: directory.path)
    defer { gateway.stop() }
    let admin = HTTPClient(port: configuration.adminPort)
    try gateway.waitUntilReady("GET /livez answers 200") { try admin.get("/livez").status == 200 }
    #expect(try admin.get("/readyz").status == 503)
    let client = HTTPClient(port: configuration.port, host: GatewayConfiguration.host)
    #expect(try client.get("/open/page").status == 200)
    try poll("the reason in /readyz") { try admin.get("/readyz").text.contains("does not answer") ? () : nil }
    #expect(gateway.isRunning)
    gateway.signal(SIGTERM)
    #expect(try gateway.waitForExit() == .code(0))
  }

  @Test("A reload that is asked for during the start is carried out")
  func reloadDuringStart() throws {
    let port = try FreePort.take()
    // Its silence makes the start take a second.
    let silent = try HeldSocket(port: port)
    defer { withExtendedLifetime(silent) {} }
    var configuration = try GatewayConfiguration()
    configuration["store", "url"] = "\"postgresql://cordon@127.0.0.1:\(port)/cordon\""
    let directory = try TemporaryDirectory()
    let file = try configuration.install(in: directory)
    let gateway = try ServerProcess(Machine.binary("cordon"), ["run", "--config", file], directory: directory.path)
    defer { gateway.stop() }
    try poll("SIGHUP to be handled") {
      let status = try String(contentsOfFile: "/proc/\(gateway.pid)/status", encoding: .utf8)
      // The signals that are caught, as a hexadecimal mask (proc(5)).
      let caught = try #require(status.firstMatch(of: /SigCgt:\s+([0-9a-f]+)/)).1
      return try #require(UInt64(caught, radix: 16)) & 1 << UInt64(SIGHUP - 1) != 0 ? () : nil
    }
    gateway.signal(SIGHUP)
    _ = try gateway.waitForLine(containing: "configuration reloaded")
  }

  /// A store that will not open until somebody changes something.
  enum Obstacle: String, CaseIterable, Sendable {
    case wrongPassword, missingDatabase, unreadableAddress, missingFolder

    func url(_ server: PostgreSQLServer, _ directory: TemporaryDirectory) throws -> String {
      switch self {
      case .wrongPassword: server.url(of: try Self.name(of: server.makeDatabase()), password: "wrong")
      case .missingDatabase: server.url(of: "nowhere")
      case .unreadableAddress: "postgresql://cordon@127.0.0.1:\(server.port)/cordon?no_such_parameter=1"
      case .missingFolder: "sqlite:\(directory.path)/nowhere/cordon.db"
      }
    }

    private static func name(of url: String) -> String { String(url.split(separator: "/").last ?? "") }

    /// A part of the message.
    var remedy: String {
      switch self {
      case .wrongPassword: "look at user and password of store.url"
      case .missingDatabase: "CREATE DATABASE"
      case .unreadableAddress: "not an address that libpq can read"
      case .missingFolder: "install -d"
      }
    }
  }

  @Test(
    "An obstacle that does not pass by itself ends the process with 78 and the remedy", arguments: Obstacle.allCases)
  func final(_ obstacle: Obstacle) throws {
    let server = try PostgreSQLServer()
    let directory = try TemporaryDirectory()
    var configuration = try GatewayConfiguration()
    configuration["store", "url"] = "\"\(try obstacle.url(server, directory))\""
    let file = try configuration.install(in: directory)
    let ended = try ServerProcess.run(Machine.binary("cordon"), ["run", "--config", file], directory: directory.path)
    #expect(ended.exit == .code(78), "\(ended)")
    #expect(ended.standardError.contains(obstacle.remedy), "\(ended.standardError)")
  }

  @Test("A wrong password that shows only when the server is back ends the running process with 78")
  func finalLater() throws {
    let server = try PostgreSQLServer()
    let name = try #require(try server.makeDatabase().split(separator: "/").last.map(String.init))
    try server.stop()
    var configuration = try GatewayConfiguration()
    configuration["store", "url"] = "\"\(server.url(of: name, password: "wrong"))\""
    let directory = try TemporaryDirectory()
    let file = try configuration.install(in: directory)
    let gateway = try ServerProcess(Machine.binary("cordon"), ["run", "--config", file], directory: directory.path)
    defer { gateway.stop() }
    try gateway.waitForLine(containing: "session store cannot be opened, retrying")
    try server.start()
    #expect(try gateway.waitForExit() == .code(78))
  }
}
