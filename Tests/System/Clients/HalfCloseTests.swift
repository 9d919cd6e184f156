import Foundation
import Testing

// Clients that end their side of the connection, as nc -N, socat and old scripts do, against the real binary.
//
// - Whole requests before FIN are answered in order, in cleartext and over TLS (close_notify); the last one says close.
// - A head or body that FIN cuts off is 400; the application never takes it for whole.
// - FIN on an idle connection closes it; a reset while the application takes its time is 499.
// - Many such clients leave no connection behind.

@SystemActor
@Suite("Half-closed clients")
struct HalfCloseTests {
  /// The requests that a client sends before it ends its side, and the statuses that it gets.
  private struct Case {
    let name: String
    let requests: String
    let statuses: [Int]

    /// Whether the last response has to say that it is: one to a client that did not announce its last request may be
    /// out before FIN is seen.
    var announces: Bool { requests.contains("close") || requests.contains("HTTP/1.0") || statuses.last == 400 }
  }

  private static func cases(_ authority: String) -> [Case] {
    let host = "Host: \(authority)\r\n"
    let get = "GET /a HTTP/1.1\r\n\(host)\r\n"
    let last = "GET /b HTTP/1.1\r\n\(host)Connection: close\r\n\r\n"
    let post = "POST /c HTTP/1.1\r\n\(host)Content-Length: 5\r\n\r\nhello"
    return [
      Case(name: "GET that announces close", requests: last, statuses: [200]),
      Case(name: "GET that does not", requests: get, statuses: [200]),
      Case(name: "POST with a body", requests: post, statuses: [200]),
      Case(name: "two pipelined", requests: get + last, statuses: [200, 200]),
      Case(name: "body and another", requests: post + get, statuses: [200, 200]),
      Case(name: "HTTP/1.0", requests: "GET /d HTTP/1.0\r\n\(host)\r\n", statuses: [200]),
      Case(name: "page of the gateway", requests: "GET /.auth/session HTTP/1.1\r\n\(host)\r\n", statuses: [401]),
      Case(name: "partial head", requests: "GET /e HTTP/1.1\r\n\(host)", statuses: [400]),
      Case(
        name: "partial body", requests: "POST /f HTTP/1.1\r\n\(host)Content-Length: 9\r\n\r\nhello", statuses: [400]),
      Case(
        name: "partial chunks",
        requests: "POST /f HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", statuses: [400]),
      Case(name: "partial second head", requests: get + "GET /e HT", statuses: [200, 400]),
      Case(name: "nothing", requests: "", statuses: []),
    ]
  }

  /// The statuses of what a client received, and whether the last response says that the connection ends.
  private static func statuses(_ received: String) -> (all: [Int], closes: Bool) {
    let heads = received.components(separatedBy: "HTTP/1.1 ").dropFirst()
    return (heads.map { Int($0.prefix(3)) ?? 0 }, heads.last?.contains("Connection: close\r\n") ?? true)
  }

