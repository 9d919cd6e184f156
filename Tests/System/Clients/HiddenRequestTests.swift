import Foundation
import TemporaryDirectoryTesting
import Testing

// Requests hidden in bodies that an application does not read: Python's own server, whose GET leaves the body where it
// is and goes on with it as the next request.
//
// - A body that means nothing to its method ends the connection to the application: nothing in it is carried out.
// - Where no connection is kept, each request says so (`Connection: close`), those of other methods too.
// - Bodies that mean something, and requests without one, go on sharing connections.
// - Bytes of a request that wait are not mixed with those of the next.
// - A client whose request is answered before it was read is told that its connection ends.

@SystemActor
@Suite("Requests hidden in bodies")
struct HiddenRequestTests {
  private static let script = """
    import http.server, sys
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def do_GET(self):
            print("asked", self.command, self.path, self.headers.get("X-Forwarded-User"), flush=True)
            self.send_response(403 if self.command == "POST" else 200)
            self.send_header("Content-Length", "0" if self.command == "HEAD" else "2")
            self.end_headers()
            if self.command != "HEAD": self.wfile.write(b"ok")
        do_POST = do_HEAD = do_DELETE = do_OPTIONS = do_PROPFIND = do_GET
        def log_message(self, *arguments): pass
    print("listening", flush=True)
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
    """

  private static let hidden = Array(
    "GET /admin HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-User: victim\r\n\r\n".utf8)

  private func withPython(
    _ adjust: (inout GatewayConfiguration) -> Void = { _ in }, _ body: (GatewayProcess, ServerProcess) throws -> Void
  ) throws {
    let port = try FreePort.take()
    let folder = try TemporaryDirectory()
    let script = try folder.write(Self.script, to: "app.py")
    let application = try ServerProcess(Machine.program("python3", package: "python3"), [script, "\(port)"])
    defer { application.stop() }
    try application.waitForLine(containing: "listening")
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:\(port)")
    configuration["listen", "workers"] = "1"
    configuration.acceptHTTP2()
    configuration.ending = GatewayConfiguration.everythingPublic
    adjust(&configuration)
    let gateway = try GatewayProcess(configuration)
    defer { gateway.stop() }
    try body(gateway, application)
    // What was hidden would have been carried out by the time that this is.
    #expect(try gateway.client.get("/last").text == "ok")
    try application.waitForLine(containing: "asked GET /last None")
    #expect(!application.standardOutput.contains("/admin"), "\(application.standardOutput)")
  }

  @Test(
    "A body that means nothing to its method hides no request",
    arguments: ["GET", "HEAD", "DELETE", "OPTIONS", "PROPFIND"])
  func meaningless(_ method: String) throws {
    try withPython { gateway, application throws in
      for framing in ["Content-Length: \(Self.hidden.count)", "Transfer-Encoding: chunked"] {
        // A kept connection, which must not be used for it.
        #expect(try gateway.client.get("/").status == 200)
        let client = try gateway.connect()
        let head = "\(method) /page HTTP/1.1\r\nHost: \(gateway.client.authority)\r\n\(framing)\r\n\r\n"
        let isChunked = framing.hasPrefix("T")
        let body = isChunked ? Self.chunked(Self.hidden) : Self.hidden
        try client.send(Array(head.utf8) + body)
        #expect(try HTTPResponse.read(from: client, method: method).status == 200)
      }
      try application.waitForLine(containing: "asked \(method) /page None")
    }
  }

  private static func chunked(_ body: [UInt8]) -> [UInt8] {
    Array("\(String(body.count, radix: 16))\r\n".utf8) + body + Array("\r\n0\r\n\r\n".utf8)
  }

  private static func keepNothing(_ configuration: inout GatewayConfiguration) {
    configuration["upstream", "idle_connections"] = "0"
  }

  @Test("No body hides a request when no connection is kept", arguments: ["GET", "POST"])
  func nothingKept(_ method: String) throws {
    try withPython(Self.keepNothing) { gateway, application throws in
      let status = try gateway.client.send(method, "/page", body: Self.hidden).status
      #expect(status == (method == "POST" ? 403 : 200))
      try application.waitForLine(containing: "asked \(method) /page None")
    }
  }

