import Foundation
import TemporaryDirectoryTesting
import Testing

// `cordon doctor`, against the simulated Apple.
//
// - When all is well every line is ok, exit 0, nothing was changed and no store made.
// - Each thing that is wrong is told with what was seen and what to do; exit 1. Nothing else is called wrong for it.

@SystemActor
@Suite("The doctor")
struct DoctorTests {
  @Test("Every line of the report is ok when all is well, with a running gateway")
  func well() throws {
    let site = try Site()
    defer { site.stop() }
    _ = try site.signedIn()
    let result = try DoctorReport(of: site.gateway)
    #expect(result.exit == .code(0), "\(result.lines)")
    #expect(result.complaints == [])
    for subject in [
      "configuration", "redirect URI", "apple key", "client secret", "key set", "clock", "credentials", "upstream",
      "public URL", "session keys", "store",
    ] {
      #expect(result.line(subject).hasPrefix("ok"), "\(subject): \(result.line(subject))")
    }
    #expect(result.line("clock").contains("agrees"))
    #expect(result.line("public URL").contains("\(site.origin) leads to a gateway"))
    #expect(result.line("store").contains("1 account, 1 session, 1 refresh token"))
    #expect(try site.apple.checks(of: "anna", kind: "refresh") == 0)
  }

  @Test("An unknown key ID is Apple's refusal, told as that, and nothing else is called wrong")
  func wrongKey() throws {
    let site = try Site()
    defer { site.stop() }
    var wrong = site.gateway.configuration
    wrong["apple", "key_id"] = "\"ZZZ999ZZZZ\""
    _ = try wrong.install(in: site.gateway.directory)
    let result = try DoctorReport(of: site.gateway)
    #expect(result.exit == .code(1))
    #expect(result.complaints.count == 1, "\(result.lines)")
    #expect(result.line("credentials").contains("invalid_client"))
    #expect(result.line("credentials").contains("apple.key_id"))
  }

  @Test("Each native client ID is tried, and one that Apple does not know is told by its name, the key left in peace")
  func nativeClients() throws {
    let site = try Site(adjust: { $0["apple", "native_client_ids"] = "[\"com.example.app\", \"com.example.unknown\"]" })
    defer { site.stop() }
    let result = try DoctorReport(of: site.gateway)
    #expect(result.exit == .code(1))
    #expect(result.complaints.count == 1, "\(result.lines)")
    let complaint = try #require(result.complaints.first)
    #expect(complaint.contains("com.example.unknown: Apple answered invalid_client"))
    #expect(complaint.contains("team and key are good") && !complaint.contains("apple.key_id"))
    #expect(result.lines.contains { $0.hasPrefix("ok") && $0.contains("Apple accepts com.example.app ") })
  }

  @Test("A Services ID that Apple does not know is told by its name, where an App ID shows that team and key are good")
  func servicesID() throws {
    let site = try Site(adjust: { $0["apple", "native_client_ids"] = "[\"com.example.app\"]" })
    defer { site.stop() }
    var wrong = site.gateway.configuration
    wrong["apple", "client_id"] = "\"com.example.wrong\""
    _ = try wrong.install(in: site.gateway.directory)
    let result = try DoctorReport(of: site.gateway)
    #expect(result.exit == .code(1))
    #expect(result.complaints.count == 1, "\(result.lines)")
    let complaint = try #require(result.complaints.first)
    #expect(complaint.contains("com.example.wrong: Apple answered invalid_client"))
    #expect(complaint.contains("team and key are good") && complaint.contains("apple.client_id"))
    #expect(!complaint.contains("apple.key_id") && !complaint.contains("native_client_ids"))
  }

  @Test(
    "A key file that holds no P-256 key in PEM, or that everybody may read, is told before anything is asked",
    arguments: ["garbage", "P-384", "open"])
  func keyFile(how: String) throws {
    let directory = try TemporaryDirectory()
    let configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:9", apple: "http://127.0.0.1:9")
    let file = try configuration.install(in: directory)
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    let key = "\(directory.path)/\(try #require(names.first { $0.hasSuffix(".p8") }))"
    switch how {
    case "garbage": try Data("no key".utf8).write(to: URL(filePath: key))
    case "P-384":
      let made = try ServerProcess.run(
        Machine.program("openssl", package: "openssl"),
        ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384", "-out", key])
      #expect(made.exit == .code(0), "\(made.standardError)")
    default: try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
    }
    if how != "open" { try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key) }
    let result = try ServerProcess.run(
      Machine.binary("cordon"), ["doctor", "--config", file], directory: directory.path)
    let said = result.standardOutput + result.standardError
    #expect(result.exit == .code(78), "\(said)")
    #expect(said.contains("apple.private_key_file") && said.contains(how == "open" ? "chmod" : "AuthKey_"), "\(said)")
  }

