import Foundation
import TemporaryDirectoryTesting
import Testing

// Requests to Apple through an HTTP proxy.
//
// - The proxy sees CONNECT with host and port only; TLS is with Apple, whose certificate is verified.
// - Its password is in no output; without it nobody new gets in, and who is signed in goes on.
// - The authorities that its certificate is verified by are read again when their file changes.
// - A browser's sign-in; the daily revalidation while the proxy is down, and when it is back.

@SystemActor
@Suite("Apple through a proxy")
struct AppleProxyTests {
  /// A proxy that makes tunnels for the user "cordon", whatever the name, to a TLS server before the simulator. Writes
  /// the first line of each request.
  private static let script = """
    def pump(a, b):
      try:
        while data := a.recv(65536): b.sendall(data)
      except OSError: pass
      for s in (a, b):
        try: s.shutdown(socket.SHUT_RDWR)
        except OSError: pass
    def both(a, b):
      threading.Thread(target=pump, args=(a, b), daemon=True).start()
      pump(b, a)
    def front(raw):
      try: s = c.wrap_socket(raw, server_side=True)
      except OSError: return
      data = b""
      while b"\\r\\n\\r\\n" not in data: data += s.recv(65536)
      head, body = data.split(b"\\r\\n\\r\\n", 1)
      length = [int(l.split(b":")[1]) for l in head.split(b"\\r\\n") if l.lower().startswith(b"content-length:")]
      while length and len(body) < length[0]: body += s.recv(65536)
      apple = socket.create_connection(("127.0.0.1", int(sys.argv[2])))
      apple.sendall(head + b"\\r\\nConnection: close\\r\\n\\r\\n" + body)
      while data := apple.recv(65536): s.sendall(data)
      s.unwrap()
    def proxy(s):
      data = b""
      while b"\\r\\n\\r\\n" not in data:
        more = s.recv(65536)
        if not more: return
        data += more
      print(data.split(b"\\r\\n")[0].decode(), flush=True)
      if b"Proxy-Authorization: Basic Y29yZG9uOmdlaGVpbQ==\\r\\n" not in data or os.path.exists("closed"):
        s.sendall(b"HTTP/1.1 407 Proxy Authentication Required\\r\\nContent-Length: 0\\r\\n\\r\\n")
        return s.close()
      s.sendall(b"HTTP/1.1 200 Connection established\\r\\n\\r\\n")
      both(s, socket.create_connection(tls.getsockname()))
    def loop(listener, serve):
      while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    c.load_cert_chain("one.pem", "one.key")
    tls = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=loop, args=(tls, front), daemon=True).start()
    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    print("listening", flush=True)
    loop(listener, proxy)

    """

  private func site(
    _ folder: TLSFolder, fakeClock: Bool = false, _ body: (Site, ServerProcess) throws -> Void
  ) throws {
    let port = try FreePort.take()
    let site = try Site(
      fakeClock: fakeClock,
      adjust: {
        $0["apple", "tls_ca_file"] = "\"\(folder.path)/ca.pem\""
        $0["apple", "native_client_ids"] = "[\"com.example.app\"]"
        $0["apple", "base_url"] = "\"https://localhost\""
        $0["apple", "proxy"] = "\"http://cordon:geheim@127.0.0.1:\(port)\""
      })
    defer { site.stop() }
    let proxy = try folder.start(Self.script, ["\(port)", "\(site.apple.port)"])
    defer { proxy.stop() }
    try proxy.waitForLine(containing: "listening")
    try body(site, proxy)
  }

  private func signIn(_ site: Site) throws -> HTTPResponse {
    let answer = try site.apple.authorizeNatively("anna", nonce: "raw-nonce")
    let request = [
      "identity_token": answer.identityToken, "authorization_code": answer.code, "nonce": "raw-nonce",
    ]
    return try site.gateway.client.send(
      "POST", "/.auth/native", fields: [("Content-Type", "application/json")],
      body: Array(JSONSerialization.data(withJSONObject: request)))
  }