  @Test("Over HTTP/2 the body of a GET hides no request")
  func overHTTP2() throws {
    try withPython { gateway, application throws in
      let script = """
        import sys
        sys.path.insert(0, "\(Machine.packageRoot.appending(path: "Tests/System/HTTP2").path)")
        from peer import *
        peer = Peer(\(gateway.configuration.port))
        peer.send(peer.headers(1, peer.fields("GET", "/page"), end=False),
                  raw(DATA, END_STREAM, 1, b"GET /admin HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n"))
        peer.answered(1)
        """
      let run = try ServerProcess.run("/usr/bin/python3", ["-c", script])
      #expect(run.exit == .code(0), "\(run.standardError)")
      try application.waitForLine(containing: "asked GET /page None")
    }
  }

  // MARK: Messages to the application and to the client

  @Test("Only a request whose body means nothing, or one where nothing is kept, says that its connection ends")
  func saidToTheApplication() throws {
    let upstream = try RawUpstream()
    let gateway = try GatewayProcess.open(to: upstream) { $0["listen", "workers"] = "1" }
    defer { gateway.stop() }
    for (method, body, closes) in [
      ("GET", nil, false), ("GET", "x", true), ("POST", "x", false), ("PUT", "x", false), ("DELETE", nil, false),
      ("DELETE", "x", true), ("OPTIONS", "x", true), ("POST", "", false),
    ] as [(String, String?, Bool)] {
      upstream.forget()
      _ = try gateway.client.send(method, "/", body: body.map { Array($0.utf8) })
      let seen = try upstream.waitForRequest()
      #expect(seen.fields[all: "Connection"] == (closes ? ["close"] : []), "\(method) \(body ?? "without")")
    }
    // One that is kept, and one for each of the three that end theirs.
    #expect(upstream.connectionCount == 4)
    let other = try GatewayProcess.open(to: upstream) { $0["upstream", "idle_connections"] = "0" }
    defer { other.stop() }
    upstream.forget()
    _ = try other.client.get("/")
    #expect(try upstream.waitForRequest().fields[all: "Connection"] == ["close"])
  }

  @Test("A request never goes into the middle of a body of which a part waits")
  func unsent() throws {
    let headCount = Watched(0)
    let upstream = try RawUpstream(connections: { connection, _ in
      while true {
        let head = String(decoding: try connection.read(through: "\r\n\r\n"), as: UTF8.self)
        let number = headCount.update { count in
          count += 1
          return count
        }
        let length = head.split(separator: "\r\n").compactMap { line in
          line.lowercased().hasPrefix("content-length:") ? Int(line.drop { $0 != ":" }.dropFirst(2)) : nil
        }
        guard let length = length.first else {
          try connection.send(RawUpstream.response(head.hasPrefix("GET / ") ? "200 OK" : "400 Bad Request"))
          continue
        }
        try connection.send(RawUpstream.response("413 Too Large"))
        // The body stays where it is until the next request has come on another connection. Where the system took all
        // of the body, the request comes after it on this one.
        try? headCount.take("another request", by: .seconds(1)) { $0 > number ? () : nil }
        try connection.discard(count: length)
      }
    })
    let gateway = try GatewayProcess.open(to: upstream) { $0["listen", "workers"] = "1" }
    defer { gateway.stop() }
    // Somewhere here the system takes all but a little of it, which waits in the gateway. KeptConnectionTests has the
    // rule that such a connection is not kept.
    for size in stride(from: 2_400_000, through: 3_300_000, by: 60_000) {
      let client = try gateway.connect()
      try client.send("POST / HTTP/1.1\r\nHost: \(gateway.client.authority)\r\nContent-Length: \(size)\r\n\r\n")
      _ = client.sendUntilRefused([UInt8](repeating: 0x78, count: 65_536), atMost: size, patience: .seconds(0.5))
      #expect(try gateway.client.get("/").status == 200, "\(size)")
    }
  }

  @Test("A client whose request is answered before it was read is told that its connection ends")
  func answeredEarly() throws {
    let upstream = try RawUpstream(connections: { connection, _ in
      _ = try connection.read(through: "\r\n\r\n")
      try connection.send(RawUpstream.response(body: "early"))
      _ = try connection.readToEnd(by: .seconds(60))
    })
    let gateway = try GatewayProcess.open(to: upstream)
    defer { gateway.stop() }
    let client = try gateway.connect()
    try client.send("POST / HTTP/1.1\r\nHost: \(gateway.client.authority)\r\nContent-Length: 100000\r\n\r\nabc")
    let response = try HTTPResponse.read(from: client)
    #expect(response.text == "early")
    #expect(response.fields["Connection"] == "close")
    #expect(try client.readToEnd().isEmpty)
  }
}
