import Foundation
import TemporaryDirectoryTesting
import Testing

// Health, metrics, and the life of the process.
//
// - It gets ready while Apple cannot be reached; health, metrics and status answer without a token and name nobody.
//   (Without its store: StoreAwayAtStartTests.)
// - SIGTERM: not ready, what is in flight finishes, exit 0. SIGINT too.
// - The store's file is its owner's; a second start on a port that is taken fails and says so.

@SystemActor
@Suite("Health, metrics and life cycle")
struct LifecycleTests {
  @Test("The gateway gets ready while Apple is unreachable, and says so in its health")
  func withoutApple() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    var configuration = try GatewayConfiguration(
      upstream: "http://127.0.0.1:\(upstream.port)", apple: "http://127.0.0.1:\(try FreePort.take())")
    configuration.ending = "[[route]]\npath = \"/public/\"\naccess = \"public\"\n"
    let gateway = try GatewayProcess(configuration)
    defer { gateway.stop() }
    #expect(try gateway.admin.get("/livez").status == 200)
    #expect(try gateway.admin.get("/readyz").status == 200)
    #expect(try gateway.client.get("/public/").status == 200)
    let health = try gateway.admin.get("/healthz")
    #expect([200, 503].contains(health.status))
    #expect(try !health.json().isEmpty)
    // Signing in leads to Apple all the same: the browser may reach it.
    #expect(try Visitor().open("\(gateway.origin)/.auth/authorize", following: false).status == 302)
  }

  @Test("A crash leaves no core dump, which would hold keys and tokens")
  func coreDumps() throws {
    let site = try Site()
    defer { site.stop() }
    let limits = try String(contentsOfFile: "/proc/\(site.gateway.process.pid)/limits", encoding: .utf8)
    let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
    #expect(line.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"], "\(line)")
  }

  @Test("The heaps of threads are extended by half a MiB at once, and not by single pages")
  func heaps() throws {
    let site = try Site()
    defer { site.stop() }
    let maps = try FileHandle(forReadingFrom: URL(filePath: "/proc/\(site.gateway.process.pid)/maps"))
    let text = String(decoding: try maps.readToEnd() ?? Data(), as: UTF8.self)
    let mappings = text.split(separator: "\n").compactMap { line -> (start: Int, end: Int, access: Substring)? in
      let parts = line.split(separator: " ")
      let range = parts[0].split(separator: "-").compactMap { Int($0, radix: 16) }
      return range.count == 2 ? (range[0], range[1], parts[1]) : nil
    }
    // The GNU C library reserves 64 MiB for each, at a multiple of that.
    let room = 64 << 20
    let heaps = zip(mappings, mappings.dropFirst()).filter { heap, rest in
      heap.start % room == 0 && heap.access == "rw-p" && rest.access == "---p" && rest.start == heap.end
        && rest.end >= heap.start + room
    }
    let sizes = heaps.map { $0.0.end - $0.0.start }
    #expect(!sizes.isEmpty && sizes.allSatisfy { $0 >= 1 << 19 }, "\(sizes)")
  }

  @Test("There are as many event loops as processors that the process may use")
  func oneProcessor() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream, wrapper: .oneProcessor())
    defer { gateway.stop() }
    let tasks = "/proc/\(gateway.process.pid)/task"
    let names = try FileManager.default.contentsOfDirectory(atPath: tasks).compactMap {
      try? String(contentsOfFile: "\(tasks)/\($0)/comm", encoding: .utf8)
    }
    #expect(names.count { $0.hasPrefix("cordon-loop-") } == 1, "\(names)")
  }

  @Test("Beside a preloaded library that changes the environment, the commands have their arguments")
  func preloaded() throws {
    let library = try PreloadedLibrary(
      """
      #include <stdlib.h>
      __attribute__((constructor)) static void change(void) { setenv("CORDON_TEST_A", "1", 1); }
      """)
    let environment = ["LD_PRELOAD": library.path]
    let check = try ServerProcess.run(
      Machine.binary("cordon"), ["check", "--config", "/nonexistent"], environment: environment)
    #expect(check.exit == .code(78) && check.standardOutput.contains("/nonexistent"), "\(check)")
    let help = try ServerProcess.run(Machine.binary("apple-simulator"), ["--help"], environment: environment)
    #expect(help.exit == .code(0) && help.standardOutput.contains("USAGE: apple-simulator"), "\(help)")
  }

  @Test("libpq, and what it brings along, is in the process only where sessions are in PostgreSQL")
  func libraries() throws {
    let site = try Site()
    defer { site.stop() }
    let mapped = { (process: Int32) in
      let maps = try FileHandle(forReadingFrom: URL(filePath: "/proc/\(process)/maps"))
      return String(decoding: try maps.readToEnd() ?? Data(), as: UTF8.self)
    }
    let small = try mapped(site.gateway.process.pid)
    #expect(small.contains("libnghttp2.so") && small.contains("libssl.so"))
    #expect(!small.contains("libpq.so") && !small.contains("libldap"))
    let cluster = try Cluster(1)
    defer { cluster.stop() }
    #expect(try mapped(cluster.site.gateway.process.pid).contains("libpq.so"))
  }

  @Test("Metrics are Prometheus text, count what happens, and name nobody")
  func metrics() throws {
    let site = try Site()
    defer { site.stop() }
    let anna = try site.signedIn()
    let counter = "cordon_requests_total{route=\"signed-in\",code=\"200\"}"
    let before = try Metrics(site.gateway).value(counter) ?? 0
    for _ in 0..<7 { _ = try anna.fetch("\(site.origin)/counted") }
    try poll("seven requests to be counted") {
      try Metrics(site.gateway).value(counter) ?? 0 >= before + 7 ? () : nil
    }
    let response = try site.gateway.admin.get("/metrics")
    #expect(response.status == 200)
    #expect(response.fields["Content-Type"]?.hasPrefix("text/plain") == true)
    var names: Set<Substring> = []
    for line in response.text.split(separator: "\n") where !line.hasPrefix("#") {
      let parts = line.split(separator: " ")
      #expect(parts.count >= 2 && (Double(parts[parts.count - 1]) != nil || parts.last == "+Inf"), "\(line)")
      names.insert(line.prefix { $0 != "{" && $0 != " " })
    }
    #expect(names.contains { $0.hasSuffix("_bucket") }, "a histogram")
    #expect(names.contains { $0.contains("request") })
    #expect(names.contains { $0.contains("session") })
    #expect(names.contains { $0.contains("upstream") })
    #expect(names.contains { $0.contains("apple") })
    let subject = try site.apple.subject(of: "anna")
    for path in ["/metrics", "/healthz", "/status", "/readyz", "/livez"] {
      let text = try site.gateway.admin.get(path).text
      for secret in [
        subject, "anna.bergstrom", GatewayConfiguration.sessionSecret, try #require(anna.jar["__Host-cordon"]),
      ] {
        #expect(!text.contains(secret), "\(path)")
      }
    }
  }

  @Test(
    "Administration without a token is refused on a TCP address", arguments: ["/accounts", "/sessions", "/accounts/x"])
  func administration(path: String) throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try GatewayProcess(GatewayConfiguration(upstream: "http://127.0.0.1:\(upstream.port)"))
    defer { gateway.stop() }
    for method in ["GET", "POST", "DELETE"] {
      let status = try gateway.admin.send(method, path, body: method == "POST" ? Array("{}".utf8) : nil).status
      #expect((400..<500).contains(status), "\(method) \(path)")
    }
    #expect(try gateway.admin.get("/livez").status == 200)
  }

  @Test("SIGTERM: not ready at once, what is in flight finishes, exit 0", arguments: [SIGTERM, SIGINT])
  func orderlyEnd(signal: Int32) throws {
    let gate = Gate()
    let upstream = try RawUpstream { request, connection in
      try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
      try gate.wait()
      try connection.send("-last")
    }
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream)
    defer { gateway.stop() }
    let connection = try gateway.connect()
    try connection.send("GET /slow HTTP/1.1\r\nHost: \(gateway.client.authority)\r\n\r\n")
    _ = try connection.read(through: "first")
    gateway.process.signal(signal)
    try poll("readiness to end") {
      guard let status = try? gateway.admin.get("/readyz").status else { return () }
      return status == 503 ? () : nil
    }
    #expect(gateway.process.isRunning)
    gate.open()
    _ = try connection.read(through: "-last")
    #expect(try gateway.process.waitForExit() == .code(0))
  }

  @Test("SIGTERM without anything in flight ends it at once, idle connections or not")
  func idleEnd() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream)
    defer { gateway.stop() }
    let idle = try gateway.connect()
    let used = try gateway.connect()
    try used.send("GET / HTTP/1.1\r\nHost: \(gateway.client.authority)\r\n\r\n")
    #expect(try HTTPResponse.read(from: used).status == 200)
    gateway.process.signal(SIGTERM)
    #expect(try gateway.process.waitForExit() == .code(0))
    try idle.waitForClose()
  }

  /// The paths of the store's file and of those beside it, at least the one.
  private func storeFiles(of site: Site) throws -> [String] {
    let folder = site.gateway.directory
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("cordon.db") }
    try #require(names.contains("cordon.db"), "\(names)")
    return names.map(folder.file)
  }

  @Test("The store is readable for its owner only")
  func storePermissions() throws {
    let site = try Site()
    defer { site.stop() }
    _ = try site.signedIn()
    for file in try storeFiles(of: site) {
      let attributes = try FileManager.default.attributesOfItem(atPath: file)
      let mode = try #require(attributes[.posixPermissions] as? Int)
      #expect(mode & 0o077 == 0, "\(file) \(String(mode, radix: 8))")
    }
  }

  @Test("No refresh token stands readable in the store")
  func sealedTokens() throws {
    let site = try Site(fakeClock: true)
    defer { site.stop() }
    let anna = try site.signedIn()
    try site.setClock(secondsAhead: 36 * 3_600)
    _ = try anna.fetch(site.own("session"))
    let check = try poll("a check") { try site.apple.tokenRequests("refresh_token").first }
    let token = Array(try #require(check.form["refresh_token"]).utf8)
    site.gateway.process.signal(SIGTERM)
    _ = try site.gateway.process.waitForExit()
    let cookie = Array(try #require(anna.jar["__Host-cordon"]).utf8)
    let subject = Array(try site.apple.subject(of: "anna").utf8)
    var isAnnaThere = false
    for file in try storeFiles(of: site) {
      let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
      #expect(bytes.firstRange(of: token) == nil, "\(file)")
      #expect(bytes.firstRange(of: cookie) == nil, "\(file)")
      if bytes.firstRange(of: subject) != nil { isAnnaThere = true }
    }
    #expect(isAnnaThere, "nothing of her is in the store")
  }

  @Test("A start on an address that is taken by another program fails, and says which")
  func takenPort() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:\(upstream.port)")
    configuration["listen", "address"] = "\"127.0.0.1:\(upstream.port)\""
    configuration["", "public_url"] = "\"http://localhost:\(upstream.port)\""
    configuration["upstream", "url"] = "\"http://127.0.0.1:9\""
    let directory = try TemporaryDirectory()
    let file = try configuration.install(in: directory)
    let result = try ServerProcess.run(Machine.binary("cordon"), ["run", "--config", file], directory: directory.path)
    #expect(result.exit != .code(0))
    #expect((result.standardError + result.standardOutput).contains("\(upstream.port)"))
  }
}
