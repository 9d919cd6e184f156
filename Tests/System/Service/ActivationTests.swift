import Foundation
import TemporaryDirectoryTesting
import Testing

// Sockets that the process is started with, and what it tells the service manager.
//
// - Three restarts on sockets that somebody else holds, under load: no connection refused, no request failed. The
//   accept queue stays as long as it was.
// - systemd starts it by the first connection.
// - Each socket serves the listener of its name, or of its address; one that is nobody's keeps the gateway from
//   starting.
// - READY, RELOADING, WATCHDOG and STOPPING are told to NOTIFY_SOCKET. A manager that does not read delays nothing.

@SystemActor
@Suite("Socket activation and the service manager")
struct ActivationTests {
  private static func configuration(_ upstream: RawUpstream) throws -> GatewayConfiguration {
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:\(upstream.port)")
    configuration["listen", "workers"] = "2"
    configuration.ending = GatewayConfiguration.everythingPublic
    return configuration
  }

  @Test("Three restarts on inherited sockets, under load: no connection is refused and no request fails")
  func restarts() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let configuration = try Self.configuration(upstream)
    let directory = try TemporaryDirectory()
    let file = try configuration.install(in: directory)
    let sockets = [
      (name: "cordon.socket", socket: try HeldSocket(port: configuration.port)),
      (name: "admin", socket: try HeldSocket(port: configuration.adminPort)),
    ]
    let load = SteadyLoad(port: configuration.port)
    let queue = try sockets[0].socket.acceptQueue
    #expect(queue > 128)
    // The first requests are there before anybody accepts.
    var running = try startActivated(file, sockets: sockets)
    defer { running.stop() }
    for _ in 0..<3 {
      try load.waitForMore(100)
      for held in sockets { #expect(try held.socket.acceptQueue == queue, "\(held.name)") }
      running.signal(SIGTERM)
      #expect(try running.waitForExit() == .code(0))
      running = try startActivated(file, sockets: sockets)
    }
    try load.waitForMore(100)
    let complaints = try load.stop()
    #expect(complaints == [])
    #expect(try HTTPClient(port: configuration.adminPort).get("/readyz").status == 200)
  }