  @Test("Users sign in through the proxy, which sees host and port only; without it those who are signed in go on")
  func tunnels() throws {
    let folder = try TLSFolder()
    try site(folder) { site, proxy in
      let response = try signIn(site)
      #expect(response.status == 200, "\(response.text)")
      try proxy.waitForLine(containing: "CONNECT ")
      let lines = proxy.standardOutput.split(separator: "\n").filter { $0 != "listening" }
      #expect(!lines.isEmpty && lines.allSatisfy { $0 == "CONNECT localhost:443 HTTP/1.1" }, "\(lines)")

      let doctor = try ServerProcess.run(
        Machine.binary("cordon"), ["doctor", "--config", site.gateway.file], directory: site.gateway.directory.path)
      #expect(doctor.exit == .code(0), "\(doctor.standardOutput)")
      #expect(doctor.standardOutput.contains("at https://localhost, through the proxy http://127.0.0.1:"))
      let check = try ServerProcess.run(
        Machine.binary("cordon"), ["check", "--config", site.gateway.file], directory: site.gateway.directory.path)
      #expect(check.standardOutput.contains("through the proxy http://127.0.0.1:"), "\(check.standardOutput)")

      try folder.directory.write("", to: "closed")
      let refused = try signIn(site)
      #expect(refused.status >= 500, "\(refused.text)")
      let cookie = try #require(response.setCookies.first?.split(separator: ";").first.map(String.init))
      #expect(try site.gateway.client.get("/beside", fields: [("Cookie", cookie)]).status == 200)
      let failing = try ServerProcess.run(
        Machine.binary("cordon"), ["doctor", "--config", site.gateway.file], directory: site.gateway.directory.path)
      #expect(
        failing.standardOutput.contains("the proxy answered \"HTTP/1.1 407 Proxy Authentication Required\""),
        "\(failing.standardOutput)")
      let written =
        String(decoding: site.gateway.process.everythingWritten, as: UTF8.self) + check.standardOutput
        + doctor.standardOutput + failing.standardOutput
      #expect(written.contains("407 Proxy Authentication Required"))
      #expect(!written.contains("geheim") && !written.contains("Y29yZG9uOm"))
    }
  }

  @Test("Authorities for Apple that replace the file of apple.tls_ca_file are used without a reload")
  func newAuthorities() throws {
    let folder = try TLSFolder()
    let stranger = try TLSFolder()
    try FileManager.default.moveItem(atPath: "\(folder.path)/ca.pem", toPath: "\(folder.path)/right.pem")
    try FileManager.default.copyItem(atPath: "\(stranger.path)/ca.pem", toPath: "\(folder.path)/ca.pem")
    try site(folder, fakeClock: true) { site, _ in
      #expect(try signIn(site).status >= 500)
      try folder.replace("ca.pem", by: "right.pem")
      try site.gateway.process.waitForLine(containing: "certificates and keys reloaded")
      // The pause after a failed fetch of Apple's keys is over.
      try site.setClock(secondsAhead: 300)
      let response = try signIn(site)
      #expect(response.status == 200, "\(response.text)")
    }
  }

  /// Signs a user in by a browser, which reaches Apple's page without a proxy.
  private func visitor(_ site: Site, as user: String) throws -> (visitor: Visitor, page: Visitor.Page) {
    let visitor = Visitor()
    try visitor.open(site.own("authorize?return_to=%2Fbeside"), following: false)
    let authorize = try #require(visitor.page?.response.location)
    #expect(authorize.hasPrefix("https://localhost/auth/authorize?"))
    try visitor.open(authorize.replacing("https://localhost", with: site.apple.baseURL, maxReplacements: 1))
    try visitor.decide(.proceed(user: user))
    return (visitor, try visitor.carryBack())
  }

  @Test("A browser signs in while the gateway fetches keys and tokens through the proxy")
  func browser() throws {
    let folder = try TLSFolder()
    try site(folder) { site, proxy in
      let (visitor, page) = try visitor(site, as: "ben")
      #expect(page.status == 200 && page.address.path == "/beside", "\(page.address)")
      #expect(try visitor.fetch(site.own("session")).status == 200)
      #expect(try site.apple.tokenRequests("authorization_code").count == 1)
      try proxy.waitForLine(containing: "CONNECT ")
      let lines = proxy.standardOutput.split(separator: "\n").filter { $0 != "listening" }
      #expect(!lines.isEmpty && lines.allSatisfy { $0 == "CONNECT localhost:443 HTTP/1.1" }, "\(lines)")
    }
  }

  @Test("A proxy that is down at the daily revalidation signs nobody out, and is warned of once for an account")
  func down() throws {
    let folder = try TLSFolder()
    try site(folder, fakeClock: true) { site, proxy in
      let visitors = try ["anna", "ben"].map { try visitor(site, as: $0).visitor }
      let config = site.gateway.configuration
      proxy.stop()
      let due = 36 * 3_600
      try site.setClock(secondsAhead: due)
      let warning = "token revalidation failed: Apple is unreachable"
      // Requests make an account due, but for those that come before the gateway has seen the clock.
      try poll("the warnings") {
        for visitor in visitors {
          let status = try visitor.fetch(site.own("session")).status
          #expect(status == 200)
        }
        let log = String(decoding: site.gateway.log, as: UTF8.self)
        return log.components(separatedBy: warning).count > visitors.count ? () : nil
      }
      for _ in 0..<20 {
        for visitor in visitors { #expect(try visitor.fetch(site.origin + "/beside").status == 200) }
      }
      let log = String(decoding: site.gateway.log, as: UTF8.self)
      #expect(log.components(separatedBy: warning).count - 1 == visitors.count, "\(log)")
      #expect(!log.contains("geheim"))

      // It is back: everybody is asked about, and nobody had to sign in.
      let address = try #require(config["apple", "proxy"])
      let port = try #require(address.split(separator: ":").last.map { $0.filter(\.isNumber) })
      let again = try folder.start(Self.script, [port, "\(site.apple.port)"])
      defer { again.stop() }
      try again.waitForLine(containing: "listening")
      try site.setClock(secondsAhead: due + 2 * 3_600)
      try poll("both accounts to be revalidated") {
        for visitor in visitors { #expect(try visitor.fetch(site.own("session")).status == 200) }
        return try ["anna", "ben"].allSatisfy { try site.apple.checks(of: $0, kind: "refresh") == 1 } ? () : nil
      }
    }
  }

  @Test("A certificate for another name than Apple's is refused behind a proxy, too")
  func otherName() throws {
    let folder = try TLSFolder()
    try folder.replace("one.pem", by: "two.pem")
    try folder.replace("one.key", by: "two.key")
    try site(folder) { site, _ in
      let response = try signIn(site)
      #expect(response.status >= 500, "\(response.text)")
      #expect(try site.apple.requests(at: "/auth/keys").isEmpty)
    }
  }
}
