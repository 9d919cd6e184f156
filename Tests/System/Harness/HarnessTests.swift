import Foundation
import Testing

// The harness itself, against plain servers, so that a failing system test means the product.
//
// - A process: its output, its exit status, its end by signal, its end with the test.
// - The raw upstream records exactly the bytes received, and answers exactly the bytes told.
// - The client reads lengths, chunks and streams that end; the cookie jar is a browser's.
// - The steady load asks again if the connection of a client that was held up has been closed, and only then.
// - Forms are found in pages.

@SystemActor
@Suite("The harness of the system tests")
struct HarnessTests {
  @Test("A process's output, exit status and signals are seen")
  func processes() throws {
    let ended = try ServerProcess.run("/bin/sh", ["-c", "echo out; echo err >&2; exit 7"])
    #expect(ended.exit == .code(7))
    #expect(ended.standardOutput == "out\n")
    #expect(ended.standardError == "err\n")

    let running = try ServerProcess(
      "/bin/sh", ["-c", "trap 'exit 3' TERM; echo ready; sleep 600 & wait"])
    try running.waitForLine(containing: "ready")
    #expect(running.isRunning)
    running.signal(SIGTERM)
    #expect(try running.waitForExit() == .code(3))

    let killed = try ServerProcess("/bin/sleep", ["600"])
    killed.stop()
    #expect(try killed.waitForExit() == .signal(SIGKILL))
  }

  @Test("A process that nobody stopped ends with the value that started it")
  func abandonedProcess() throws {
    let pid = try ServerProcess("/bin/sleep", ["600"]).pid
    try poll("the process to be gone") { kill(pid, 0) == -1 ? () : nil }
  }

  @Test("A program inherits no descriptor that was not passed on, whatever is open")
  func inheritance() throws {
    let open = (0..<20).map { _ in Glibc.open("/dev/null", O_RDONLY) }
    defer { for descriptor in open { close(descriptor) } }
    let run = try ServerProcess.run("/bin/ls", ["/proc/self/fd"])
    // The last one is the folder that it lists.
    #expect(run.standardOutput.split(separator: "\n") == ["0", "1", "2", "3"])
  }