  @Test("systemd-socket-activate starts it by the first connection, which is served")
  func firstConnection() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let configuration = try Self.configuration(upstream)
    let directory = try TemporaryDirectory()
    let file = try configuration.install(in: directory)
    let systemd = try ServerProcess(
      Machine.program("systemd-socket-activate", package: "systemd"),
      [
        "--listen=127.0.0.1:\(configuration.port)", "--fdname=listen", Machine.binary("cordon"), "run", "--config",
        file,
      ])
    defer { systemd.stop() }
    try systemd.waitForLine(containing: "Listening on")
    #expect(throws: HarnessError.self) { try TCPConnection(port: configuration.adminPort) }
    let client = HTTPClient(port: configuration.port, host: GatewayConfiguration.host)
    #expect(try client.get("/first").status == 200)
    #expect(try client.get("/second").status == 200)
    systemd.signal(SIGTERM)
    #expect(try systemd.waitForExit() == .code(0))
  }

  @Test("Each socket serves the listener of its name, a Unix socket too; what has none is bound as ever")
  func names() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    var configuration = try Self.configuration(upstream)
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/inside.sock"
    let other = try FreePort.take()
    configuration.ending += """
      [[listener]]
      name = "inside"
      address = "unix:\(path)"
      [[listener]]
      name = "beside"
      address = "127.0.0.1:\(other)"

      """
    let file = try configuration.install(in: directory)
    let inside = try HeldSocket(path: path)
    let gateway = try startActivated(
      file,
      sockets: [("inside", inside), ("listen", HeldSocket(port: configuration.port))])
    defer { gateway.stop() }
    let curl = try Machine.program("curl", package: "curl")
    let host = "Host: \(GatewayConfiguration.host):\(configuration.port)"
    for (place, to) in [
      ["http://127.0.0.1:\(configuration.port)/0"], ["--unix-socket", path, "http://x/1"],
      ["http://127.0.0.1:\(other)/2"],
    ].enumerated() {
      if place == 2 { try gateway.waitForLine(containing: "cordon is ready") }
      let answer = try ServerProcess.run(curl, ["-sf", "--max-time", "50", "-H", host] + to)
      #expect(answer.exit == .code(0), "\(to) \(answer)")
    }
    #expect(upstream.requests.map(\.target) == ["/0", "/1", "/2"])
    gateway.signal(SIGTERM)
    #expect(try gateway.waitForExit() == .code(0))
    #expect(FileManager.default.fileExists(atPath: path), "the socket is its owner's to remove")
  }

  @Test(
    "A socket that is not a listener's, or has a listener's name and another address, ends the start for good, with 78",
    arguments: [("web.socket", "FileDescriptorName="), ("listen", "ListenStream=")])
  func strangeSocket(name: String, remedy: String) throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let directory = try TemporaryDirectory()
    var configuration = try Self.configuration(upstream)
    let paths = ["listen.sock", "admin.sock"].map { "\(directory.path)/\($0)" }
    configuration["listen", "address"] = "\"unix:\(paths[0])\""
    configuration["admin", "address"] = "\"unix:\(paths[1])\""
    let file = try configuration.install(in: directory)
    let gateway = try startActivated(file, sockets: [(name, HeldSocket(port: FreePort.take()))])
    defer { gateway.stop() }
    #expect(try gateway.waitForExit() == .code(78))
    try gateway.waitForEndOfOutput()
    #expect(gateway.standardError.contains("the inherited socket 3 (\(name))"), "\(gateway.standardError)")
    #expect(gateway.standardError.contains(remedy), "\(gateway.standardError)")
    for path in paths { #expect(!FileManager.default.fileExists(atPath: path), "\(path)") }
  }

  @Test("A socket with the name of another listener is not taken by its address: the start ends with 78")
  func contradiction() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let directory = try TemporaryDirectory()
    let configuration = try Self.configuration(upstream)
    let gateway = try startActivated(
      configuration.install(in: directory), sockets: [("admin", HeldSocket(port: configuration.port))])
    defer { gateway.stop() }
    #expect(try gateway.waitForExit() == .code(78))
    try gateway.waitForEndOfOutput()
    #expect(gateway.standardError.contains("the inherited socket 3 (admin)"), "\(gateway.standardError)")
  }

  @Test("The service manager is told of the start, each reload, that it lives, and the end")
  func notifications() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let configuration = try Self.configuration(upstream)
    let directory = try TemporaryDirectory()
    let file = try configuration.install(in: directory)
    let manager = try NotificationSocket(in: directory)
    let gateway = try startActivated(
      file, sockets: [], environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "500000"])
    defer { gateway.stop() }
    _ = try manager.wait(for: "READY=1")
    let client = HTTPClient(port: configuration.port, host: GatewayConfiguration.host)
    #expect(try client.get("/").status == 200, "ready is said when it listens")
    _ = try manager.wait(for: "WATCHDOG=1")
    _ = try manager.wait(for: "WATCHDOG=1")
    let before = Self.monotonicMicroseconds()
    gateway.signal(SIGHUP)
    let reloading = try manager.wait(for: "RELOADING=1")
    let said = reloading.first { $0.hasPrefix("MONOTONIC_USEC=") }.flatMap {
      Int($0.dropFirst("MONOTONIC_USEC=".count))
    }
    #expect((before...Self.monotonicMicroseconds()).contains(try #require(said)))
    _ = try manager.wait(for: "READY=1")
    // A reload that was refused is over, too: systemd would wait for it.
    try directory.write("nonsense = 1\n", to: "gateway.conf")
    gateway.signal(SIGHUP)
    _ = try manager.wait(for: "RELOADING=1")
    _ = try manager.wait(for: "READY=1")
    gateway.signal(SIGTERM)
    _ = try manager.wait(for: "STOPPING=1")
    #expect(try gateway.waitForExit() == .code(0))
    #expect(try manager.rest().allSatisfy { $0 == ["WATCHDOG=1"] }, "nothing else after the end was told")
  }

  @Test("A service manager that does not read stops neither requests, nor a reload, nor the end")
  func stalledManager() throws {
    let upstream = try RawUpstream(RawUpstream.greet)
    defer { upstream.stop() }
    let configuration = try Self.configuration(upstream)
    let directory = try TemporaryDirectory()
    let file = try configuration.install(in: directory)
    let manager = try NotificationSocket(in: directory)
    // Pings fill the queue of the socket soon.
    let gateway = try startActivated(
      file, sockets: [], environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "4000"])
    defer { gateway.stop() }
    try gateway.waitForLine(containing: "the service manager does not take notifications")
    let client = HTTPClient(port: configuration.port, host: GatewayConfiguration.host)
    #expect(try client.get("/").status == 200)
    gateway.signal(SIGHUP)
    try gateway.waitForLine(containing: "configuration reloaded")
    #expect(try client.get("/").status == 200)
    // What was not taken comes when the manager reads again.
    _ = try manager.wait(for: "READY=1")
    _ = try manager.wait(for: "RELOADING=1")
    _ = try manager.wait(for: "READY=1")
    gateway.signal(SIGTERM)
    #expect(try gateway.waitForExit() == .code(0))
  }

  @Test("Without a watchdog no sign of life is sent")
  func noWatchdog() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let directory = try TemporaryDirectory()
    let file = try Self.configuration(upstream).install(in: directory)
    let manager = try NotificationSocket(in: directory)
    let gateway = try startActivated(file, sockets: [], environment: ["NOTIFY_SOCKET": manager.path])
    defer { gateway.stop() }
    _ = try manager.wait(for: "READY=1")
    gateway.signal(SIGTERM)
    #expect(try manager.wait(for: "STOPPING=1").contains("WATCHDOG=1") == false)
    #expect(try gateway.waitForExit() == .code(0))
    #expect(try manager.rest() == [])
  }

  private static func monotonicMicroseconds() -> Int {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return now.tv_sec * 1_000_000 + now.tv_nsec / 1_000
  }
}