  @Test("In cleartext each whole request before FIN is answered, and what FIN cuts off is 400")
  func cleartext() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream)
    defer { gateway.stop() }
    for test in Self.cases(gateway.client.authority) {
      let client = try gateway.connect()
      try client.send(test.requests)
      client.endSending()
      let answer = Self.statuses(String(decoding: try client.readToEnd(), as: UTF8.self))
      #expect(answer.all == test.statuses && (answer.closes || !test.announces), "\(test.name)")
    }
    #expect(!upstream.requests.contains { ["/e", "/f"].contains($0.target) })
    #expect(upstream.requests.filter { $0.target == "/c" }.allSatisfy { $0.body == Array("hello".utf8) })
    try expectNoClients(gateway)
  }

  @Test("Over TLS close_notify is to a client what FIN is in cleartext")
  func tls() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    let gateway = try folder.gateway(before: upstream)
    defer { gateway.stop() }
    let cases = Self.cases("localhost:\(gateway.configuration.port)").map { test in
      [
        "name": test.name, "requests": test.requests,
        "statuses": test.statuses.map(String.init).joined(separator: " "), "closes": test.announces ? "yes" : "",
      ]
    }
    let text = String(decoding: try JSONSerialization.data(withJSONObject: cases), as: UTF8.self)
    try folder.run(
      """
      import json
      port, cases = int(sys.argv[1]), json.loads(sys.argv[2])

      class Half:
        "A TLS client that says close_notify and FIN, and goes on reading."
        def __init__(self, version):
          self.raw = socket.create_connection(("127.0.0.1", port), timeout=50)
          self.inward, self.outward = ssl.MemoryBIO(), ssl.MemoryBIO()
          self.tls = context(version, alpn=["http/1.1"]).wrap_bio(self.inward, self.outward, server_hostname="localhost")
          self.until(self.tls.do_handshake)
        def until(self, step):
          while True:
            try: return step()
            except ssl.SSLWantReadError:
              self.send()
              if not self.more(): raise EOFError
            finally: self.send()
        def send(self):
          if self.outward.pending: self.raw.sendall(self.outward.read())
        def more(self):
          data = self.raw.recv(65536)
          self.inward.write(data)
          return data
        def end(self, fin):
          try: self.tls.unwrap()
          except ssl.SSLWantReadError: pass
          self.send()
          if fin: self.raw.shutdown(socket.SHUT_WR)
        def rest(self):
          data = b""
          while True:
            try:
              some = self.until(lambda: self.tls.read(65536))
              if not some: return data
              data += some
            except ssl.SSLZeroReturnError: return data

      for test in cases:
        for version in BOTH:
          for fin in (True, False):
            half = Half(version)
            half.tls.write(test["requests"].encode()) if test["requests"] else None
            half.end(fin)
            heads = half.rest().decode().split("HTTP/1.1 ")[1:]
            shown = (test["name"], version, fin, heads)
            assert [h[:3] for h in heads] == test["statuses"].split(), shown
            assert not test["closes"] or "Connection: close\\r\\n" in heads[-1], shown
      print("ok")
      """, ["\(gateway.configuration.port)", text])
    #expect(!upstream.requests.contains { ["/e", "/f"].contains($0.target) })
    try expectNoClients(gateway)
  }

  @Test("A script that half-closes after its request, as nc -N does, is answered, and so is curl in HTTP/1.0")
  func programs() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream)
    defer { gateway.stop() }
    let script = """
      import socket, sys
      s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=50)
      s.sendall(b"GET /nc HTTP/1.1\\r\\nHost: " + sys.argv[2].encode() + b"\\r\\nConnection: close\\r\\n\\r\\n")
      s.shutdown(socket.SHUT_WR)
      while data := s.recv(65536): sys.stdout.write(data.decode())
      """
    for _ in 0..<20 {
      let run = try ServerProcess.run(
        "/usr/bin/python3", ["-c", script, "\(gateway.configuration.port)", gateway.client.authority])
      #expect(run.standardOutput.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(run)")
    }
    let curl = try ServerProcess.run(
      Machine.program("curl", package: "curl"),
      ["-sS", "--http1.0", "--max-time", "50", "http://\(gateway.client.authority)/old"])
    #expect(curl.standardOutput == "upstream saw GET /old", "\(curl)")
  }

  @Test("FIN ends an idle connection, and a reset while the application takes its time is 499")
  func leaving() throws {
    let gate = Watched(false)
    let upstream = try RawUpstream { request, connection in
      if request.target == "/slow" { try gate.take("the gate to open", by: .seconds(600)) { $0 ? () : nil } }
      try RawUpstream.greet(request, connection)
    }
    defer { upstream.stop() }
    defer { gate.update { $0 = true } }
    let gateway = try GatewayProcess.open(to: upstream)
    defer { gateway.stop() }
    let host = "Host: \(gateway.client.authority)\r\n"
    let idle = try gateway.connect()
    try idle.send("GET / HTTP/1.1\r\n\(host)\r\n")
    #expect(try HTTPResponse.read(from: idle).status == 200)
    idle.endSending()
    #expect(try idle.readToEnd().isEmpty)
    for (ending, count) in [("", 1), ("Connection: close\r\n", 2)] {
      let slow = try gateway.connect()
      try slow.send("GET /slow HTTP/1.1\r\n\(host)\(ending)\r\n")
      if count == 2 { slow.endSending() }
      _ = try poll("the request upstream") { upstream.requests.count { $0.target == "/slow" } == count ? () : nil }
      slow.reset()
      try poll("499") {
        try Metrics(gateway).value("cordon_requests_total{route=\"public\",code=\"499\"}") == Double(count) ? () : nil
      }
    }
    try expectNoClients(gateway)
  }

  /// Expects that no connection of a client is left: neither counted nor, at the system, half-closed.
  private func expectNoClients(_ gateway: GatewayProcess) throws {
    let port = gateway.configuration.port
    try poll("all connections to be closed") {
      let open = try ListedSocket.all().contains { $0.localPort == port && [1, 8].contains($0.state) }
      return try !open && Metrics(gateway).value("cordon_client_connections_open") == 0 ? () : nil
    }
  }
}
