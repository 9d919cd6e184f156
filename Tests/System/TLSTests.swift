import Foundation
import Testing

// TLS, from outside, by Python's ssl module.
//
// - Several certificates: each name gets its own.
// - A session that began on one replica is resumed on another with the same ticket keys, and not on a stranger.
// - Clients must show a certificate where the configuration says so.
// - A changed certificate is shown to new connections, the old ones go on; a broken one is not taken.
// - The application behind TLS of its own: authority, name, client certificate, resumption.
// - Another listener, in cleartext, beside the one with TLS.

@SystemActor
@Suite("TLS")
struct TLSTests {
  /// What the scripts begin with: `get` speaks HTTP/1.1 on a connection, `connect` makes one.
  private static let prelude = """
    import os, shutil, socket, ssl, sys, time
    def context(version=None, cert=None):
      c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
      c.load_verify_locations("ca.pem")
      if cert: c.load_cert_chain(cert + ".pem", cert + ".key")
      if version: c.minimum_version = c.maximum_version = version
      return c
    def connect(port, name, c, session=None):
      raw = socket.create_connection(("127.0.0.1", port), timeout=20)
      return c.wrap_socket(raw, server_hostname=name, session=session)
    def get(s, host, path="/"):
      s.sendall(f"GET {path} HTTP/1.1\\r\\nHost: {host}\\r\\n\\r\\n".encode())
      data = b""
      while b"\\r\\n\\r\\n" not in data:
        more = s.recv(65536)
        if not more: raise EOFError(data)
        data += more
      head, body = data.split(b"\\r\\n\\r\\n", 1)
      length = int([l for l in head.split(b"\\r\\n") if l.lower().startswith(b"content-length")][0].split(b":")[1])
      while len(body) < length: body += s.recv(65536)
      return int(head.split()[1]), body.decode()
    def names(s): return [v for k, v in s.getpeercert()["subjectAltName"]]
    def within(seconds, what):
      end = time.monotonic() + seconds
      while time.monotonic() < end:
        if what(): return
        time.sleep(0.1)
      raise SystemExit("in vain")

    """

  /// An authority, and certificates that it issued, in the folder: `one` for localhost and one.test, `two` for two.test.
  static func makeCertificates(in directory: TemporaryDirectory) throws {
    let openssl = try Machine.program("openssl", package: "openssl")
    func run(_ arguments: String) throws {
      let made = try ServerProcess.run(
        openssl, arguments.split(separator: " ").map(String.init), directory: directory.path)
      guard made.exit == .code(0) else { throw HarnessError.malformed(made.standardError) }
    }
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
    try run("req -x509 \(key) -days 9 -subj /CN=ca -keyout ca.key -out ca.pem")
    for (file, names) in [
      ("one", "DNS:localhost,DNS:one.test"), ("two", "DNS:two.test"), ("new", "DNS:localhost,DNS:new.test"),
    ] {
      try run("req -new \(key) -subj /CN=\(file) -keyout \(file).key -out \(file).csr")
      try directory.write("subjectAltName=\(names)\n", to: "\(file).ext")
      try run(
        "x509 -req -in \(file).csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 9 -extfile \(file).ext -out \(file).pem"
      )
    }
  }

  private static func gateway(
    before upstream: RawUpstream, certificates directory: TemporaryDirectory,
    ending: String = "", adjust: (inout GatewayConfiguration) -> Void = { _ in }
  ) throws -> GatewayProcess {
    try GatewayProcess.open(to: upstream) { configuration in
      configuration["", "public_url"] = "\"https://localhost:\(configuration.port)\""
      configuration["listen", "hosts"] = "[\"one.test\", \"two.test\", \"localhost\"]"
      configuration["listen", "tls_certificate_file"] = "\"\(directory.path)/one.pem\""
      configuration["listen", "tls_private_key_file"] = "\"\(directory.path)/one.key\""
      configuration["log", "format"] = "\"json\""
      configuration.ending += ending
      adjust(&configuration)
    }
  }

