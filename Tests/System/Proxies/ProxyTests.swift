import Foundation
import TemporaryDirectoryTesting
import Testing

// Between other proxies, and over sockets of other kinds.
//
// - A trusted proxy is believed where the client is and what was asked for; `verify` answers by policy for it.
// - `verify` grants nothing where it does not know the path and a route might deny it, and the log says what to set.
// - TLS on the listener, with the certificate of the configuration; TLS to the application, its name checked.
// - Unix sockets, on both sides.
// - WebSockets: through with a session and our own Origin, not from another; closed when the session ends.

@SystemActor
@Suite("Other proxies, TLS, Unix sockets, WebSockets", .serialized)
struct ProxyTests {
  // MARK: Trusted proxies

  @Test("verify answers a trusted proxy for the path that it names: 200, 401, 403")
  func verifyByPolicy() throws {
    let site = try Site(adjust: {
      $0["listen", "trusted_proxies"] = "[\"127.0.0.1/32\"]"
      $0.ending = """
        [[route]]
        path = "/admin/"
        allow_emails = ["ben@example.org"]
        [[route]]
        path = "/public/"
        access = "public"
        [[route]]
        path = "/closed/"
        access = "deny"
        """
    })
    defer { site.stop() }
    let anna = try site.signedIn(as: "anna")
    let ben = try site.signedIn(as: "ben")
    func verify(_ visitor: Visitor?, _ path: String, field: String = "X-Original-URI") throws -> Int {
      let cookie = try visitor?.cookieHeader(for: site.origin + "/")
      let fields = [(field, path)] + (cookie.map { [("Cookie", $0)] } ?? [])
      return try site.gateway.client.get("/.auth/verify", fields: fields).status
    }
    for field in ["X-Original-URI", "X-Forwarded-Uri"] {
      #expect(try verify(anna, "/hours", field: field) == 200)
      #expect(try verify(nil, "/hours", field: field) == 401)
      #expect(try verify(nil, "/public/x", field: field) == 200)
      #expect(try verify(anna, "/admin/x", field: field) == 403)
      #expect(try verify(ben, "/admin/x", field: field) == 200)
      #expect(try verify(ben, "/closed/x", field: field) == 403)
      for path in [
        "/public/../admin/x", "/public/%2e%2e/admin/x", "//admin/x", "/%61dmin/x", "/public/..;/admin/x", "x", "",
      ] {
        #expect(try [400, 401, 403].contains(verify(anna, path, field: field)), "\(path)")
      }
    }
  }

  @Test("verify does not take a stranger's word for the path, nor two words of anybody")
  func verifyForStrangers() throws {
    let ending = """
      [[route]]
      path = "/public/"
      access = "public"
      [[route]]
      path = "/closed/"
      access = "deny"
      """
    // Behind a proxy that passes on what its client says beside its own word, the two differ.
    let both = [("X-Original-URI", "/public/x"), ("X-Forwarded-Uri", "/closed/x")]
    let twice = [("X-Original-URI", "/public/x"), ("X-Original-URI", "/closed/x")]
    for (trusted, alone, several) in [("[]", 401, 401), ("[\"127.0.0.1/32\"]", 200, 403)] {
      let site = try Site(adjust: {
        $0["listen", "trusted_proxies"] = trusted
        $0.ending = ending
      })
      defer { site.stop() }
      func verify(_ fields: [(String, String)]) throws -> Int {
        try site.gateway.client.get("/.auth/verify", fields: fields).status
      }
      for name in ["X-Original-URI", "X-Forwarded-Uri"] {
        #expect(try verify([(name, "/public/x")]) == alone)
        #expect(try verify([(name, "/public/x"), (name, "/public/x")]) == several)
      }
      #expect(try verify(both) == several)
      #expect(try verify(twice) == several)
      // Nor is a stranger who names a denied path told what is denied.
      #expect(try verify([("X-Original-URI", "/closed/x")]) == (trusted == "[]" ? 401 : 403))
    }
  }

  nonisolated private static let restrictions = [
    "[[route]]\npath = \"/admin/\"\naccess = \"deny\"\n",
    "[[route]]\npath = \"/staff/\"\nallow_emails = [\"ben@example.com\"]\n",
    "[[route]]\npath = \"/staff/\"\nprivate_email = \"deny\"\n",
  ]