  @Test(
    "A wrong team is Apple's refusal too", arguments: [("team_id", "XYZ999XYZ9"), ("client_id", "com.example.wrong")])
  func wrongRegistration(key: String, value: String) throws {
    let site = try Site()
    defer { site.stop() }
    var wrong = site.gateway.configuration
    wrong["apple", key] = "\"\(value)\""
    _ = try wrong.install(in: site.gateway.directory)
    let result = try DoctorReport(of: site.gateway)
    #expect(result.exit == .code(1) && result.complaints.count == 1, "\(result.lines)")
    #expect(result.line("credentials").contains("invalid_client"))
    #expect(result.line("credentials").contains("apple.\(key)"))
  }

  @Test(
    "Trouble at Apple is told as that, once, with what came instead",
    arguments: [
      ("keys", "empty-key-set", "key set"), ("keys", "html", "key set"), ("keys", "endless-json", "key set"),
      ("keys", "status", "key set"), ("keys", "cut", "key set"), ("token", "html", "credentials"),
      ("token", "status", "credentials"), ("token", "deep-json", "credentials"), ("token", "cut", "credentials"),
      ("token", "empty", "credentials"),
    ])
  func appleTrouble(endpoint: String, kind: String, subject: String) throws {
    let site = try Site(adjust: { $0["apple", "native_client_ids"] = "[\"com.example.app\"]" })
    defer { site.stop() }
    try site.apple.fault(endpoint, kind)
    let result = try DoctorReport(of: site.gateway)
    #expect(result.exit == .code(1))
    let complaints = result.complaints
    #expect(complaints.count == 1 && complaints[0].dropFirst(6).hasPrefix(subject), "\(result.lines)")
    #expect(complaints[0].contains("; "), "with what to do")
  }

  @Test(
    "A store that cannot be made, opened or written is told with what to do",
    arguments: ["folder", "no database", "foreign database"])
  func storeTrouble(how: String) throws {
    let directory = try TemporaryDirectory()
    let site = try Site()
    defer { site.stop() }
    var configuration = site.gateway.configuration
    switch how {
    case "folder": configuration["store", "url"] = "\"sqlite:nowhere/cordon.db\""
    case "no database":
      try directory.write(
        "this is no database, and long enough to be one of a hundred bytes " + String(repeating: "x", count: 200),
        to: "cordon.db")
    default:
      _ = try ServerProcess.run(
        Machine.program("python3", package: "python3"),
        ["-c", "import sqlite3; d = sqlite3.connect('cordon.db'); d.execute('create table x(y)'); d.commit()"],
        directory: directory.path)
    }
    let result = try DoctorReport(configuration.install(in: directory), in: directory)
    // A missing folder and another file are warnings of check, too.
    let failures = result.complaints.filter { $0.hasPrefix("FAIL") }
    #expect(result.exit == .code(1) && failures.count == 1, "\(result.lines)")
    #expect(result.line("store").hasPrefix("FAIL"))
  }

