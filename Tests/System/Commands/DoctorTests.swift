import Foundation
import Testing

// `cordon doctor` and `cordon store reseal`, against the simulated Apple.
//
// - When all is well every line is ok, exit 0, nothing was changed and no store made.
// - Each thing that is wrong is told with what was seen and what to do; exit 1. Nothing else is called wrong for it.
// - A public_url that does not lead to the gateway is a warning, with what answers instead.
// - reseal moves every token to the first secret, while the gateway runs; then the old one can go.

@SystemActor
@Suite("The doctor, and resealing")
struct DoctorTests {
  private func doctor(_ gateway: GatewayProcess) throws -> (exit: ServerProcess.Exit, lines: [String]) {
    try doctor(gateway.file, in: gateway.directory)
  }

  private func doctor(
    _ file: String, in directory: TemporaryDirectory, environment: [String: String] = [:]
  ) throws -> (exit: ServerProcess.Exit, lines: [String]) {
    let result = try ServerProcess.run(
      Machine.binary("cordon"), ["doctor", "--config", file], environment: environment, directory: directory.path)
    #expect(result.standardError.isEmpty, "\(result.standardError)")
    return (result.exit, result.standardOutput.split(separator: "\n").map(String.init))
  }

  private func line(_ lines: [String], _ subject: String) -> String {
    lines.first { $0.dropFirst(6).hasPrefix(subject + " ") } ?? "no line about \(subject) in \(lines)"
  }

  /// Lines that are not ok.
  private func complaints(_ lines: [String]) -> [String] {
    lines.filter { $0.hasPrefix("warn") || $0.hasPrefix("FAIL") }
  }

  @Test("Every line of the report is ok when all is well, with a running gateway")
  func well() throws {
    let site = try Site()
    defer { site.stop() }
    _ = try site.signedIn()
    let result = try doctor(site.gateway)
    #expect(result.exit == .code(0), "\(result.lines)")
    #expect(complaints(result.lines) == [])
    for subject in [
      "configuration", "redirect URI", "apple key", "client secret", "key set", "clock", "credentials", "upstream",
      "public URL", "session keys", "store",
    ] {
      #expect(line(result.lines, subject).hasPrefix("ok"), "\(subject): \(line(result.lines, subject))")
    }
    #expect(line(result.lines, "clock").contains("agrees"))
    #expect(line(result.lines, "public URL").contains("\(site.origin) leads to a gateway"))
    #expect(line(result.lines, "store").contains("1 account, 1 session, 1 refresh token"))
    #expect(try site.apple.checks(of: "anna", kind: "refresh") == 0)
  }

  @Test("Each further host is asked whether it leads to public_url, and one that leads elsewhere is told")
  func hosts() throws {
    let site = try Site(adjust: {
      $0.ending = "[[host]]\nname = \"wiki.localhost:\($0.port)\"\n"
    })
    defer { site.stop() }
    let good = try doctor(site.gateway)
    #expect(good.exit == .code(0), "\(good.lines)")
    #expect(complaints(good.lines) == [])
    #expect(line(good.lines, "host").contains("leads to \(site.origin) to sign in"), "\(line(good.lines, "host"))")

    var wrong = site.gateway.configuration
    let free = try FreePort.take()
    wrong.ending += """
      [[host]]
      name = "elsewhere.localhost:\(site.upstream.port)"
      [[host]]
      name = "nobody.localhost:\(free)"

      """
    _ = try wrong.install(in: site.gateway.directory)
    let result = try doctor(site.gateway)
    #expect(result.exit == .code(1), "\(result.lines)")
    let told = complaints(result.lines)
    #expect(told.count == 2, "\(told)")
    #expect(told.contains { $0.hasPrefix("FAIL") && $0.contains("elsewhere.localhost") }, "\(told)")
    #expect(told.contains { $0.hasPrefix("warn") && $0.contains("nobody.localhost") }, "\(told)")
  }