  @Test(
    "verify denies a request whose path it does not know as soon as any route is restricted, and warns once",
    arguments: restrictions)
  func verifyOfUnknownPaths(restriction: String) throws {
    for (trusted, requests) in [
      ("[\"192.0.2.0/24\"]", [[("X-Original-URI", "/x")], [("X-Forwarded-Uri", "/staff/x")], []]),
      ("[\"127.0.0.1/32\"]", [[], [("X-Original-URL", "/x")]]),
    ] as [(String, [[(String, String)]])] {
      let site = try Site(adjust: {
        $0["listen", "trusted_proxies"] = trusted
        $0.ending = restriction
      })
      defer { site.stop() }
      let anna = try site.signedIn(as: "anna")
      let cookie = try #require(try anna.cookieHeader(for: site.origin + "/"))
      for fields in requests {
        let known = try site.gateway.client.get("/.auth/verify", fields: fields + [("Cookie", cookie)])
        #expect(known.status == 403, "\(trusted) \(fields)")
        #expect(!known.fields.contains("X-Forwarded-User"))
        #expect(try site.gateway.client.get("/.auth/verify", fields: fields).status == 401, "\(trusted) \(fields)")
      }
      try site.gateway.waitForLog("listen.trusted_proxies")
      let log = String(decoding: site.gateway.log, as: UTF8.self)
      let warnings = log.split(separator: "\n").filter { $0.contains("listen.trusted_proxies") }
      #expect(warnings.count == 1, "\(warnings)")
      #expect(warnings.allSatisfy { $0.contains("127.0.0.1") }, "\(warnings)")
    }
  }

  @Test("verify answers an untrusted proxy by the session alone where no route is restricted")
  func verifyWithoutRestrictions() throws {
    let site = try Site(adjust: {
      $0.ending = "[[route]]\npath = \"/public/\"\naccess = \"public\"\n"
    })
    defer { site.stop() }
    let cookie = try #require(try site.signedIn().cookieHeader(for: site.origin + "/"))
    let fields = [("X-Original-URI", "/x")]
    #expect(try site.gateway.client.get("/.auth/verify", fields: fields + [("Cookie", cookie)]).status == 200)
    #expect(try site.gateway.client.get("/.auth/verify", fields: fields).status == 401)
    #expect(!String(decoding: site.gateway.log, as: UTF8.self).contains("listen.trusted_proxies"))
  }

  @Test("A trusted proxy's word about the client is believed, a stranger's in front of it is not")
  func forwardedFor() throws {
    let site = try Site(adjust: {
      $0["listen", "trusted_proxies"] = "[\"127.0.0.0/8\", \"10.0.0.0/8\"]"
      $0.ending = GatewayConfiguration.everythingPublic
    })
    defer { site.stop() }
    _ = try site.gateway.client.get("/x", fields: [("X-Forwarded-For", "6.6.6.6, 192.0.2.7, 10.0.0.3")])
    let seen = try site.upstream.waitForRequest()
    let hops = seen.fields[all: "X-Forwarded-For"].joined(separator: ", ")
    #expect(hops.contains("192.0.2.7"))
    #expect(hops.hasSuffix("127.0.0.1"))
  }

  // MARK: TLS

