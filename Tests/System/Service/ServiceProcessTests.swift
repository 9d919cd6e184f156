import Foundation
import TemporaryDirectoryTesting
import Testing

// The process under a service manager, without one: what it writes to the journal, signals, limits, and company that it
// should not have.
//
// - Lines of the application log have priorities where the journal reads them, and only there. Errors of commands, too.
// - SIGUSR1, SIGUSR2 and SIGXFSZ end nothing; SIGQUIT is a graceful shutdown.
// - Too few descriptors, too little address space, or no /proc: 78 with the remedy instead of trouble later.
// - An address that the process may not listen on: 78 with the remedy; one that may come back: 1, and another attempt.
// - The files of Unix sockets go with the process that bound them, also if it cannot start.
// - A second gateway on the same address, or the same SQLite store, says so.
// - Root in a folder of another account says so, and leaves a store that the account can open.
// - Lines that nobody can read any more are counted.

@SystemActor
@Suite("The process of a service")
struct ServiceProcessTests {
  private func configuration() throws -> GatewayConfiguration {
    var configuration = try GatewayConfiguration()
    configuration.ending = GatewayConfiguration.everythingPublic
    return configuration
  }

  @Test("Lines of the application log carry their priority if the journal reads standard output")
  func priorities() throws {
    let directory = try TemporaryDirectory()
    let file = try configuration().install(in: directory)
    let command = """
      exec 3>&1; export JOURNAL_STREAM=$(stat -Lc %d:%i /proc/self/fd/3); exec '\(try Machine.binary("cordon"))' run \
        --config '\(file)' 3>&-
      """
    let gateway = try ServerProcess("/bin/sh", ["-c", command], directory: directory.path)
    defer { gateway.stop() }
    let line = try gateway.waitForLine(containing: "cordon is ready")
    #expect(line.hasPrefix("<5>{"), "\(line)")
    gateway.signal(SIGTERM)
    #expect(try gateway.waitForExit() == .code(0))
    // The variable stays where standard output was redirected.
    let redirected = try ServerProcess(
      Machine.binary("cordon"), ["run", "--config", file], environment: ["JOURNAL_STREAM": "1:1"],
      directory: directory.path)
    defer { redirected.stop() }
    #expect(try redirected.waitForLine(containing: "cordon is ready").hasPrefix("{"))
  }

  @Test(
    "The error of a command has the priority of an error if the journal reads standard error",
    arguments: ["keygen --output missing/session.key", "run --config missing.conf", "run --unknown"])
  func errorPriorities(command: String) throws {
    let directory = try TemporaryDirectory()
    let script = """
      export JOURNAL_STREAM=$(stat -Lc %d:%i /proc/self/fd/2); exec '\(try Machine.binary("cordon"))' \(command)
      """
    let failed = try ServerProcess.run("/bin/sh", ["-c", script], directory: directory.path)
    #expect(failed.standardError.hasPrefix("<3>"), "\(failed)")
  }