  @Test("A clock that is wrong is seen by Apple's own date")
  func wrongClock() throws {
    let site = try Site()
    defer { site.stop() }
    for (seconds, status, words) in [(600, "FAIL", "ahead of"), (-600, "FAIL", "behind"), (30, "warn", "ahead of")] {
      let clock = try FakeClock()
      try clock.set(secondsAhead: seconds)
      let result = try DoctorReport(site.gateway.file, in: site.gateway.directory, environment: clock.environment)
      #expect(result.line("clock").hasPrefix(status), "\(result.lines)")
      #expect(result.line("clock").contains("\(words) Apple's"))
      if status == "FAIL" { #expect(result.exit == .code(1)) }
    }
  }

  @Test("An application and an Apple that are away are told, and no store is made by looking")
  func away() throws {
    let directory = try TemporaryDirectory()
    let (app, apple) = (try FreePort.take(), try FreePort.take())
    let configuration = try GatewayConfiguration(
      upstream: "http://127.0.0.1:\(app)", apple: "http://127.0.0.1:\(apple)")
    let result = try DoctorReport(configuration.install(in: directory), in: directory)
    #expect(result.exit == .code(1))
    #expect(result.complaints.count == 3, "\(result.lines)")
    #expect(result.line("key set").hasPrefix("FAIL"))
    #expect(result.line("key set").contains("start the simulated Apple there (apple-simulator)"))
    // The gateway does not run yet.
    #expect(result.line("public URL").hasPrefix("warn"))
    #expect(result.line("upstream").contains("start the application"))
    #expect(result.line("store").contains("none yet"))
    #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/cordon.db"))
    // The file of a running gateway was moved away.
    try directory.write("", to: "cordon.db-wal")
    let gone = try DoctorReport("\(directory.path)/gateway.conf", in: directory)
    #expect(gone.line("store").hasPrefix("FAIL") && gone.line("store").contains("put the store back"))
  }

  @Test(
    "Root is told to look as the account of the store's folder, whose files root can read and it may not",
    .enabled(if: geteuid() == 0))
  func account() throws {
    let directory = try TemporaryDirectory()
    let folder = "\(directory.path)/store"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:9", apple: "http://127.0.0.1:9")
    configuration["store", "url"] = "\"sqlite:\(folder)/cordon.db\""
    let file = try configuration.install(in: directory)
    let own = try DoctorReport(file, in: directory)
    #expect(!own.lines.contains { $0.contains("runuser") }, "\(own.lines)")
    #expect(chown(folder, 65_534, 65_534) == 0)
    let result = try DoctorReport(file, in: directory)
    let told = result.line("account")
    #expect(told.hasPrefix("warn") && told.contains(folder) && told.contains("runuser -u "), "\(result.lines)")
    // The other one is that the gateway does not run yet.
    #expect(result.lines.last?.contains("2 warnings") == true, "\(result.lines)")
  }

  @Test("A certificate that expires soon is a warning, one that has expired a failure; the running gateway says so too")
  func certificate() throws {
    let directory = try TemporaryDirectory()
    let made = try ServerProcess.run(
      Machine.program("openssl", package: "openssl"),
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost",
        "-days", "100", "-keyout", "tls.key", "-out", "tls.pem",
      ], directory: directory.path)
    #expect(made.exit == .code(0), "\(made.standardError)")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(directory.path)/tls.key")
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:9", apple: "http://127.0.0.1:9")
    configuration["", "public_url"] = "\"https://localhost:\(configuration.port)\""
    configuration["listen", "tls_certificate_file"] = "\"tls.pem\""
    configuration["listen", "tls_private_key_file"] = "\"tls.key\""
    let file = try configuration.install(in: directory)
    let clock = try FakeClock()
    for (days, status) in [(0, "ok"), (101, "FAIL"), (97, "warn")] {
      try clock.set(secondsAhead: days * 86_400)
      let result = try DoctorReport(file, in: directory, environment: clock.environment)
      #expect(result.line("certificate").hasPrefix(status), "\(days): \(result.lines)")
    }
    let checked = try ServerProcess.run(
      Machine.binary("cordon"), ["check", "--config", file], environment: clock.environment, directory: directory.path)
    #expect(checked.exit == .code(0) && checked.standardOutput.contains("the certificate expires soon; renew it"))
    // What check warns of is told here, too.
    configuration["", "public_url"] = "\"https://other.example:\(configuration.port)\""
    let other = try directory.write(configuration.text, to: "other.conf")
    let warned = try DoctorReport(other, in: directory)
    #expect(warned.line("configuration").hasPrefix("ok"))
    #expect(warned.complaints.contains { $0.contains("no certificate lists the host of public_url") })
    let process = try ServerProcess(
      Machine.binary("cordon"), ["run", "--config", file], environment: clock.environment, directory: directory.path)
    defer { process.stop() }
    try process.waitForLine(containing: "cordon is ready")
    try process.waitForLine(containing: "the certificate expires soon")
    let health = try HTTPClient(port: configuration.adminPort).get("/healthz")
    #expect(health.status == 200 && health.text.contains("\"name\":\"certificate\",\"status\":\"failing\""))
  }
}
