import Foundation
import TemporaryDirectoryTesting
import Testing

// The descriptors of the process, and the connections that an application may have.
//
// - Clients that take all descriptors do not end the process: the last ones are never used, the admin listener answers.
// - A listening socket that nobody can be accepted on is left alone, instead of being asked again and again, and the
//   gateway is not ready until clients are accepted. While others leave and make room for them, it is.
// - What the application is refused for our own want of descriptors is not held against it.
// - `max_connections` holds over all event loops; what waits is bounded, is answered in its time, and leaves its queue.

@SystemActor
@Suite("Descriptors, and connections to the application", .serialized)
struct DescriptorTests {
  private nonisolated static let script = Machine.packageRoot.appending(path: "Tests/System/Limits/exhaust.py").path

  /// Answers everything but `/slow`.
  private nonisolated static let application: RawUpstream.RequestHandler = { request, connection in
    guard request.target.hasPrefix("/slow") else { return try RawUpstream.greet(request, connection) }
    _ = try connection.readSome(by: .seconds(600))
    connection.close()
  }

  @Test(
    "Out of descriptors, the process lives, /readyz answers, and clients are served again",
    arguments: ["http1", "http2"])
  func exhaustion(version: String) throws {
    let upstream = try RawUpstream(Self.application)
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream, wrapper: .descriptorLimit(256)) { $0.acceptHTTP2() }
    defer { gateway.stop() }
    let pid = gateway.process.pid
    let clients = try ServerProcess("/usr/bin/python3", [Self.script, "\(gateway.configuration.port)", version])
    defer { clients.stop() }
    try clients.waitForLine(containing: "\"held\"", by: .seconds(120))
    #expect(gateway.process.isRunning && gateway.process.pid == pid)
    // The reserve is there, whatever clients do.
    #expect(try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count < 256 - 16)
    // 503 if the shortage has lasted for ten seconds by now.
    #expect([200, 503].contains(try gateway.admin.get("/readyz").status))
    let metrics = try Metrics(gateway)
    #expect(metrics.value("cordon_descriptor_refusals_total") ?? 0 > 0)
    #expect(metrics.value("cordon_upstream_failures_total{reason=\"refused\"}") == 0)
    #expect(
      metrics.value("cordon_upstream_address_up{upstream=\"default\",address=\"http://127.0.0.1:\(upstream.port)\"}")
        == 1)
    try gateway.waitForLog("out of file descriptors")

    clients.signal(SIGUSR1)
    try clients.waitForLine(containing: "\"quiet\"")
    let (before, began) = (try Self.processorTicks(of: pid), Date())
    try poll("two seconds to pass", by: .seconds(60)) { -began.timeIntervalSinceNow > 2 ? () : nil }
    let used = Double(try Self.processorTicks(of: pid) - before) / Double(sysconf(Int32(_SC_CLK_TCK)))
    // A loop that spins takes all of a core; one that asks ten times a second nothing to speak of.
    #expect(used < 0.15 * -began.timeIntervalSinceNow)

    // The clients of HTTP/1.1 have one connection each, and more wait than there is room for.
    if version == "http1" {
      try poll("a balancer to be told", by: .seconds(120)) {
        let ready = try gateway.admin.get("/readyz")
        return ready.status == 503 && ready.text.contains("\"connections\"") ? () : nil
      }
      #expect(try gateway.admin.get("/livez").status == 200)
    }

    clients.stop()
    try poll("readiness", by: .seconds(120)) { try gateway.admin.get("/readyz").status == 200 ? () : nil }
    try poll("an honest client to be served") { try? gateway.client.get("/honest").status == 200 ? () : nil }
    #expect(gateway.process.isRunning && gateway.process.pid == pid)
  }

  @Test("A gateway at its limit is ready as long as clients that leave make room for others")
  func comingAndGoing() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream, wrapper: .descriptorLimit(256))
    defer { gateway.stop() }
    var clients = try (0..<200).map { _ in try gateway.connect() }
    defer { for client in clients { client.close() } }
    try gateway.waitForLog("out of file descriptors")
    let began = Date()
    // Longer than the shortage that ends readiness.
    try poll("thirteen seconds to pass", by: .seconds(120)) {
      clients.removeFirst().close()
      clients.append(try gateway.connect())
      #expect(try gateway.admin.get("/readyz").status == 200)
      return -began.timeIntervalSinceNow > 13 ? () : nil
    }
  }

  @Test("An accept that fails for want of a descriptor is repeated after a pause, not at once")
  func failingAccept() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream, wrapper: .descriptorLimit(256))
    defer { gateway.stop() }
    let pid = gateway.process.pid
    // Room for twelve more: the thirteenth accept fails, although the budget has room. The store opens up to three more
    // readers when it first needs them, with two descriptors each, and a client that is served takes two.
    let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").compactMap { Int($0) }
    let limit = try #require((0..<256).filter { !open.contains($0) }.dropFirst(11).first) + 1
    let limited = try ServerProcess.run(
      Machine.program("prlimit", package: "util-linux"), ["--pid", "\(pid)", "--nofile=\(limit):\(limit)"])
    #expect(limited.exit == .code(0), "\(limited.standardError)")
    let waiting = try (0..<20).map { _ in try gateway.connect() }
    let (before, began) = (try Self.processorTicks(of: pid), Date())
    try poll("a second to pass", by: .seconds(60)) { -began.timeIntervalSinceNow > 1 ? () : nil }
    let used = Double(try Self.processorTicks(of: pid) - before) / Double(sysconf(Int32(_SC_CLK_TCK)))
    #expect(used < 0.2 * -began.timeIntervalSinceNow)
    try gateway.waitForLog("out of file descriptors")
    let line = String(decoding: gateway.log, as: UTF8.self).split(separator: "\n")
      .first { $0.contains("out of file descriptors") }
    #expect(line?.contains(/paused[^0-9]+[1-9]/) == true, "\(line ?? "")")
    for connection in waiting { connection.close() }
    try poll("a client to be served") { try? gateway.client.get("/honest").status == 200 ? () : nil }
    #expect(gateway.process.isRunning && gateway.process.pid == pid)
  }

  /// User and system time (proc(5), fields 14 and 15).
  private static func processorTicks(of pid: pid_t) throws -> Int {
    let text = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
    let words = text.split(separator: ")").last?.split(separator: " ") ?? []
    guard words.count > 12, let user = Int(words[11]), let system = Int(words[12]) else {
      throw HarnessError.missing("the processor time of \(pid)")
    }
    return user + system
  }

  /// An application that answers `/held` only when the gate is open, and counts the requests that it has at a time. Not
  /// the connections: that one has ended may be seen after the next has begun.
  private struct Counted {
    let gate = Watched(false)
    let upstream: RawUpstream
    private let open = Watched((now: 0, most: 0))

    init() throws {
      let (gate, open) = (gate, open)
      upstream = try RawUpstream { request, connection in
        open.update { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
        do {
          defer { open.update { $0.now -= 1 } }
          if request.target == "/held" { try gate.take("the gate to open", by: .seconds(600)) { $0 ? () : nil } }
        }
        try RawUpstream.greet(request, connection)
      }
    }

    var most: Int { open.current.most }
  }

  private static let waiting = "cordon_upstream_requests_waiting"

  /// Sends a request that the application holds until the gate is open.
  private func askHeld(_ gateway: GatewayProcess) throws -> TCPConnection {
    let connection = try gateway.connect()
    try connection.send("GET /held HTTP/1.1\r\nHost: \(gateway.client.authority)\r\n\r\n")
    return connection
  }

  private func waitForQueue(_ count: Int, _ gateway: GatewayProcess) throws {
    try poll("\(count) requests to wait") {
      try Metrics(gateway).lines.contains { $0.hasPrefix(Self.waiting + "{") && $0.hasSuffix(" \(count)") } ? () : nil
    }
  }

  @Test("Beyond max_connections requests wait in a bounded queue, and those that leave make room in it")
  func queue() throws {
    let application = try Counted()
    defer { application.upstream.stop() }
    let gateway = try GatewayProcess.open(to: application.upstream) {
      $0["listen", "workers"] = "2"
      $0["upstream", "max_connections"] = "2"
      $0["upstream", "queue"] = "3"
      $0["upstream.timeouts", "connect"] = "\"60s\""
    }
    defer { gateway.stop() }
    var within = [try askHeld(gateway), try askHeld(gateway)]
    try poll("two requests to be with the application") { application.most == 2 ? () : nil }
    for count in 1...3 {
      within.append(try askHeld(gateway))
      try waitForQueue(count, gateway)
    }
    let beyond = try HTTPResponse.read(from: try askHeld(gateway))
    #expect(beyond.status == 503)
    #expect(beyond.fields["Retry-After"] != nil)
    within.removeLast().close()
    try waitForQueue(2, gateway)
    within.append(try askHeld(gateway))
    try waitForQueue(3, gateway)
    application.gate.update { $0 = true }
    for connection in within { #expect(try HTTPResponse.read(from: connection).status == 200) }
    #expect(application.most == 2)
    try waitForQueue(0, gateway)
    #expect(try Metrics(gateway).value("cordon_upstream_failures_total{reason=\"full\"}") == 1)
  }

  @Test("A request that waits longer than the connect timeout is answered 503")
  func queueTime() throws {
    let application = try Counted()
    defer { application.upstream.stop() }
    let gateway = try GatewayProcess.open(to: application.upstream) {
      $0["upstream", "max_connections"] = "1"
      $0["upstream.timeouts", "connect"] = "\"500ms\""
    }
    defer { gateway.stop() }
    let held = try askHeld(gateway)
    try poll("the request to arrive") { application.most == 1 ? () : nil }
    #expect(try gateway.client.get("/beside").status == 503)
    application.gate.update { $0 = true }
    #expect(try HTTPResponse.read(from: held).status == 200)
    #expect(try gateway.client.get("/beside").status == 200)
  }

  @Test("A request with a connection of its own takes the place of one that lies idle, and holds nobody up")
  func ownConnection() throws {
    let application = try Counted()
    defer { application.upstream.stop() }
    let gateway = try GatewayProcess.open(to: application.upstream) {
      $0["listen", "workers"] = "1"
      $0["upstream", "max_connections"] = "1"
      $0["upstream.timeouts", "idle"] = "\"600s\""
    }
    defer { gateway.stop() }
    for _ in 0..<3 {
      #expect(try gateway.client.get("/").status == 200)
      let connection = try gateway.connect()
      // A body that means nothing to its method: the connection to the application ends after it.
      try connection.send(
        "DELETE / HTTP/1.1\r\nHost: \(gateway.client.authority)\r\nContent-Length: 4\r\n\r\nbody")
      #expect(try HTTPResponse.read(from: connection).status == 200)
    }
    #expect(application.most == 1)
  }

  @Test("A request that waits while its upstream is configured differently still gets its connection, within the limit")
  func reload() throws {
    let application = try Counted()
    defer { application.upstream.stop() }
    let gateway = try GatewayProcess.open(to: application.upstream) {
      $0["listen", "workers"] = "1"
      $0["upstream", "max_connections"] = "1"
      $0["upstream.timeouts", "connect"] = "\"60s\""
    }
    defer { gateway.stop() }
    let held = try askHeld(gateway)
    try poll("the request to arrive") { application.most == 1 ? () : nil }
    let waiting = try askHeld(gateway)
    try waitForQueue(1, gateway)
    var configuration = gateway.configuration
    configuration["upstream.timeouts", "first_byte"] = "\"50s\""
    _ = try configuration.install(in: gateway.directory)
    gateway.process.signal(SIGHUP)
    try gateway.waitForLog("configuration reloaded")
    // Both count: the connection of before, and the request.
    try waitForQueue(1, gateway)
    let next = try askHeld(gateway)
    try waitForQueue(2, gateway)
    application.gate.update { $0 = true }
    for connection in [held, waiting, next] { #expect(try HTTPResponse.read(from: connection).status == 200) }
    #expect(application.most == 1)
  }

  @Test("Two upstreams with the same address have together as many connections as one")
  func sameAddress() throws {
    let application = try Counted()
    defer { application.upstream.stop() }
    let gateway = try GatewayProcess.open(to: application.upstream) {
      $0["listen", "workers"] = "2"
      $0["upstream", "max_connections"] = "1"
      $0["upstream.timeouts", "connect"] = "\"60s\""
      $0.ending += """
        [[upstreams]]
        name = "slow"
        url = "http://127.0.0.1:\(application.upstream.port)"
        strip_prefix = "/slow"
        [[route]]
        path = "/slow/"
        access = "public"
        upstream = "slow"
        """
    }
    defer { gateway.stop() }
    let held = try askHeld(gateway)
    try poll("the request to arrive") { application.most == 1 ? () : nil }
    let slow = try gateway.connect()
    try slow.send("GET /slow/held HTTP/1.1\r\nHost: \(gateway.client.authority)\r\n\r\n")
    try waitForQueue(1, gateway)
    application.gate.update { $0 = true }
    for connection in [held, slow] { #expect(try HTTPResponse.read(from: connection).status == 200) }
    #expect(application.most == 1)
  }

  @Test("A connection that comes too late for a request is not given to the client's next one, for another upstream")
  func lateConnection() throws {
    let full = try FullListener()
    defer { full.close() }
    let application = try Counted()
    defer { application.upstream.stop() }
    let gateway = try GatewayProcess.open(to: application.upstream) {
      $0["listen", "workers"] = "1"
      $0["upstream", "max_connections"] = "1"
      $0["upstream.timeouts", "connect"] = "\"60s\""
      $0.ending += """
        [[upstreams]]
        name = "full"
        url = "http://127.0.0.1:\(full.port)"
        request_buffer = "8MiB"
        [[route]]
        path = "/full/"
        access = "public"
        upstream = "full"
        """
    }
    defer { gateway.stop() }
    func post(_ path: String, _ size: Int, isWhole: Bool) throws -> TCPConnection {
      let connection = try gateway.connect()
      try connection.send(
        "POST \(path) HTTP/1.1\r\nHost: \(gateway.client.authority)\r\nTransfer-Encoding: chunked\r\n\r\n"
          + "\(String(size, radix: 16))\r\n")
      _ = connection.sendUntilRefused([UInt8](repeating: 0x78, count: size), atMost: size, patience: .standard)
      if isWhole { try connection.send("\r\n0\r\n\r\n") }
      return connection
    }
    // Its body is whole, and it waits for a connection; then the memory for bodies is needed for others.
    let client = try post("/full/first", 1_000, isWhole: true)
    let others = try (0..<12).map { _ in try post("/full/other", 7 << 20, isWhole: false) }
    #expect(try HTTPResponse.read(from: client).status == 503)
    for other in others { other.close() }
    // The other application has one connection, which is in use.
    let held = try askHeld(gateway)
    try poll("the request to arrive") { application.most == 1 ? () : nil }
    try client.send("GET /second HTTP/1.1\r\nHost: \(gateway.client.authority)\r\n\r\n")
    try waitForQueue(1, gateway)
    // Now the first application takes connections.
    let late = try full.acceptNext()
    defer { late.close() }
    application.gate.update { $0 = true }
    #expect(try HTTPResponse.read(from: held).status == 200)
    #expect(try HTTPResponse.read(from: client).status == 200)
    #expect(application.upstream.requests.contains { $0.target == "/second" })
  }

  @Test("A connection that lies idle at one event loop makes room for a request at another")
  func handOver() throws {
    let application = try Counted()
    defer { application.upstream.stop() }
    let gateway = try GatewayProcess.open(to: application.upstream) {
      $0["listen", "workers"] = "4"
      $0["upstream", "max_connections"] = "1"
      $0["upstream.timeouts", "idle"] = "\"600s\""
      $0["upstream.timeouts", "connect"] = "\"60s\""
    }
    defer { gateway.stop() }
    // The system spreads the connections over the loops.
    let clients = try (0..<24).map { _ in try gateway.connect() }
    for _ in 0..<3 {
      for client in clients { try client.send("GET / HTTP/1.1\r\nHost: \(gateway.client.authority)\r\n\r\n") }
      for client in clients { #expect(try HTTPResponse.read(from: client).status == 200) }
    }
    #expect(application.most == 1)
  }
}