  @Test("A public_url that leads elsewhere is a warning that says what answered instead, and what to do")
  func publicURL() throws {
    let site = try Site()
    defer { site.stop() }
    let other = try RawUpstream { request, connection in
      switch request.fields["Host"] ?? "" {
      case let host where host.hasPrefix("proxy."):
        try connection.send(RawUpstream.response("502 Bad Gateway", fields: ["Server: front"], body: "no"))
      case let host where host.hasPrefix("moved."):
        try connection.send(RawUpstream.response("301 Moved", fields: ["Location: http://elsewhere.test/"]))
      default: try RawUpstream.greet(request, connection)
      }
    }
    defer { other.stop() }
    let free = try FreePort.take()
    // The gateway goes on with its own configuration.
    func seen(_ origin: String, prefix: String = "/.auth") throws -> String {
      var configuration = site.gateway.configuration
      configuration["", "public_url"] = "\"\(origin)\""
      configuration["", "path_prefix"] = "\"\(prefix)\""
      _ = try configuration.install(in: site.gateway.directory)
      let told = line(try doctor(site.gateway).lines, "public URL")
      #expect(told.hasPrefix("warn"), "\(told)")
      return told
    }
    let stranger = try seen("http://app.localhost:\(other.port)")
    #expect(stranger.contains("answers 200, which is no answer of a gateway"), "\(stranger)")
    // It has got nothing that it could use, and was not asked again.
    let requests = other.requests
    #expect(requests.map(\.target) == ["/.auth/account"])
    #expect(requests.allSatisfy { !$0.fields.contains("Cookie") && !$0.fields.contains("Authorization") })

    let proxy = try seen("http://proxy.localhost:\(other.port)")
    #expect(proxy.contains("502 (Server: front)") && proxy.contains("start the gateway"), "\(proxy)")
    let moved = try seen("http://moved.localhost:\(other.port)")
    #expect(moved.contains("redirects to http://elsewhere.test/"), "\(moved)")
    let host = try seen("http://other.localhost:\(site.gateway.configuration.port)")
    #expect(host.contains("not for the host other.localhost") && host.contains("forward Host unchanged"), "\(host)")
    let prefix = try seen(site.origin, prefix: "/elsewhere")
    #expect(prefix.contains("it signs in at /.auth/sign-in"), "\(prefix)")
    let nobody = try seen("http://app.localhost:\(free)")
    #expect(nobody.contains("was not reached") && nobody.contains("start the gateway and run doctor"), "\(nobody)")
  }

  @Test("A proxy before public_url is in order if it changes nothing, not if it changes the path or Host")
  func proxyInFront() throws {
    let frontPort = try FreePort.take()
    let site = try Site(adjust: {
      $0["", "public_url"] = "\"http://app.localhost:\(frontPort)\""
      $0["listen", "hosts"] = "[\"alias.localhost\"]"
    })
    defer { site.stop() }
    let port = site.gateway.configuration.port
    let changed = Watched("nothing")
    let front = try RawUpstream(port: frontPort) { request, connection in
      let target = changed.current == "path" ? String(request.target.dropFirst("/.auth".count)) : request.target
      let host = changed.current == "host" ? "alias.localhost" : request.fields["Host"] ?? ""
      let back = try TCPConnection(port: port)
      defer { back.close() }
      try back.send("GET \(target) HTTP/1.1\r\nHost: \(host)\r\nAccept: application/json\r\n\r\n")
      let answer = try HTTPResponse.read(from: back)
      let fields = answer.location.map { ["Location: \($0)"] } ?? []
      try connection.send(RawUpstream.response("\(answer.status) Answer", fields: fields, body: answer.text))
    }
    defer { front.stop() }
    for (change, status, words) in [
      ("nothing", "ok", "leads to a gateway"), ("path", "warn", "as it answers another path: 401"),
      ("host", "warn", "redirects to itself"),
    ] {
      changed.update { $0 = change }
      let told = line(try doctor(site.gateway).lines, "public URL")
      #expect(told.hasPrefix(status) && told.contains(words), "\(told)")
    }
  }