  @Test("The upstream records the bytes of each request, and the client gets the bytes of its answer")
  func rawUpstream() throws {
    let upstream = try RawUpstream { request, connection in
      switch request.target {
      case "/chunked":
        try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n")
      case "/close":
        try connection.send("HTTP/1.1 200 OK\r\n\r\nuntil the end")
        connection.close()
      default: try RawUpstream.greet(request, connection)
      }
    }
    defer { upstream.stop() }
    let client = try TCPConnection(port: upstream.port)
    try client.send("POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nT: v\r\n\r\n")
    let response = try HTTPResponse.read(from: client)
    #expect(response.status == 200)
    #expect(response.text == "upstream saw POST /a")
    #expect(upstream.requests.map(\.headText) == ["POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"])
    #expect(upstream.requests[0].body == Array("hi".utf8))
    #expect(upstream.requests[0].bodyBytes == Array("2\r\nhi\r\n0\r\nT: v\r\n\r\n".utf8))
    try client.send("GET /chunked HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try HTTPResponse.read(from: client).text == "abcde")
    try client.send("GET /close HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try HTTPResponse.read(from: client).text == "until the end")
    #expect(upstream.connectionCount == 1)
  }

  @Test("A client of the steady load asks again on a closed connection if it was held up, and complains if not")
  func steadyLoad() throws {
    let upstream = try RawUpstream { request, connection in
      try RawUpstream.greet(request, connection)
      connection.close()
    }
    defer { upstream.stop() }
    // Every request is later than this grace, and none than the other.
    let late = SteadyLoad(port: upstream.port, idleGrace: .zero)
    try late.waitForMore()
    #expect(try late.stop() == [])
    let inTime = SteadyLoad(port: upstream.port, idleGrace: .seconds(3_600))
    try poll("a complaint") { inTime.complaints.isEmpty ? nil : () }
    #expect(try inTime.stop().allSatisfy { $0.contains("connection ended") || $0.hasPrefix("send: ") })
  }

  @Test("A gate holds a server's answer back until the test opens it")
  func gates() throws {
    let gate = Gate()
    let upstream = try RawUpstream { _, connection in
      try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na")
      try gate.wait()
      try connection.send("b")
    }
    defer { upstream.stop() }
    let client = try TCPConnection(port: upstream.port)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    _ = try client.read(through: "\r\n\r\n")
    #expect(try client.read(count: 1) == Array("a".utf8))
    #expect(throws: HarnessError.self) { try client.read(count: 1, by: .seconds(0)) }
    gate.open()
    #expect(try client.read(count: 1) == Array("b".utf8))
  }

  @Test("A wait that is in vain says what it waited for")
  func deadlines() throws {
    let process = try ServerProcess("/bin/sleep", ["600"])
    defer { process.stop() }
    #expect { try process.waitForExit(by: .seconds(0)) } throws: { "\($0)".contains("sleep to end") }
  }

  @Test("A process under the fake clock sees the days pass that the test says, and its time-outs stay true")
  func fakeClock() throws {
    let clock = try FakeClock()
    try clock.set(secondsAhead: 25 * 3_600)
    let date = try ServerProcess.run("/bin/date", ["+%s"], environment: clock.environment)
    let ahead =
      try #require(Double(date.standardOutput.trimmingCharacters(in: .newlines))) - Date().timeIntervalSince1970
    #expect(abs(ahead - 25 * 3_600) < 60)
    let slept = try ServerProcess.run("/bin/sleep", ["0.01"], environment: clock.environment)
    #expect(slept.exit == .code(0))
  }

  @Test("The cookie jar keeps what a browser keeps, and sends what a browser sends")
  func cookieJar() {
    func parse(_ line: String) -> CookieJar.Cookie? { CookieJar.parse(line, host: "localhost") }
    #expect(parse("__Host-a=1; Path=/; Secure; HttpOnly; SameSite=Lax")?.isHTTPOnly == true)
    #expect(parse("__Host-a=1; Path=/x; Secure") == nil)
    #expect(parse("__Host-a=1; Path=/; Secure; Domain=localhost") == nil)
    #expect(parse("a=1; SameSite=None") == nil)
    var jar = CookieJar()
    for line in ["lax=1; Path=/; SameSite=Lax", "none=2; Secure; SameSite=None", "deep=3; Path=/deep"] {
      if let cookie = parse(line) { jar.set(cookie) }
    }
    func header(_ path: String, unsafe: Bool) -> String? {
      jar.header(host: "localhost", path: path, crossSite: unsafe, crossSiteUnsafe: unsafe)
    }
    #expect(header("/", unsafe: false) == "lax=1; none=2")
    #expect(header("/deep/er", unsafe: false) == "lax=1; none=2; deep=3")
    #expect(header("/", unsafe: true) == "none=2")
    #expect(jar.header(host: "127.0.0.1", path: "/", crossSite: false, crossSiteUnsafe: false) == nil)
  }

  @Test("A visitor walks to the simulated Apple and carries its answer back, without the cookies of the other site")
  func walking() throws {
    let port = try FreePort.take()
    let callback = "http://localhost:\(port)/.auth/callback"
    let apple = try SimulatorProcess(redirectURI: callback)
    defer { apple.stop() }
    let query = FormEncoding.encode([
      ("client_id", GatewayConfiguration.clientID), ("redirect_uri", callback), ("response_type", "code id_token"),
      ("response_mode", "form_post"), ("scope", "name email"), ("state", "s1"), ("nonce", "n1"),
    ])
    let location = "\(apple.baseURL)/auth/authorize?\(query)"
    let server = try RawUpstream(port: port) { request, connection in
      guard request.method == "GET" else { return try RawUpstream.greet(request, connection) }
      try connection.send(
        RawUpstream.response(
          "302 Found", fields: ["Location: \(location)", "Set-Cookie: lax=1; Path=/; SameSite=Lax"]))
    }
    defer { server.stop() }
    let visitor = Visitor()
    try visitor.open("http://localhost:\(port)/.auth/authorize")
    try visitor.decide(.proceed(user: "anna"))
    #expect(try visitor.carryBack().text == "upstream saw POST /.auth/callback")
    let posted = try server.waitForRequest { $0.method == "POST" }
    let form = Dictionary(uniqueKeysWithValues: FormEncoding.decode(String(decoding: posted.body, as: UTF8.self)))
    #expect(form["state"] == "s1")
    #expect(form["user"]?.contains("Anna") == true)
    #expect(form["code"]?.isEmpty == false)
    #expect(!posted.fields.contains("Cookie"))
    #expect(posted.fields["Origin"] == apple.baseURL)
    #expect(posted.fields["Sec-Fetch-Site"] == "cross-site")
    #expect(try apple.checks(of: "anna", kind: "refresh") == 0)
    let token = try apple.mint([
      "user": "ben", "client_id": GatewayConfiguration.clientID, "token": ["signature": "none"],
    ])
    #expect(token.split(separator: ".").count == 2)
  }

  @Test("Forms are read from pages as a browser reads them")
  func forms() {
    let page = """
      <!-- <form action="no"> --><script>if (a<b) document.write("<form>")</script>
      <form method=post action='/x?a=1&amp;b=2'><input type="hidden" name="state" value="a&quot;b&#39;c&#x26;d">
      <input type=radio name=user value=anna><input type=radio name=user value=ben checked>
      <button type="submit" name="decision" value="cancel">Cancel</button></form>
      """
    let forms = HTMLForm.all(in: page)
    #expect(forms.count == 1)
    #expect(forms[0].action == "/x?a=1&b=2")
    #expect(forms[0].method == "POST")
    #expect(forms[0].inputs.map { "\($0.0)=\($0.1)" } == ["state=a\"b'c&d", "user=ben"])
    #expect(forms[0].buttons.map { "\($0.0)=\($0.1)" } == ["decision=cancel"])
  }
}