  /// Runs a script in the folder; it prints "ok" when everything was as it should be.
  private func run(_ script: String, _ arguments: [String], in directory: TemporaryDirectory) throws {
    let file = try directory.write(Self.prelude + script, to: "script.py")
    let result = try ServerProcess.run(
      Machine.program("python3", package: "python3"), [file] + arguments, directory: directory.path)
    #expect(
      result.exit == .code(0) && result.standardOutput.hasSuffix("ok\n"),
      "\(result.standardOutput)\(result.standardError)")
  }

  @Test("Each name gets the certificate that lists it, and another listener speaks cleartext")
  func serverNames() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let directory = try TemporaryDirectory()
    try Self.makeCertificates(in: directory)
    let other = try FreePort.take()
    let gateway = try Self.gateway(
      before: upstream, certificates: directory,
      ending: """

        [[listen.certificate]]
        certificate_file = "\(directory.path)/two.pem"
        private_key_file = "\(directory.path)/two.key"
        [[listener]]
        name = "inside"
        address = "127.0.0.1:\(other)"

        """)
    defer { gateway.stop() }
    try run(
      """
      port, c = int(sys.argv[1]), context()
      for name in ["one.test", "two.test"]:
        s = connect(port, name, c)
        assert name in names(s), names(s)
        assert get(s, name)[0] == 200
      try: connect(port, "three.test", c); raise SystemExit("believed")
      except ssl.SSLCertVerificationError: pass
      plain = socket.create_connection(("127.0.0.1", int(sys.argv[2])), timeout=20)
      assert get(plain, "localhost", "/plain")[0] == 200
      print("ok")
      """, ["\(gateway.configuration.port)", "\(other)"], in: directory)
    #expect(upstream.requests.map(\.target) == ["/", "/", "/plain"])
  }

  @Test("A session that began on one replica is resumed on another with the same ticket keys, and on no other")
  func replicas() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let directory = try TemporaryDirectory()
    try Self.makeCertificates(in: directory)
    try directory.write(String(repeating: "shared--", count: 10), to: "ticket.key")
    let keys = "[\"\(directory.path)/ticket.key\"]"
    let gateways = try [keys, keys, nil].map { keys in
      try Self.gateway(before: upstream, certificates: directory) { $0["listen", "tls_ticket_key_files"] = keys }
    }
    defer { for gateway in gateways { gateway.stop() } }
    try run(
      """
      ports = [int(p) for p in sys.argv[1:]]
      for version in [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]:
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
      """, gateways.map { "\($0.configuration.port)" }, in: directory)
  }

  @Test("Where clients must show a certificate, none without one reaches the application")
  func clientCertificates() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let directory = try TemporaryDirectory()
    try Self.makeCertificates(in: directory)
    let gateway = try Self.gateway(before: upstream, certificates: directory) {
      $0["listen", "tls_client_ca_file"] = "\"\(directory.path)/ca.pem\""
    }
    defer { gateway.stop() }
    try run(
      """
      port = int(sys.argv[1])
      for version in [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]:
        s = connect(port, "localhost", context(version, "two"))
        assert get(s, "localhost", "/shown")[0] == 200
        try:
          get(connect(port, "localhost", context(version)), "localhost", "/nothing"); raise SystemExit("served")
        except (ssl.SSLError, EOFError, ConnectionResetError): pass
      print("ok")
      """, ["\(gateway.configuration.port)"], in: directory)
    #expect(upstream.requests.allSatisfy { $0.target == "/shown" })
  }

  @Test("A changed certificate is shown to new connections while old ones go on; a broken one is not taken")
  func reload() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let directory = try TemporaryDirectory()
    try Self.makeCertificates(in: directory)
    let gateway = try Self.gateway(before: upstream, certificates: directory)
    defer { gateway.stop() }
    try run(
      """
      port, c = int(sys.argv[1]), context()
      kept = connect(port, "localhost", c)
      assert get(kept, "localhost")[0] == 200
      shutil.copy("new.pem", "one.pem"); shutil.copy("new.key", "one.key")
      within(30, lambda: "new.test" in names(connect(port, "localhost", c)))
      assert get(kept, "localhost")[0] == 200 and "one.test" in names(kept)
      print("ok")
      """, ["\(gateway.configuration.port)"], in: directory)
    // The key of another certificate, then one that others may read.
    let key = "\(directory.path)/one.key"
    try FileManager.default.removeItem(atPath: key)
    try FileManager.default.copyItem(atPath: "\(directory.path)/two.key", toPath: key)
    _ = try gateway.process.waitForLine(containing: "tls_key_mismatch")
    try FileManager.default.removeItem(atPath: key)
    try FileManager.default.copyItem(atPath: "\(directory.path)/new.key", toPath: key)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
    let line = try gateway.process.waitForLine(containing: "tls_private_key_exposed")
    #expect(line.contains("chmod 600"))
    try run(
      """
      s = connect(int(sys.argv[1]), "localhost", context())
      assert "new.test" in names(s) and get(s, "localhost")[0] == 200
      print("ok")
      """, ["\(gateway.configuration.port)"], in: directory)
    let metrics = try gateway.admin.get("/metrics").text
    #expect(metrics.contains("cordon_tls_certificate_reloads_total{outcome=\"failure\"}"))
    #expect(metrics.contains("cordon_tls_certificate_expiry_seconds{listener=\"listen\""))
  }

  @Test("An application that asks for a certificate gets ours, by its own authority and name, and sessions are resumed")
  func upstreamTLS() throws {
    let directory = try TemporaryDirectory()
    try Self.makeCertificates(in: directory)
    let port = try FreePort.take()
    let script = try directory.write(
      """
      import http.server, ssl, sys
      class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
          who = self.connection.getpeercert()["subject"][0][0][1]
          body = f"{who} {self.connection.session_reused}".encode()
          self.send_response(200); self.send_header("Content-Length", str(len(body)))
          self.send_header("Connection", "close"); self.end_headers()
          self.wfile.write(body)
      server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
      context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
      context.load_cert_chain("two.pem", "two.key")
      context.load_verify_locations("ca.pem")
      context.verify_mode = ssl.CERT_REQUIRED
      context.set_ciphers("DEFAULT")
      server.socket = context.wrap_socket(server.socket, server_side=True)
      print("ready", flush=True)
      server.serve_forever()
      """, to: "server.py")
    let server = try ServerProcess(
      Machine.program("python3", package: "python3"), [script, "\(port)"], directory: directory.path)
    defer { server.stop() }
    try server.waitForLine(containing: "ready")
    var configuration = try GatewayConfiguration(upstream: "https://127.0.0.1:\(port)", apple: "http://127.0.0.1:9")
    configuration.ending = "[[route]]\npath = \"/\"\naccess = \"public\"\n"
    configuration["listen", "workers"] = "1"
    configuration["upstream", "tls_ca_file"] = "\"\(directory.path)/ca.pem\""
    configuration["upstream", "tls_server_name"] = "\"two.test\""
    configuration["upstream", "tls_certificate_file"] = "\"\(directory.path)/one.pem\""
    configuration["upstream", "tls_private_key_file"] = "\"\(directory.path)/one.key\""
    let gateway = try GatewayProcess(configuration)
    defer { gateway.stop() }
    #expect(try gateway.client.get("/1").text == "one False")
    #expect(try gateway.client.get("/2").text == "one True")
    #expect(try gateway.client.get("/3").text == "one True")
  }
}