  @Test("A FastCGI server behind upstream.url is recognized by its answer, and told with the remedy")
  func fastCGI() throws {
    let port = try FreePort.take()
    let server = try ServerProcess(
      Machine.program("python3", package: "python3"),
      [
        "-c",
        """
        import socket, sys
        server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
        print("listening", flush=True)
        while True:
          client = server.accept()[0]
          data = b""
          while len(data) < 8 or len(data) < 8 + data[4] * 256 + data[5] + data[6]:
            more = client.recv(4096)
            if not more: break
            data += more
          if data[:2] == bytes([1, 9]) and b"FCGI_MPXS_CONNS" in data:
            client.sendall(bytes([1, 10, 0, 0, 0, 18, 6, 0, 15, 1]) + b"FCGI_MPXS_CONNS" + b"0" + bytes(6))
          client.close()
        """, "\(port)",
      ])
    defer { server.stop() }
    try server.waitForLine(containing: "listening")
    let site = try Site(adjust: { $0["upstream", "url"] = "\"http://127.0.0.1:\(port)\"" })
    defer { site.stop() }
    let result = try doctor(site.gateway)
    #expect(result.exit == .code(1), "\(result.lines)")
    let told = complaints(result.lines)
    #expect(told.count == 1, "\(told)")
    #expect(told.first?.contains("http://127.0.0.1:\(port) speaks FastCGI, not HTTP") == true, "\(told)")
    #expect(result.lines.joined().contains("fastcgi_pass"), "\(result.lines)")
  }

  @Test(
    "An application that speaks TLS behind http:, or HTTP behind https:, is told with the remedy",
    arguments: [
      ("http", "15030300020246", "speaks TLS, not HTTP in cleartext", "write https: in upstream.url"),
      (
        "https", "485454502f312e31203430302042616420526571756573740d0a0d0a", "the peer does not speak TLS",
        "write http: in upstream.url"
      ),
    ])
  func otherScheme(scheme: String, answer: String, seen: String, remedy: String) throws {
    let port = try FreePort.take()
    // Answers a TLS handshake, with an alert or with an error of HTTP, and nothing else.
    let server = try ServerProcess(
      Machine.program("python3", package: "python3"),
      [
        "-c",
        """
        import socket, sys
        server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
        print("listening", flush=True)
        while True:
          client = server.accept()[0]
          if client.recv(4096)[:1] == bytes([22]): client.sendall(bytes.fromhex(sys.argv[2]))
          client.close()
        """, "\(port)", answer,
      ])
    defer { server.stop() }
    try server.waitForLine(containing: "listening")
    let site = try Site(adjust: { $0["upstream", "url"] = "\"\(scheme)://127.0.0.1:\(port)\"" })
    defer { site.stop() }
    let result = try doctor(site.gateway)
    #expect(result.exit == .code(1), "\(result.lines)")
    let told = complaints(result.lines)
    #expect(told.count == 1, "\(told)")
    #expect(told.first?.contains("\(scheme)://127.0.0.1:\(port)") == true, "\(told)")
    #expect(told.first?.contains(seen) == true && told.first?.contains(remedy) == true, "\(told)")
  }

  @Test("An unknown key ID is Apple's refusal, told as that, and nothing else is called wrong")
  func wrongKey() throws {
    let site = try Site()
    defer { site.stop() }
    var wrong = site.gateway.configuration
    wrong["apple", "key_id"] = "\"ZZZ999ZZZZ\""
    _ = try wrong.install(in: site.gateway.directory)
    let result = try doctor(site.gateway)
    #expect(result.exit == .code(1))
    #expect(complaints(result.lines).count == 1, "\(result.lines)")
    #expect(line(result.lines, "credentials").contains("invalid_client"))
    #expect(line(result.lines, "credentials").contains("apple.key_id"))
  }

