import Foundation
import TemporaryDirectoryTesting
import Testing

// Files that cannot be read for a while: on a mount that does not answer, or while the system has no descriptors left.
//
// - A mount that hangs stops nothing but the watch of its files, is told, and is over when it answers.
// - A reload that hangs does not keep the gateway from ending.
// - A start that cannot read a file at that moment ends with a status after which service managers try again.
// - A certificate and its key may be in the middle of their replacement at a start.
// - A renewed certificate that cannot be opened at that moment is used as soon as it can be.

@SystemActor
@Suite("Files that cannot be read for a while")
struct FaultyFileTests {
  /// A gateway that lets everybody in, and for which some of its files can be in trouble.
  /// - Parameter part: of the paths of these files.
  private func gateway(
    _ part: String, before upstream: RawUpstream, adjust: (inout GatewayConfiguration) throws -> Void = { _ in }
  ) throws -> (GatewayProcess, FaultyFiles) {
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:\(upstream.port)")
    configuration["log", "format"] = "\"json\""
    configuration.ending = GatewayConfiguration.everythingPublic
    try adjust(&configuration)
    let files = try FaultyFiles(part)
    return (try GatewayProcess(configuration, environment: files.environment), files)
  }

  @Test("A mount that hangs stops nothing but the watch of its files, on one processor, too; and it is told")
  func mount() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    try folder.directory.write("001.anna\n", to: "staff.txt")
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:\(upstream.port)")
    configuration["log", "format"] = "\"json\""
    configuration.ending = """
      [[group]]
      name = "staff"
      members_file = "\(folder.path)/staff.txt"
      [[upstreams]]
      name = "other"
      url = "https://127.0.0.1:9"
      tls_ca_file = "\(folder.path)/ca.pem"
      [[route]]
      path = "/"
      access = "public"
      [[route]]
      path = "/other/"
      access = "public"
      upstream = "other"

      """
    let files = try FaultyFiles("\(folder.path)/")
    let gateway = try GatewayProcess(configuration, environment: files.environment, wrapper: .oneProcessor())
    defer { gateway.stop() }
    func health() throws -> String { try gateway.admin.get("/healthz").text }
    try files.set(.hangs)
    try files.waitUntilMet()
    let line = try gateway.process.waitForLine(containing: "the file system does not answer")
    #expect(line.contains("\(folder.path)/") && line.contains("remedy"), "\(line)")
    #expect(try health().contains("\"files\""))
    #expect(try gateway.admin.get("/readyz").status == 200)
    #expect(try gateway.client.get("/").status == 200)
    try folder.directory.write("001.anna\n002.ben\n", to: "staff.txt")
    try files.set(nil)
    try gateway.process.waitForLine(containing: "the file system answers again")
    #expect(try !health().contains("\"files\""))
    try gateway.process.waitForLine(containing: "group members reloaded")

    try files.set(.hangs)
    try files.waitUntilMet()
    gateway.process.signal(SIGTERM)
    #expect(try gateway.process.waitForExit() == .code(0))
  }

  @Test("A reload that reads a file which hangs does not keep the gateway from ending", arguments: [1, 2])
  func end(signals: Int) throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let (gateway, files) = try gateway("/session.key", before: upstream)
    defer { gateway.stop() }
    try files.set(.hangs)
    gateway.process.signal(SIGHUP)
    try files.waitUntilMet()
    for _ in 0..<signals {
      gateway.process.signal(SIGTERM)
      try gateway.process.waitForLine(containing: "shutting down")
    }
    #expect(try gateway.process.waitForExit() == .code(0))
  }

  @Test(
    "A start that cannot read a file because of the machine exits 1, and 78 where the file is the cause",
    arguments: ["gateway.conf", "session.key", "AuthKey.p8"])
  func start(name: String) throws {
    let directory = try TemporaryDirectory()
    let configuration = try GatewayConfiguration()
    let file = try configuration.install(in: directory)
    let files = try FaultyFiles("/\(name)")
    for (error, status) in [(ENFILE, 1), (EIO, 1), (ESTALE, 1), (ENOMEM, 1), (EACCES, 78)] as [(Int32, Int32)] {
      try files.set(.fails(error))
      let started = try ServerProcess.run(
        Machine.binary("cordon"), ["run", "--config", file], environment: files.environment)
      #expect(started.exit == .code(status), "\(started)")
      #expect(started.standardError.contains(String(cString: strerror(error))), "\(started)")
      #expect(started.standardError.contains("cannot be read now") == (status == 1), "\(started)")
    }
  }

  @Test("A start in the middle of the replacement of a certificate and its key waits for the second one")
  func pair() throws {
    let folder = try TLSFolder()
    var configuration = try GatewayConfiguration()
    folder.configure(&configuration)
    try folder.replace("one.key", by: "new.key")
    let file = try configuration.install(in: folder.directory)
    let refused = try ServerProcess.run(Machine.binary("cordon"), ["run", "--config", file])
    #expect(refused.exit == .code(78) && refused.standardError.contains("does not belong to"), "\(refused)")
    let process = try ServerProcess(Machine.binary("cordon"), ["run", "--config", file], directory: folder.path)
    defer { process.stop() }
    usleep(500_000)
    try folder.replace("one.pem", by: "new.pem")
    let admin = HTTPClient(port: configuration.adminPort)
    try process.waitUntilReady("GET /readyz answers 200") { try admin.get("/readyz").status == 200 }
  }

  @Test(
    "A renewed certificate that cannot be opened at that moment is used as soon as it can be, and logged once",
    arguments: [ENFILE, EIO])
  func renewal(error: Int32) throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    let (gateway, files) = try gateway("/one.pem", before: upstream) { folder.configure(&$0) }
    defer { gateway.stop() }
    try files.set(.fails(error))
    try folder.replaceCertificate("one", by: "new")
    let refused = "certificate reload failed, keeping the previous certificates"
    let line = try gateway.process.waitForLine(containing: refused)
    #expect(line.contains("tls_file_read_failed") && line.contains("one.pem"), "\(line)")
    func failures() throws -> Double {
      try #require(try Metrics(gateway).value("cordon_tls_certificate_reloads_total{outcome=\"failure\"}"))
    }
    try poll("another attempt") { try failures() >= 2 ? () : nil }
    try files.set(nil)
    try folder.run(
      """
      within(50, lambda: "new.test" in names(connect(int(sys.argv[1]), "localhost", context())))
      print("ok")
      """, ["\(gateway.configuration.port)"])
    #expect(String(decoding: gateway.log, as: UTF8.self).components(separatedBy: refused).count == 2)
    try poll("health without a failure") { try gateway.admin.get("/healthz").text.contains("failing") ? nil : () }
  }
}
