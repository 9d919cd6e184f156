import Foundation
import TemporaryDirectoryTesting
import Testing

// The addresses that `cordon doctor` examines: public_url, further hosts, and the applications.
//
// - A public_url that does not lead to the gateway is a warning, with what answers instead.
// - An application that is away, or speaks another protocol, is told with the remedy.

@SystemActor
@Suite("The doctor on public_url, hosts and applications")
struct DoctorNetworkTests {
  /// Has the doctor examine a gateway whose application does this, in Python, with each `client` that connects. It has
  /// one complaint.
  private func examine(scheme: String = "http", _ answer: String) throws -> (port: UInt16, report: DoctorReport) {
    let port = try FreePort.take()
    let lines = answer.split(separator: "\n").map { "  \($0)\n" }.joined()
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
        \(lines)  client.close()
        """, "\(port)",
      ])
    defer { server.stop() }
    try server.waitForLine(containing: "listening")
    let site = try Site(adjust: { $0["upstream", "url"] = "\"\(scheme)://127.0.0.1:\(port)\"" })
    defer { site.stop() }
    let report = try DoctorReport(of: site.gateway)
    #expect(report.exit == .code(1), "\(report.lines)")
    #expect(report.complaints.count == 1, "\(report.complaints)")
    return (port, report)
  }

  @Test("Each further host is asked whether it leads to public_url, and one that leads elsewhere is told")
  func hosts() throws {
    let site = try Site(adjust: {
      $0.ending = "[[host]]\nname = \"wiki.localhost:\($0.port)\"\n"
    })
    defer { site.stop() }
    let good = try DoctorReport(of: site.gateway)
    #expect(good.exit == .code(0), "\(good.lines)")
    #expect(good.complaints == [])
    #expect(good.line("host").contains("leads to \(site.origin) to sign in"), "\(good.line("host"))")

    var wrong = site.gateway.configuration
    let free = try FreePort.take()
    wrong.ending += """
      [[host]]
      name = "elsewhere.localhost:\(site.upstream.port)"
      [[host]]
      name = "nobody.localhost:\(free)"

      """
    _ = try wrong.install(in: site.gateway.directory)
    let result = try DoctorReport(of: site.gateway)
    #expect(result.exit == .code(1), "\(result.lines)")
    let told = result.complaints
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
      let told = try DoctorReport(of: site.gateway).line("public URL")
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
      let told = try DoctorReport(of: site.gateway).line("public URL")
      #expect(told.hasPrefix(status) && told.contains(words), "\(told)")
    }
  }

  @Test("A FastCGI server behind upstream.url is recognized by its answer, and told with the remedy")
  func fastCGI() throws {
    let (port, result) = try examine(
      """
      data = b""
      while len(data) < 8 or len(data) < 8 + data[4] * 256 + data[5] + data[6]:
        more = client.recv(4096)
        if not more: break
        data += more
      if data[:2] == bytes([1, 9]) and b"FCGI_MPXS_CONNS" in data:
        client.sendall(bytes([1, 10, 0, 0, 0, 18, 6, 0, 15, 1]) + b"FCGI_MPXS_CONNS" + b"0" + bytes(6))
      """)
    let told = result.complaints
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
    // Answers a TLS handshake, with an alert or with an error of HTTP, and nothing else.
    let (port, result) = try examine(
      scheme: scheme, "if client.recv(4096)[:1] == bytes([22]): client.sendall(bytes.fromhex(\"\(answer)\"))")
    let told = result.complaints
    #expect(told.first?.contains("\(scheme)://127.0.0.1:\(port)") == true, "\(told)")
    #expect(told.first?.contains(seen) == true && told.first?.contains(remedy) == true, "\(told)")
  }

  @Test("An https: application that cannot be reached is told with the keys about its certificate")
  func awayWithTLS() throws {
    let directory = try TemporaryDirectory()
    let (app, apple) = (try FreePort.take(), try FreePort.take())
    let configuration = try GatewayConfiguration(
      upstream: "https://127.0.0.1:\(app)", apple: "http://127.0.0.1:\(apple)")
    let result = try DoctorReport(configuration.install(in: directory), in: directory)
    let told = result.line("upstream")
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
    let result = try DoctorReport(configuration.install(in: directory), in: directory)
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
}