  @Test("Each native client ID is tried, and one that Apple does not know is told by its name, the key left in peace")
  func nativeClients() throws {
    let site = try Site(adjust: { $0["apple", "native_client_ids"] = "[\"com.example.app\", \"com.example.unknown\"]" })
    defer { site.stop() }
    let result = try doctor(site.gateway)
    #expect(result.exit == .code(1))
    #expect(complaints(result.lines).count == 1, "\(result.lines)")
    let complaint = try #require(complaints(result.lines).first)
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
    let result = try doctor(site.gateway)
    #expect(result.exit == .code(1))
    #expect(complaints(result.lines).count == 1, "\(result.lines)")
    let complaint = try #require(complaints(result.lines).first)
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
    let result = try doctor(site.gateway)
    #expect(result.exit == .code(1) && complaints(result.lines).count == 1, "\(result.lines)")
    #expect(line(result.lines, "credentials").contains("invalid_client"))
    #expect(line(result.lines, "credentials").contains("apple.\(key)"))
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
    let result = try doctor(site.gateway)
    #expect(result.exit == .code(1))
    let complaints = complaints(result.lines)
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
    let result = try doctor(configuration.install(in: directory), in: directory)
    // A missing folder and another file are warnings of check, too.
    let failures = complaints(result.lines).filter { $0.hasPrefix("FAIL") }
    #expect(result.exit == .code(1) && failures.count == 1, "\(result.lines)")
    #expect(line(result.lines, "store").hasPrefix("FAIL"))
  }

  @Test("A clock that is wrong is seen by Apple's own date")
  func wrongClock() throws {
    let site = try Site()
    defer { site.stop() }
    for (seconds, status, words) in [(600, "FAIL", "ahead of"), (-600, "FAIL", "behind"), (30, "warn", "ahead of")] {
      let clock = try FakeClock()
      try clock.set(secondsAhead: seconds)
      let result = try doctor(site.gateway.file, in: site.gateway.directory, environment: clock.environment)
      #expect(line(result.lines, "clock").hasPrefix(status), "\(result.lines)")
      #expect(line(result.lines, "clock").contains("\(words) Apple's"))
      if status == "FAIL" { #expect(result.exit == .code(1)) }
    }
  }

  @Test("An https: application that cannot be reached is told with the keys about its certificate")
  func awayWithTLS() throws {
    let directory = try TemporaryDirectory()
    let (app, apple) = (try FreePort.take(), try FreePort.take())
    let configuration = try GatewayConfiguration(
      upstream: "https://127.0.0.1:\(app)", apple: "http://127.0.0.1:\(apple)")
    let result = try doctor(configuration.install(in: directory), in: directory)
    let told = line(result.lines, "upstream")
    #expect(told.hasPrefix("FAIL") && told.contains("upstream.tls_ca_file"), "\(told)")
  }

  @Test("Of several applications that are away each is told in the order of the file, with the key of its own address")
  func severalAway() throws {
    let directory = try TemporaryDirectory()
    let ports = try (0..<5).map { _ in try FreePort.take() }
    var configuration = try GatewayConfiguration(
      upstream: "http://127.0.0.1:\(ports[0])", apple: "http://127.0.0.1:\(ports[1])")
    configuration.ending = """
      [[upstreams]]
      name = "wiki"
      url = "http://127.0.0.1:\(ports[2])"
      [[upstreams]]
      name = "shop"
      urls = ["http://127.0.0.1:\(ports[3])", "http://127.0.0.1:\(ports[4])"]

      """
    let result = try doctor(configuration.install(in: directory), in: directory)
    let told = result.lines.filter { $0.hasPrefix("FAIL") && $0.contains("start the application, or correct ") }
    #expect(told.count == 4, "\(result.lines)")
    for (line, (port, key)) in zip(
      told,
      [
        (ports[0], "upstream.url"), (ports[2], "url of [[upstreams]] \"wiki\""),
        (ports[3], "urls of [[upstreams]] \"shop\""), (ports[4], "urls of [[upstreams]] \"shop\""),
      ])
    {
      #expect(line.contains("http://127.0.0.1:\(port): ") && line.hasSuffix("correct \(key)"), "\(line)")
    }
  }

  @Test("An application and an Apple that are away are told, and no store is made by looking")
  func away() throws {
    let directory = try TemporaryDirectory()
    let (app, apple) = (try FreePort.take(), try FreePort.take())
    let configuration = try GatewayConfiguration(
      upstream: "http://127.0.0.1:\(app)", apple: "http://127.0.0.1:\(apple)")
    let result = try doctor(configuration.install(in: directory), in: directory)
    #expect(result.exit == .code(1))
    #expect(complaints(result.lines).count == 3, "\(result.lines)")
    #expect(line(result.lines, "key set").hasPrefix("FAIL"))
    // The gateway does not run yet.
    #expect(line(result.lines, "public URL").hasPrefix("warn"))
    #expect(line(result.lines, "upstream").contains("start the application"))
    #expect(line(result.lines, "store").contains("none yet"))
    #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/cordon.db"))
    // The file of a running gateway was moved away.
    try directory.write("", to: "cordon.db-wal")
    let gone = try doctor("\(directory.path)/gateway.conf", in: directory)
    #expect(line(gone.lines, "store").hasPrefix("FAIL") && line(gone.lines, "store").contains("put the store back"))
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
    let own = try doctor(file, in: directory)
    #expect(!own.lines.contains { $0.contains("runuser") }, "\(own.lines)")
    #expect(chown(folder, 65_534, 65_534) == 0)
    let result = try doctor(file, in: directory)
    let told = line(result.lines, "account")
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
      let result = try doctor(file, in: directory, environment: clock.environment)
      #expect(line(result.lines, "certificate").hasPrefix(status), "\(days): \(result.lines)")
    }
    let checked = try ServerProcess.run(
      Machine.binary("cordon"), ["check", "--config", file], environment: clock.environment, directory: directory.path)
    #expect(checked.exit == .code(0) && checked.standardOutput.contains("the certificate expires soon; renew it"))
    // What check warns of is told here, too.
    configuration["", "public_url"] = "\"https://other.example:\(configuration.port)\""
    let other = try directory.write(configuration.text, to: "other.conf")
    let warned = try doctor(other, in: directory)
    #expect(line(warned.lines, "configuration").hasPrefix("ok"))
    #expect(complaints(warned.lines).contains { $0.contains("no certificate lists the host of public_url") })
    let process = try ServerProcess(
      Machine.binary("cordon"), ["run", "--config", file], environment: clock.environment, directory: directory.path)
    defer { process.stop() }
    try process.waitForLine(containing: "cordon is ready")
    try process.waitForLine(containing: "the certificate expires soon")
    let health = try HTTPClient(port: configuration.adminPort).get("/healthz")
    #expect(health.status == 200 && health.text.contains("\"name\":\"certificate\",\"status\":\"failing\""))
  }