  @Test("SIGUSR1, SIGUSR2 and SIGXFSZ end nothing, and SIGQUIT is a graceful shutdown")
  func signals() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream)
    defer { gateway.stop() }
    for signal in [SIGUSR1, SIGUSR2, SIGXFSZ] {
      gateway.process.signal(signal)
      #expect(try gateway.client.get("/after").status == 200)
    }
    gateway.process.signal(SIGQUIT)
    #expect(try gateway.process.waitForExit() == .code(0))
    try gateway.waitForLog("shutting down")
  }

  @Test(
    "A limit under which nothing good can come keeps it from starting, with the remedy",
    arguments: [
      (1, "--nofile=48", "LimitNOFILE="), (10, "--nofile=80", "listen.workers"), (1, "--as=419430400", "ulimit -v"),
    ])
  func floors(workers: Int, limit: String, remedy: String) throws {
    let directory = try TemporaryDirectory()
    var configuration = try configuration()
    configuration["listen", "workers"] = "\(workers)"
    let file = try configuration.install(in: directory)
    let ended = try ServerProcess.run(
      Machine.program("prlimit", package: "util-linux"), [limit, Machine.binary("cordon"), "run", "--config", file])
    #expect(ended.exit == .code(78), "\(ended)")
    #expect(ended.standardError.contains(remedy), "\(ended.standardError)")
  }

  @Test(
    "A command under a hard limit of open files that is too low says so, and raises a soft limit that is",
    arguments: [("--nofile=4", 78), ("--nofile=4:64", 0)])
  func openFiles(limit: String, status: Int) throws {
    let directory = try TemporaryDirectory()
    let file = try configuration().install(in: directory)
    let ended = try ServerProcess.run(
      Machine.program("prlimit", package: "util-linux"), [limit, Machine.binary("cordon"), "check", "--config", file])
    #expect(ended.exit == .code(Int32(status)), "\(ended)")
    #expect(ended.standardError.contains("LimitNOFILE=") == (status == 78), "\(ended.standardError)")
  }

  @Test(
    "A command that the system has no threads for says so, instead of waiting for them",
    arguments: ["doctor", "check"])
  func noThreads(command: String) throws {
    let directory = try TemporaryDirectory()
    let file = try configuration().install(in: directory)
    // 64 TiB for each thread: no address space has room for four.
    let ended = try ServerProcess.run(
      Machine.program("prlimit", package: "util-linux"),
      ["--stack=\(64 << 40)", Machine.binary("cordon"), command, "--config", file])
    #expect(ended.exit == .code(1), "\(ended)")
    #expect(ended.standardError.contains("TasksMax="), "\(ended.standardError)")
  }

  @Test("Without /proc every command says so, each time")
  func withoutKernelFiles() throws {
    let directory = try TemporaryDirectory()
    let file = try configuration().install(in: directory)
    let wrapper = try ProcessWrapper.withoutKernelFiles().command
    // libdispatch ended some of several starts before the first line of the program.
    for command in [String](repeating: "run", count: 20) + ["doctor", "check"] {
      let ended = try ServerProcess.run(
        wrapper[0], wrapper.dropFirst() + [Machine.binary("cordon"), command, "--config", file])
      #expect(ended.exit == .code(78), "\(ended)")
      #expect(ended.standardError.contains("mount -t proc"), "\(ended.standardError)")
    }
  }

  @Test(
    "An address that the process may not listen on ends the start for good, with 78 and the remedy",
    arguments: [("net_bind_service", "cordon.socket"), ("dac_override", "the socket's directory")])
  func forbiddenAddress(capability: String, remedy: String) throws {
    let directory = try TemporaryDirectory()
    let folder = "\(directory.path)/closed"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o500])
    let isPort = capability == "net_bind_service"
    // Where every port may be bound by everybody, as in some containers, there is nothing to see.
    if isPort, try Self.firstUnprivilegedPort() < 2 { return }
    var configuration = try configuration()
    configuration["listen", "address"] = isPort ? "\"127.0.0.1:1\"" : "\"unix:\(folder)/cordon.sock\""
    let file = try configuration.install(in: directory)
    // Root has the capability, other users do not.
    let without = ["--bounding-set=-\(capability)", "--inh-caps=-\(capability)"]
    let ended = try ServerProcess.run(
      Machine.program("setpriv", package: "util-linux"),
      (geteuid() == 0 ? without : []) + ["--", Machine.binary("cordon"), "run", "--config", file])
    #expect(ended.exit == .code(78), "\(ended)")
    #expect(ended.standardError.contains("cannot listen on"), "\(ended.standardError)")
    #expect(ended.standardError.contains(remedy), "\(ended.standardError)")
  }

  private static func firstUnprivilegedPort() throws -> Int {
    let text = try String(contentsOfFile: "/proc/sys/net/ipv4/ip_unprivileged_port_start", encoding: .utf8)
    return Int(text.filter(\.isNumber)) ?? 0
  }

  @Test("An address in use, or not of this machine yet, is worth another attempt: the exit status is 1")
  func addressToComeBack() throws {
    let directory = try TemporaryDirectory()
    var configuration = try configuration()
    let held = try HeldSocket(port: configuration.port)
    let inUse = try ServerProcess.run(
      Machine.binary("cordon"), ["run", "--config", configuration.install(in: directory)])
    #expect(inUse.exit == .code(1), "\(inUse)")
    #expect(inUse.standardError.contains("stop what listens there"), "\(inUse.standardError)")
    withExtendedLifetime(held) {}
    // Of the block for documentation (RFC 5737): no machine has it.
    configuration["listen", "address"] = "\"192.0.2.1:\(configuration.port)\""
    let notHere = try ServerProcess.run(
      Machine.binary("cordon"), ["run", "--config", configuration.install(in: directory)])
    #expect(notHere.exit == .code(1), "\(notHere)")
    #expect(notHere.standardError.contains("that this machine has"), "\(notHere.standardError)")
  }

  @Test("A file or folder is not removed for a socket: the exit status is 78, and the message names the path")
  func pathOfAFile() throws {
    let directory = try TemporaryDirectory()
    try directory.write("mine", to: "notes.txt")
    var configuration = try configuration()
    for path in ["\(directory.path)/notes.txt", directory.path] {
      configuration["listen", "address"] = "\"unix:\(path)\""
      let ended = try ServerProcess.run(
        Machine.binary("cordon"), ["run", "--config", configuration.install(in: directory)])
      #expect(ended.exit == .code(78), "\(ended)")
      #expect(
        ended.standardError.contains("cannot listen on unix:\(path): there is a file or folder that is not a socket"),
        "\(ended.standardError)")
    }
    #expect(try String(contentsOfFile: "\(directory.path)/notes.txt", encoding: .utf8) == "mine")
  }

  @Test("A Unix socket in a folder that is missing: the exit status is 78, and check has said so")
  func missingFolder() throws {
    let directory = try TemporaryDirectory()
    var configuration = try configuration()
    configuration["admin", "address"] = "\"unix:\(directory.path)/missing/admin.sock\""
    let file = try configuration.install(in: directory)
    let checked = try ServerProcess.run(Machine.binary("cordon"), ["check", "--config", file])
    #expect(checked.exit == .code(0))
    let said = checked.standardOutput + checked.standardError
    #expect(said.contains("there is no folder \(directory.path)/missing"), "\(said)")
    let ended = try ServerProcess.run(Machine.binary("cordon"), ["run", "--config", file])
    #expect(ended.exit == .code(78), "\(ended)")
    #expect(ended.standardError.contains("create the socket's folder"), "\(ended.standardError)")
  }

  @Test("SIGTERM removes the files of Unix sockets, and none that somebody else has put in their place")
  func socketFiles() throws {
    let directory = try TemporaryDirectory()
    var configuration = try configuration()
    let paths = ["listen.sock", "admin.sock"].map { "\(directory.path)/\($0)" }
    configuration["listen", "address"] = "\"unix:\(paths[0])\""
    configuration["admin", "address"] = "\"unix:\(paths[1])\""
    let file = try configuration.install(in: directory)
    for isReplaced in [false, true] {
      let gateway = try ServerProcess(
        Machine.binary("cordon"), ["run", "--config", file], directory: directory.path)
      defer { gateway.stop() }
      try gateway.waitForLine(containing: "cordon is ready")
      for path in paths {
        #expect(FileManager.default.fileExists(atPath: path))
        guard isReplaced else { continue }
        try FileManager.default.moveItem(atPath: path, toPath: path + ".aside")
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
      }
      gateway.signal(SIGTERM)
      #expect(try gateway.waitForExit() == .code(0))
      for path in paths { #expect(FileManager.default.fileExists(atPath: path) == isReplaced, "\(path)") }
    }
  }

  @Test("A start that fails after it has bound a Unix socket leaves no file of it", arguments: ["admin", "listener"])
  func socketFileOfFailedStart(failing: String) throws {
    let directory = try TemporaryDirectory()
    var configuration = try configuration()
    let path = "\(directory.path)/listen.sock"
    let missing = "\"unix:\(directory.path)/missing/cordon.sock\""
    configuration["listen", "address"] = "\"unix:\(path)\""
    if failing == "admin" {
      configuration["admin", "address"] = missing
    } else {
      configuration.ending += "[[listener]]\nname = \"other\"\naddress = \(missing)\n"
    }
    let ended = try ServerProcess.run(
      Machine.binary("cordon"), ["run", "--config", configuration.install(in: directory)])
    #expect(ended.exit == .code(78), "\(ended)")
    #expect(ended.standardError.contains("create the socket's folder"), "\(ended.standardError)")
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("A second gateway on the same address and the same SQLite store says so")
  func company() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream) { $0["listen", "workers"] = "2" }
    defer { gateway.stop() }
    let successor = try gateway.startSuccessor()
    defer { successor.stop() }
    try successor.waitForLine(containing: "another process listens on the same address")
    try successor.waitForLine(containing: "another gateway uses the same SQLite store")
    #expect(!successor.standardOutput.contains("created a new session store"))
    let first = String(decoding: gateway.log, as: UTF8.self)
    #expect(first.contains("created a new session store, nobody is signed in"))
    #expect(!first.contains("another process") && !first.contains("another gateway"), "\(first)")
  }

  @Test("A start on a store's file that is empty says that everybody is signed out, and the next one does not")
  func emptyStore() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream)
    defer { gateway.stop() }
    let warning = "the session store's file was empty, everybody is signed out"
    gateway.process.signal(SIGTERM)
    #expect(try gateway.process.waitForExit() == .code(0))
    #expect(truncate("\(gateway.directory.path)/cordon.db", 0) == 0)
    try gateway.restart()
    try gateway.waitForLog(warning)
    try gateway.restart()
    #expect(String(decoding: gateway.log, as: UTF8.self).components(separatedBy: warning).count == 2)
  }

  @Test(
    "Root in a folder of another account says so, and the account can open the store afterwards",
    .enabled(if: geteuid() == 0))
  func root() throws {
    let directory = try TemporaryDirectory()
    let folder = "\(directory.path)/store"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    #expect(chown(folder, 65_534, 65_534) == 0)
    var configuration = try configuration()
    configuration["store", "url"] = "\"sqlite:\(folder)/cordon.db\""
    let file = try configuration.install(in: directory)
    let gateway = try ServerProcess(Machine.binary("cordon"), ["run", "--config", file])
    defer { gateway.stop() }
    try gateway.waitForLine(containing: "running as root in a folder of another account")
    try gateway.waitForLine(containing: "cordon is ready")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(names.contains("cordon.db"), "\(names)")
    for name in names {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
      #expect(attributes[.ownerAccountID] as? Int == 65_534, "\(name)")
    }
  }

  @Test("The warnings of cordon check are in the log of a start, too")
  func warnings() throws {
    let directory = try TemporaryDirectory()
    var configuration = try configuration()
    configuration["listen", "trusted_proxies"] = "[\"0.0.0.0/0\"]"
    let file = try configuration.install(in: directory)
    let check = try ServerProcess.run(Machine.binary("cordon"), ["check", "--config", file])
    let gateway = try ServerProcess(Machine.binary("cordon"), ["run", "--config", file])
    defer { gateway.stop() }
    try gateway.waitForLine(containing: "cordon is ready")
    let logged = gateway.standardOutput.split(separator: "\n").filter { $0.contains("configuration warning") }
    #expect(logged.count == 1, "\(gateway.standardOutput)")
    let checked = (check.standardOutput + check.standardError).split(separator: "\n")
    let line = try #require(checked.first { $0.contains(": warning: ") }, "\(checked)")
    let place = try #require(line.components(separatedBy: ": warning: ").first)
    let problem = try #require(line.components(separatedBy: ": warning: ").last?.components(separatedBy: "; ").first)
    #expect(logged.first?.contains(place) == true && logged.first?.contains(problem) == true, "\(logged)")
  }

  @Test("Lines that are written after their reader has gone are counted as dropped")
  func readerGone() throws {
    let directory = try TemporaryDirectory()
    var configuration = try configuration()
    configuration["log", "access"] = "true"
    let file = try configuration.install(in: directory)
    // The reader ends with the first line.
    let command = "'\(try Machine.binary("cordon"))' run --config '\(file)' | head -n 1"
    let gateway = try ServerProcess("/bin/bash", ["-c", command], directory: directory.path)
    let admin = HTTPClient(port: configuration.adminPort)
    defer {
      if let pid = try? Self.pid(running: file) { kill(pid, SIGKILL) }
      gateway.stop()
    }
    try gateway.waitUntilReady("GET /livez answers 200") { try admin.get("/livez").status == 200 }
    let client = HTTPClient(port: configuration.port, host: GatewayConfiguration.host)
    try poll("the count of dropped bytes") { () throws -> Void? in
      _ = try client.get("/line")
      guard let count = try Metrics(admin).value("cordon_log_dropped_bytes_total"), count > 0 else { return nil }
      return ()
    }
  }

  /// The gateway of a configuration: the test knows the shell before it only.
  private static func pid(running file: String) throws -> pid_t? {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }.first { pid in
      let line = (try? String(contentsOfFile: "/proc/\(pid)/cmdline", encoding: .utf8)) ?? ""
      return line.contains(file) && line.contains("/cordon\0run\0")
    }
  }
}
