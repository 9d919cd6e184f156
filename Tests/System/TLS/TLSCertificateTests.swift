import Foundation
import TemporaryDirectoryTesting
import Testing

// Certificates, keys and tickets of the listener, from outside.
//
// - A session that began on one replica is resumed on another with the same ticket keys, and on no other; keys rotate.
// - Clients must or may show a certificate, as the configuration says.
// - A changed certificate is shown to new connections, the old ones go on; a broken one is not taken, which is told. By
//   the change of a file, and by a signal.
// - A key that others may read is refused.

@SystemActor
@Suite("Certificates and tickets")
struct TLSCertificateTests {
  private static let ticketKeys = ["first---", "second--"].map { String(repeating: $0, count: 10) }

  @Test("A session that began on one replica is resumed on another with the same ticket keys, and on no other")
  func replicas() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    try folder.directory.write(Self.ticketKeys[0], to: "ticket.key")
    let keys = "[\"\(folder.path)/ticket.key\"]"
    let gateways = try [keys, keys, nil].map { keys in
      try folder.gateway(before: upstream) { $0["listen", "tls_ticket_key_files"] = keys }
    }
    defer { for gateway in gateways { gateway.stop() } }
    try folder.run(
      """
      ports = [int(p) for p in sys.argv[1:]]
      for version in BOTH:
        c = context(version)
        first = connect(ports[0], "localhost", c)
        get(first, "localhost")
        assert not first.session_reused
        second = connect(ports[1], "localhost", c, first.session)
        assert get(second, "localhost")[0] == 200 and second.session_reused, version
        third = connect(ports[2], "localhost", c, first.session)
        assert get(third, "localhost")[0] == 200 and not third.session_reused, version
        again = connect(ports[2], "localhost", c, third.session)
        assert get(again, "localhost")[0] == 200 and again.session_reused, version
      print("ok")
      """, gateways.map { "\($0.configuration.port)" })
  }

  @Test("A ticket key put in front makes the new tickets; those of the old one are taken until it is dropped")
  func rotation() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    for (name, key) in zip(["a", "b"], Self.ticketKeys) { try folder.directory.write(key, to: "\(name).key") }
    let gateway = try folder.gateway(before: upstream) {
      $0["listen", "tls_ticket_key_files"] = "[\"\(folder.path)/a.key\"]"
    }
    defer { gateway.stop() }
    try folder.run(
      """
      port, admin, pid, config, folder = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5]
      def apply(files, count):
        lines = open(config).read().split("\\n")
        place = [i for i, l in enumerate(lines) if l.startswith("tls_ticket_key_files")][0]
        lines[place] = f"tls_ticket_key_files = {[folder + '/' + f for f in files]}".replace("'", '"')
        open(config, "w").write("\\n".join(lines))
        os.kill(pid, signal.SIGHUP)
        done = f'cordon_config_reloads_total{{result="ok"}} {count}'
        within(50, lambda: done in urllib.request.urlopen(f"http://127.0.0.1:{admin}/metrics").read().decode())
      def session(version, earlier=None):
        s = connect(port, "localhost", contexts[version], earlier)
        assert get(s, "localhost")[0] == 200
        return s.session, s.session_reused
      contexts = {v: context(v) for v in BOTH}
      old = {v: session(v)[0] for v in BOTH}
      assert all(session(v, old[v])[1] for v in BOTH)
      apply(["b.key", "a.key"], 1)
      assert all(session(v, old[v])[1] for v in BOTH), "the old key still takes tickets"
      new = {v: session(v)[0] for v in BOTH}
      apply(["b.key"], 2)
      assert not any(session(v, old[v])[1] for v in BOTH), "its key is gone"
      assert all(session(v, new[v])[1] for v in BOTH), "made by the new key"
      print("ok")
      """,
      [
        "\(gateway.configuration.port)", "\(gateway.configuration.adminPort)", "\(gateway.process.pid)", gateway.file,
        folder.path,
      ])
  }

  @Test(
    "A listener that requires client certificates forwards nothing without; one that allows them, none with a bad one",
    arguments: ["required", "optional"])
  func clientCertificates(rule: String) throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    try folder.addStranger()
    let gateway = try folder.gateway(before: upstream) {
      $0["listen", "tls_client_ca_file"] = "\"\(folder.path)/ca.pem\""
      $0["listen", "tls_client_certificate"] = "\"\(rule)\""
    }
    defer { gateway.stop() }
    try folder.run(
      """
      port, rule = int(sys.argv[1]), sys.argv[2]
      def served(version, cert, path):
        try: return get(connect(port, "localhost", context(version, cert)), "localhost", path)[0] == 200
        except (ssl.SSLError, EOFError, ConnectionResetError, BrokenPipeError): return False
      for version in BOTH:
        assert served(version, "two", "/shown")
        assert served(version, None, "/nothing") == (rule == "optional")
        assert not served(version, "bad", "/bad")
      print("ok")
      """, ["\(gateway.configuration.port)", rule])
    let seen = Set(upstream.requests.map(\.target))
    #expect(seen == (rule == "optional" ? ["/shown", "/nothing"] : ["/shown"]))
  }

  @Test("A new certificate that no longer lists the host of public_url is told, in the log and on /healthz")
  func lostHost() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    let gateway = try folder.gateway(before: upstream)
    defer { gateway.stop() }
    let admin = HTTPClient(port: gateway.configuration.adminPort)
    #expect(try !admin.get("/healthz").text.contains("certificate hosts"))
    try folder.replaceCertificate("one", by: "two")
    try gateway.process.waitForLine(containing: "the new certificates list fewer hosts than those before")
    let health = try admin.get("/healthz").text
    #expect(health.contains("\"certificate hosts\"") && health.contains("no certificate lists localhost since"))
    #expect(try admin.get("/readyz").status == 200)
    try folder.replaceCertificate("one", by: "new")
    try poll("the check has gone") { try admin.get("/healthz").text.contains("certificate hosts") ? nil : () }
  }

  @Test("A changed certificate is shown to new connections while old ones go on; a broken one is not taken")
  func reload() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    let gateway = try folder.gateway(before: upstream)
    defer { gateway.stop() }
    try folder.run(
      """
      port, c = int(sys.argv[1]), context()
      kept = connect(port, "localhost", c)
      assert get(kept, "localhost")[0] == 200
      shutil.copy("new.pem", "one.pem"); shutil.copy("new.key", "one.key")
      within(50, lambda: "new.test" in names(connect(port, "localhost", c)))
      assert get(kept, "localhost")[0] == 200 and "one.test" in names(kept)
      print("ok")
      """, ["\(gateway.configuration.port)"])
    // The key of another certificate, then one that others may read.
    let key = "\(folder.path)/one.key"
    try FileManager.default.removeItem(atPath: key)
    try FileManager.default.copyItem(atPath: "\(folder.path)/two.key", toPath: key)
    _ = try gateway.process.waitForLine(containing: "tls_key_mismatch")
    try FileManager.default.removeItem(atPath: key)
    try FileManager.default.copyItem(atPath: "\(folder.path)/new.key", toPath: key)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
    let line = try gateway.process.waitForLine(containing: "tls_private_key_exposed")
    #expect(line.contains("chmod 600"))
    try folder.run(
      """
      s = connect(int(sys.argv[1]), "localhost", context())
      assert "new.test" in names(s) and get(s, "localhost")[0] == 200
      print("ok")
      """, ["\(gateway.configuration.port)"])
    let metrics = try Metrics(gateway)
    #expect(try #require(metrics.value("cordon_tls_certificate_reloads_total{outcome=\"failure\"}")) >= 2)
    #expect(metrics.lines.contains { $0.hasPrefix("cordon_tls_certificate_expiry_seconds{listener=\"listen\"") })
    // As long as a restart would fail, health says so.
    #expect(metrics.value("cordon_tls_certificates_refused") == 1)
    #expect(try gateway.admin.get("/healthz").text.contains("chmod 600"))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
    try poll("health without a failure", by: .seconds(30)) {
      try gateway.admin.get("/healthz").text.contains("failing") ? nil : ()
    }
  }

  @Test("At a signal the certificate that the configuration names is shown, and one that replaces it soon after")
  func signal() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    let gateway = try folder.gateway(before: upstream)
    defer { gateway.stop() }
    func reload(to name: String) throws {
      var configuration = gateway.configuration
      configuration["listen", "tls_certificate_file"] = "\"\(folder.path)/new.pem\""
      configuration["listen", "tls_private_key_file"] = "\"\(folder.path)/\(name).key\""
      _ = try configuration.install(in: gateway.directory)
      gateway.process.signal(SIGHUP)
    }
    try reload(to: "two")
    let line = try gateway.process.waitForLine(containing: "configuration reload failed")
    #expect(line.contains("two.key"), "\(line)")
    let shown = """
      s = connect(int(sys.argv[1]), "localhost", context())
      assert sys.argv[2] in names(s) and get(s, "localhost")[0] == 200, names(s)
      print("ok")
      """
    try folder.run(shown, ["\(gateway.configuration.port)", "one.test"])
    try reload(to: "new")
    _ = try gateway.process.waitForLine(containing: "configuration reloaded")
    try folder.run(shown, ["\(gateway.configuration.port)", "new.test"])

    // The files that the configuration has named for a moment only are watched as well.
    try folder.run(
      """
      shutil.copy("one.pem", "new.pem"); shutil.copy("one.key", "new.key")
      within(50, lambda: "one.test" in names(connect(int(sys.argv[1]), "localhost", context())))
      print("ok")
      """, ["\(gateway.configuration.port)"])
  }

  @Test("A key that others may read is refused at the start, with the remedy", arguments: ["one.key", "ticket.key"])
  func exposedKey(name: String) throws {
    let folder = try TLSFolder()
    try folder.directory.write(Self.ticketKeys[0], to: "ticket.key")
    var configuration = try GatewayConfiguration()
    configuration["", "public_url"] = "\"https://localhost:\(configuration.port)\""
    configuration["listen", "tls_certificate_file"] = "\"\(folder.path)/one.pem\""
    configuration["listen", "tls_private_key_file"] = "\"\(folder.path)/one.key\""
    configuration["listen", "tls_ticket_key_files"] = "[\"\(folder.path)/ticket.key\"]"
    let file = try configuration.install(in: folder.directory)
    func check() throws -> (exit: ServerProcess.Exit, standardOutput: String, standardError: String) {
      try ServerProcess.run(Machine.binary("cordon"), ["check", "--config", file])
    }
    #expect(try check().exit == .code(0))
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: "\(folder.path)/\(name)")
    let checked = try check()
    #expect(checked.exit == .code(78), "\(checked)")
    let said = checked.standardOutput + checked.standardError
    #expect(said.contains("\(folder.path)/\(name)") && said.contains("chmod o="), "\(said)")
    let started = try ServerProcess.run(Machine.binary("cordon"), ["run", "--config", file])
    #expect(started.exit == .code(78), "\(started)")
  }
}