  /// A key and a self-signed certificate for `name`, in `directory`.
  private func makeCertificate(for name: String, in directory: TemporaryDirectory) throws -> (
    certificate: String, key: String
  ) {
    let (certificate, key) = ("\(directory.path)/\(name).crt", "\(directory.path)/\(name).key")
    let made = try ServerProcess.run(
      Machine.program("openssl", package: "openssl"),
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
        "/CN=\(name)", "-addext", "subjectAltName=DNS:\(name)", "-keyout", key, "-out", certificate,
      ])
    guard made.exit == .code(0) else { throw HarnessError.malformed(made.standardError) }
    return (certificate, key)
  }

  @Test("The listener speaks TLS with the certificate of the configuration, and cleartext to nobody")
  func tlsListener() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let directory = try TemporaryDirectory()
    let (certificate, key) = try makeCertificate(for: "localhost", in: directory)
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:\(upstream.port)")
    let origin = "https://localhost:\(configuration.port)"
    configuration["", "public_url"] = "\"\(origin)\""
    configuration["listen", "tls_certificate_file"] = "\"\(certificate)\""
    configuration["listen", "tls_private_key_file"] = "\"\(key)\""
    configuration.ending = GatewayConfiguration.everythingPublic
    let gateway = try GatewayProcess(configuration)
    defer { gateway.stop() }
    let curl = try Machine.program("curl", package: "curl")
    let body = String(repeating: "x", count: 300_000)
    let file = try directory.write(body, to: "body")
    let trusted = ["--silent", "--show-error", "--max-time", "50", "--cacert", certificate]
    let answer = try ServerProcess.run(curl, trusted + ["--data-binary", "@\(file)", "\(origin)/secure"])
    #expect(answer.standardOutput == "upstream saw POST /secure", "\(answer.standardError)")
    let seen = try upstream.waitForRequest { $0.target == "/secure" }
    #expect(seen.body.count == 300_000)
    #expect(seen.fields["X-Forwarded-Proto"] == "https")
    // Old versions of TLS are refused.
    let old = try ServerProcess.run(curl, trusted + ["--tls-max", "1.1", "\(origin)/old"])
    #expect(old.exit != .code(0))
    // Cleartext is not a request.
    let clear = try gateway.connect()
    try clear.send("GET /clear HTTP/1.1\r\nHost: localhost:\(configuration.port)\r\n\r\n")
    try clear.waitForClose()
    #expect(!upstream.requests.contains { $0.target != "/secure" })
  }

  /// A TLS server that answers each request with what it saw, in Python.
  private static let tlsServer = """
    import http.server, ssl, sys
    class Handler(http.server.BaseHTTPRequestHandler):
      def do_GET(self):
        body = ("tls saw " + self.path).encode()
        self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers()
        self.wfile.write(body)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
    print("ready", flush=True)
    server.serve_forever()
    """

  @Test(
    "The application's certificate is checked: the right name of a trusted authority, or 502",
    arguments: [
      ("localhost", true, 200), ("localhost", false, 502), ("other.example", true, 502),
    ])
  func tlsUpstream(name: String, isTrusted: Bool, status: Int) throws {
    let directory = try TemporaryDirectory()
    let (certificate, key) = try makeCertificate(for: name, in: directory)
    let port = try FreePort.take()
    let script = try directory.write(Self.tlsServer, to: "server.py")
    let server = try ServerProcess(
      Machine.program("python3", package: "python3"), [script, "\(port)", certificate, key])
    defer { server.stop() }
    try server.waitForLine(containing: "ready")
    var configuration = try GatewayConfiguration(upstream: "https://localhost:\(port)")
    configuration.ending = GatewayConfiguration.everythingPublic
    let gateway = try GatewayProcess(
      configuration, environment: isTrusted ? ["SSL_CERT_FILE": certificate] : [:])
    defer { gateway.stop() }
    for index in 0..<3 {
      let response = try gateway.client.get("/\(index)")
      #expect(response.status == status)
      if status == 200 { #expect(response.text == "tls saw /\(index)") }
    }
  }

  // MARK: WebSockets

  private static let upgrade: RawUpstream.RequestHandler = { request, connection in
    guard request.fields["Upgrade"]?.lowercased() == "websocket" else {
      return try RawUpstream.greet(request, connection)
    }
    try connection.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhello")
    while true {
      let bytes = try connection.receive("bytes of the tunnel", by: .seconds(120)) { buffer, _ in
        guard !buffer.isEmpty else { return nil as [UInt8]? }
        defer { buffer = [] }
        return buffer
      }
      try connection.send(bytes)
    }
  }

  private func handshake(_ site: Site, cookie: String?, origin: String?) throws -> TCPConnection {
    let connection = try site.gateway.connect()
    let fields = [cookie.map { "Cookie: \($0)" }, origin.map { "Origin: \($0)" }]
    try connection.askForWebSocket(site.gateway.client.authority, fields: fields.compactMap(\.self))
    return connection
  }

  @Test(
    "A WebSocket passes with a session and our own Origin, carries bytes both ways, and closes when the session ends")
  func webSocket() throws {
    let site = try Site(upstream: Self.upgrade)
    defer { site.stop() }
    let anna = try site.signedIn()
    let cookie = try #require(try anna.cookieHeader(for: site.origin + "/"))
    let socket = try handshake(site, cookie: cookie, origin: site.origin)
    #expect(try HTTPResponse.read(from: socket).status == 101)
    #expect(try socket.read(count: 5) == Array("hello".utf8))
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
    try socket.send(bytes)
    #expect(try socket.read(count: bytes.count).elementsEqual(bytes))
    let seen = try site.upstream.waitForRequest { $0.target == "/socket" }
    #expect(seen.fields["X-Forwarded-User"] == (try site.apple.subject(of: "anna")))
    #expect(!seen.headText.contains(cookie))
    _ = try anna.fetch(site.own("sign-out"), method: "POST", fields: [("Origin", site.origin)])
    try socket.waitForClose()
  }

  @Test("A WebSocket of another origin, or without a session, does not pass")
  func foreignWebSocket() throws {
    let site = try Site(upstream: Self.upgrade)
    defer { site.stop() }
    let anna = try site.signedIn()
    let cookie = try anna.cookieHeader(for: site.origin + "/")
    site.upstream.forget()
    for (cookie, origin) in [
      (cookie, "http://evil.example"), (cookie, "null"), (cookie, site.origin + ".evil.example"), (nil, site.origin),
    ] as [(String?, String?)] {
      let socket = try handshake(site, cookie: cookie, origin: origin)
      #expect(try (400..<500).contains(HTTPResponse.read(from: socket).status), "\(origin ?? "none")")
    }
    #expect(!site.upstream.requests.contains { $0.target == "/socket" })
  }
}