  @Test("reseal moves every token to the first secret while the gateway runs, and then the old secret can go")
  func reseal() throws {
    let site = try Site()
    defer { site.stop() }
    let anna = try site.signedIn()
    _ = try site.signedIn(as: "ben")
    let directory = site.gateway.directory
    try directory.write("the second secret of the tests, long enough to be one", to: "new.key")
    var both = site.gateway.configuration
    both["session", "secret_files"] = "[\"new.key\", \"session.key\"]"
    try site.gateway.restart(with: both)

    // A browser that asks who it is gets its cookie again, by the new secret; after that, never again.
    let old = try #require(anna.jar["__Host-cordon"])
    #expect(try anna.fetch(site.own("session")).status == 200)
    let renewed = try #require(anna.jar["__Host-cordon"])
    #expect(renewed != old)
    #expect(try anna.fetch(site.own("session")).fields["Set-Cookie"] == nil)

    #expect(line(try doctor(site.gateway).lines, "store").contains("cordon store reseal"))
    let command = ["store", "reseal", "--config", site.gateway.file]
    let first = try ServerProcess.run(Machine.binary("cordon"), command, directory: directory.path)
    #expect(first.exit == .code(0), "\(first.standardError)")
    #expect(first.standardOutput.contains("2 refresh tokens are now sealed"))
    let second = try ServerProcess.run(Machine.binary("cordon"), command, directory: directory.path)
    #expect(second.standardOutput.contains("already"))

    var bare = both
    bare["session", "secret_files"] = "[\"new.key\"]"
    try site.gateway.restart(with: bare)
    #expect(try anna.fetch(site.own("session")).status == 200)
    let stranger = try site.gateway.client.get("/.auth/session", fields: [("Cookie", "__Host-cordon=\(old)")])
    #expect(stranger.status == 401)
  }
}
