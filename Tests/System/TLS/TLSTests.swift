import Foundation
import TemporaryDirectoryTesting
import Testing

// TLS with clients, from outside, by Python's ssl module.
//
// - Both versions, and what is spoken, by ALPN; several certificates: each name gets its own.
// - Another listener, in cleartext, beside the one with TLS.
// - A response that is cut off looks other than a whole one: the end is announced, or it is not.
// - A refusal is followed by close_notify at once; plain HTTP is told to use https.
// - An idle connection holds little memory.

@SystemActor
@Suite("TLS with clients")
struct TLSTests {
  @Test("A client that offers HTTP/1.0 alone, as curl --http1.0 does, is served")
  func http10() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    let gateway = try folder.gateway(before: upstream)
    defer { gateway.stop() }
    let answer = try ServerProcess.run(
      Machine.program("curl", package: "curl"),
      [
        "-sS", "--http1.0", "--max-time", "50", "--cacert", "\(folder.path)/ca.pem", "-o", "/dev/null", "-w",
        "%{http_code}", "https://localhost:\(gateway.configuration.port)/old",
      ])
    #expect(answer.exit == .code(0) && answer.standardOutput == "200", "\(answer.standardError)")
  }

  @Test("An RSA and an ECDSA certificate serve one name, by what the client understands, and are renewed alike")
  func kindsOfKeys() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    for name in ["rsa", "rsa-new"] {
      try folder.issue(name, "DNS:localhost,DNS:one.test", key: "-newkey rsa:2048 -nodes")
    }
    let gateway = try folder.gateway(before: upstream) {
      $0.ending += """

        [[listen.certificate]]
        certificate_file = "\(folder.path)/rsa.pem"
        private_key_file = "\(folder.path)/rsa.key"

        """
    }
    defer { gateway.stop() }
    let openssl = try Machine.program("openssl", package: "openssl")
    /// The subject of the certificate that is shown.
    func shown(_ name: String, _ options: String) throws -> String {
      let answer = try ServerProcess.run(
        "/bin/sh",
        [
          "-c",
          "\(openssl) s_client -connect 127.0.0.1:\(gateway.configuration.port) \(name) -CAfile ca.pem \(options) "
            + "</dev/null 2>&1 | grep '^subject='",
        ], directory: folder.path)
      return answer.standardOutput.filter { !$0.isWhitespace }
    }
    for name in ["-servername localhost", "-servername one.test", "-noservername"] {
      #expect(try shown(name, "-tls1_3 -sigalgs ECDSA+SHA256") == "subject=CN=one", "\(name)")
      #expect(try shown(name, "-tls1_3 -sigalgs RSA-PSS+SHA256") == "subject=CN=rsa", "\(name)")
      #expect(try shown(name, "-tls1_2 -cipher ECDHE-ECDSA-AES128-GCM-SHA256") == "subject=CN=one", "\(name)")
      #expect(try shown(name, "-tls1_2 -cipher ECDHE-RSA-AES128-GCM-SHA256") == "subject=CN=rsa", "\(name)")
    }
    try folder.replace("rsa.key", by: "rsa-new.key")
    try folder.replace("rsa.pem", by: "rsa-new.pem")
    try poll("the renewed certificate") {
      try shown("-servername localhost", "-tls1_3 -sigalgs RSA-PSS+SHA256") == "subject=CN=rsa-new" ? () : nil
    }
    #expect(try shown("-servername localhost", "-tls1_3 -sigalgs ECDSA+SHA256") == "subject=CN=one")
  }

  @Test("TLS 1.2 and 1.3 are spoken and nothing older; what is spoken in it is agreed on")
  func versions() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    let old = try FreePort.take()
    let gateway = try folder.gateway(
      before: upstream,
      ending: """

        [[listener]]
        name = "old"
        address = "127.0.0.1:\(old)"
        tls_certificate_file = "\(folder.path)/one.pem"
        tls_private_key_file = "\(folder.path)/one.key"
        protocols = ["http/1.1"]

        """)
    defer { gateway.stop() }
    try folder.run(
      """
      port, old = int(sys.argv[1]), int(sys.argv[2])
      for version, name in zip(BOTH, ["TLSv1.2", "TLSv1.3"]):
        def agreed(offer, port=port):
          s = connect(port, "localhost", context(version, alpn=offer))
          assert s.version() == name, s.version()
          return s
        assert agreed(["h2", "http/1.1"]).selected_alpn_protocol() == "h2"
        assert agreed(["http/1.1", "h2"]).selected_alpn_protocol() == "h2", "the server's preference"
        for s in [agreed(["http/1.1"]), agreed(["h2", "http/1.1"], old)]:
          assert s.selected_alpn_protocol() == "http/1.1" and get(s, "localhost")[0] == 200
        s = agreed(None)
        assert s.selected_alpn_protocol() is None and get(s, "localhost")[0] == 200
        for port_, offer in [(port, ["spdy/3"]), (old, ["h2"])]:
          try: agreed(offer, port_); raise SystemExit("agreed")
          except ssl.SSLError as error: assert "no application protocol" in str(error).lower().replace("_", " "), error
      print("ok")
      """, ["\(gateway.configuration.port)", "\(old)"])
    let refused = try ServerProcess.run(
      Machine.program("openssl", package: "openssl"),
      [
        "s_client", "-connect", "127.0.0.1:\(gateway.configuration.port)", "-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0",
      ])
    #expect(refused.standardError.contains("alert protocol version"), "\(refused)")
  }

  @Test("HTTP/2 over TLS carries requests and bodies, as curl speaks it")
  func http2() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    let gateway = try folder.gateway(before: upstream)
    defer { gateway.stop() }
    let file = try folder.directory.write(String(repeating: "x", count: 300_000), to: "body")
    let origin = "https://localhost:\(gateway.configuration.port)"
    let answer = try ServerProcess.run(
      Machine.program("curl", package: "curl"),
      [
        "--silent", "--show-error", "--http2", "--max-time", "50", "--cacert", "\(folder.path)/ca.pem",
        "--write-out", " %{http_version}", "--data-binary", "@\(file)", "\(origin)/over",
      ])
    #expect(answer.standardOutput == "upstream saw POST /over 2", "\(answer.standardError)")
    let seen = try upstream.waitForRequest { $0.target == "/over" }
    #expect(seen.body.count == 300_000 && seen.fields["X-Forwarded-Proto"] == "https")
  }

  @Test("Each name gets the certificate that lists it, and another listener speaks cleartext")
  func serverNames() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    let other = try FreePort.take()
    let gateway = try folder.gateway(
      before: upstream,
      ending: """

        [[listen.certificate]]
        certificate_file = "\(folder.path)/two.pem"
        private_key_file = "\(folder.path)/two.key"
        [[listener]]
        name = "inside"
        address = "127.0.0.1:\(other)"

        """)
    defer { gateway.stop() }
    try folder.run(
      """
      port, c = int(sys.argv[1]), context()
      for name in ["one.test", "two.test"]:
        s = connect(port, name, c)
        assert name in names(s), names(s)
        assert get(s, name)[0] == 200
      try: connect(port, "three.test", c); raise SystemExit("believed")
      except ssl.SSLCertVerificationError: pass
      plain = socket.create_connection(("127.0.0.1", int(sys.argv[2])), timeout=50)
      assert get(plain, "localhost", "/plain")[0] == 200
      print("ok")
      """, ["\(gateway.configuration.port)", "\(other)"])
    #expect(upstream.requests.map(\.target) == ["/", "/", "/plain"])
  }

  private func failedHandshakes(_ gateway: GatewayProcess, _ reason: String) throws -> Double? {
    try Metrics(gateway).value("cordon_client_handshake_failures_total{reason=\"\(reason)\"}")
  }

  @Test("A handshake that takes too long is ended, and counted as failed", arguments: ["http/1.1", "h2\", \"http/1.1"])
  func slowHandshake(protocols: String) throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    let gateway = try folder.gateway(before: upstream) {
      $0["listen", "protocols"] = "[\"\(protocols)\"]"
      $0["listen.timeouts", "handshake"] = "\"500ms\""
    }
    defer { gateway.stop() }
    let connection = try gateway.connect()
    #expect(try connection.readToEnd() == [])
    #expect(try failedHandshakes(gateway, "timeout") == 1)
  }

  @Test("A failed handshake is counted by its reason, and the log has what an operator can act on")
  func reasonsOfFailures() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    try folder.addStranger()
    let gateway = try folder.gateway(before: upstream) {
      $0["listen", "tls_client_ca_file"] = "\"\(folder.path)/ca.pem\""
    }
    defer { gateway.stop() }
    try folder.run(
      """
      port = int(sys.argv[1])
      def fails(c):
        try: get(connect(port, "localhost", c), "localhost")
        except (OSError, EOFError): return
        raise SystemExit("served")
      # Trusts nobody, and leaves when the gateway has read that.
      def distrusts(version):
        raw = socket.create_connection(("127.0.0.1", port), timeout=50)
        c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        c.minimum_version = c.maximum_version = version
        received, sent = ssl.MemoryBIO(), ssl.MemoryBIO()
        s = c.wrap_bio(received, sent, server_hostname="localhost")
        while True:
          try: s.do_handshake()
          except ssl.SSLWantReadError:
            raw.sendall(sent.read())
            data = raw.recv(65536)
            assert data
            received.write(data)
          except ssl.SSLCertVerificationError: break
          else: raise SystemExit("believed")
        raw.sendall(sent.read())
        while raw.recv(65536): pass
      for version in BOTH:
        fails(context(version))
        fails(context(version, "bad"))
        fails(context(version, "two", ["odd"]))
        distrusts(version)
      # A ClientHello of TLS 1.0.
      hello = b"\\x03\\x01" + bytes(32) + b"\\x00" + b"\\x00\\x02\\x00\\x2f" + b"\\x01\\x00"
      hello = b"\\x01" + len(hello).to_bytes(3, "big") + hello
      old = socket.create_connection(("127.0.0.1", port), timeout=50)
      old.sendall(b"\\x16\\x03\\x01" + len(hello).to_bytes(2, "big") + hello)
      while old.recv(65536): pass
      socket.create_connection(("127.0.0.1", port), timeout=50).close()
      print("ok")
      """, ["\(gateway.configuration.port)"])
    let expected = [
      "client_certificate_missing": 2, "client_certificate_refused": 2, "no_shared_parameters": 2,
      "certificate_rejected": 2, "unsupported_version": 1, "closed": 1, "plain_http": 0, "timeout": 0,
    ]
    for (reason, count) in expected {
      try poll("\(count) failures of the reason \(reason)") {
        try failedHandshakes(gateway, reason) == Double(count) ? () : nil
      }
    }
    let peer = #""peer":"127.0.0.1""#
    try gateway.waitForLogLine("a client does not accept the certificate of the listener", peer, "unknown_ca")
    try gateway.waitForLogLine("refused a client certificate", peer, "\"reason\"", "tls_client_ca_file")
    try gateway.waitForLogLine("refused a client without a certificate", peer)
    try gateway.waitForLogLine("client and listener have nothing in common", peer, "no application protocol")
    try gateway.waitForLogLine("the client speaks neither TLS 1.2 nor TLS 1.3", peer)
    #expect(upstream.requests.isEmpty)
  }

  @Test("The end of a whole response is announced (close_notify), that of one that was cut off is not")
  func truncation() throws {
    let upstream = try RawUpstream { request, connection in
      let end = request.target == "/whole" ? "0\r\n\r\n" : ""
      try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n\(end)")
      connection.shutdownBoth()
    }
    defer { upstream.stop() }
    let folder = try TLSFolder()
    let gateway = try folder.gateway(before: upstream)
    defer { gateway.stop() }
    try folder.run(
      """
      def end(path, version):
        s = connect(int(sys.argv[1]), "localhost", context(version))
        # To HTTP/1.0 the end of the body is that of the connection.
        s.sendall(f"GET {path} HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n".encode())
        data = b""
        while True:
          try: more = s.recv(65536)
          except (ssl.SSLError, ConnectionResetError): return data, "cut off"
          if not more: return data, "whole"
          data += more
      for version in BOTH:
        for path, expected in [("/whole", "whole"), ("/cut", "cut off")]:
          data, how = end(path, version)
          assert data.startswith(b"HTTP/1.1 200") and data.endswith(b"\\r\\n\\r\\nabc") and how == expected, (path, version, data, how)
      print("ok")
      """, ["\(gateway.configuration.port)"])
  }

  @Test("An idle connection holds 30 KiB at most")
  func memory() throws {
    let count = 1_000
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    let gateway = try folder.gateway(before: upstream) { $0["listen", "workers"] = "1" }
    defer { gateway.stop() }
    let clients = try folder.start(
      """
      resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
      c = context()
      def served():
        s = connect(int(sys.argv[1]), "localhost", c)
        assert get(s, "localhost")[0] == 200
        return s
      for s in [served() for _ in range(50)]: s.close()
      print("warm", flush=True)
      while not os.path.exists("go"): time.sleep(0.02)
      kept = [served() for _ in range(int(sys.argv[2]))]
      print("open", flush=True)
      while True: time.sleep(3600)
      """, ["\(gateway.configuration.port)", "\(count)"])
    defer { clients.stop() }
    try clients.waitForLine(containing: "warm")
    let before = try gateway.writtenKiB
    try folder.directory.write("", to: "go")
    try clients.waitForLine(containing: "open", by: .seconds(120))
    let each = (try gateway.writtenKiB - before) / count
    #expect(each <= 30, "\(each) KiB")
  }

  @Test("A refused request is followed by close_notify, before anything else is waited for")
  func refusals() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    let gateway = try folder.gateway(before: upstream) { $0["listen.limits", "body_size"] = "10000" }
    defer { gateway.stop() }
    try folder.run(
      """
      port = int(sys.argv[1])
      host = f"Host: localhost:{port}\\r\\n"
      for request, status in [
        ("garbage\\r\\n\\r\\n", 400), (f"GET / HTTP/1.1\\n{host}\\r\\n", 400), ("GET / HTTP/3.0\\r\\n\\r\\n", 505),
        (f"POST / HTTP/1.1\\r\\n{host}Transfer-Encoding: chunked\\r\\nContent-Length: 5\\r\\n\\r\\nabcde", 400),
        (f"POST / HTTP/1.1\\r\\n{host}Transfer-Encoding: chunked\\r\\n\\r\\nx\\r\\n", 400),
        (f"GET /{'x' * 9000} HTTP/1.1\\r\\n{host}\\r\\n", 414),
        (f"POST / HTTP/1.1\\r\\n{host}Content-Length: 999999999999\\r\\n\\r\\nabc", 413),
      ]:
        for version in BOTH:
          s = connect(port, "localhost", context(version, alpn=["http/1.1"]))
          s.sendall(request.encode())
          data = b""
          # An end without close_notify is an error here (suppress_ragged_eofs=False).
          while more := s.recv(65536): data += more
          assert int(data.split()[1]) == status, (request, data)
          s.close()
      print("ok")
      """, ["\(gateway.configuration.port)"])
  }

  @Test("Plain HTTP at a port of TLS is told to use https")
  func plainHTTP() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    let gateway = try folder.gateway(before: upstream) { $0["headers", "X-Own"] = "\"of [headers]\"" }
    defer { gateway.stop() }
    for method in ["GET", "POST", "HEAD", "DELETE", "OPTIONS", "PATCH", "PROPFIND"] {
      let connection = try gateway.connect()
      try connection.send("\(method) / HTTP/1.1\r\nHost: \(gateway.client.authority)\r\nContent-Length: 0\r\n\r\n")
      let text = String(decoding: try connection.readToEnd(), as: UTF8.self)
      #expect(text.hasPrefix("HTTP/1.1 400 ") && text.contains("https://"), "\(text)")
      #expect(text.contains("Connection: close"))
      #expect(text.contains("X-Own: of [headers]\r\n"))
    }
    // What still comes of such a request is read: a reset could take the answer away from the client.
    let late = try gateway.connect()
    try late.send("POST / HTTP/1.1\r\nHost: \(gateway.client.authority)\r\nContent-Length: 40000\r\n\r\n")
    #expect(String(decoding: try late.readToEnd(), as: UTF8.self).hasPrefix("HTTP/1.1 400 "))
    for _ in 0..<2 { try late.send(String(repeating: "x", count: 20_000)) }
    #expect(try failedHandshakes(gateway, "plain_http") == 8)
    // What is neither gets no answer.
    let other = try gateway.connect()
    try other.send("hello there, is anybody in?\r\n\r\n")
    #expect(!String(decoding: try other.readToEnd(), as: UTF8.self).contains("HTTP"))
    #expect(try failedHandshakes(gateway, "not_tls") == 1)
    try gateway.waitForLogLine("plain HTTP on a TLS port", #""peer":"127.0.0.1""#, "remedy")
    #expect(upstream.requests.isEmpty)
  }
}
