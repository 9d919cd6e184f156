import Foundation
import TemporaryDirectoryTesting
import Testing

// What operators do while HTTP/2 over TLS is spoken, under load, without one request that fails. (Over HTTP/1.1:
// ReloadTests, DrainTests, ActivationTests.)
//
// - Reloads by signal, with other routes and renewed certificates: no connection is ended.
// - Another process takes over: farewells, and no request lost. Restarts on a socket that somebody else holds.
// - Who is in the middle of the handshake when the end begins is served; a WebSocket is told with a Close frame.

@SystemActor
@Suite("HTTP/2 over TLS while operators are at work", .serialized)
struct UnbrokenServiceTests {
  private func reloads(_ adminPort: UInt16) throws -> Double? {
    try Metrics(HTTPClient(port: adminPort)).value("cordon_config_reloads_total{result=\"ok\"}")
  }

  @Test("Six reloads with renewed certificates, under load: every request is answered 200, and no connection is ended")
  func reload() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    try folder.replaceCertificate("shown", by: "one")
    let gateway = try folder.gateway(before: upstream) {
      $0["listen", "workers"] = "2"
      $0["listen", "tls_certificate_file"] = "\"\(folder.path)/shown.pem\""
      $0["listen", "tls_private_key_file"] = "\"\(folder.path)/shown.key\""
    }
    defer { gateway.stop() }
    let load = try SteadyHTTP2Load(folder, port: gateway.configuration.port)
    for round in 1...6 {
      try load.waitForMore()
      try folder.replaceCertificate("shown", by: round % 2 == 0 ? "one" : "new")
      var configuration = gateway.configuration
      configuration["upstream.timeouts", "connect"] = "\"\(round + 5)s\""
      configuration["identity.headers", "X-Round"] = "\"sub\""
      configuration.ending += "[[route]]\npath = \"/round/\(round)/\"\naccess = \"deny\"\n"
      _ = try configuration.install(in: gateway.directory)
      gateway.process.signal(SIGHUP)
      try poll("reload \(round)") { try reloads(gateway.configuration.adminPort) == Double(round) ? () : nil }
    }
    try load.waitForMore()
    let result = try load.stop()
    #expect(result.complaints == [])
    #expect(result.farewells == 0 && result.leftOut == 0)
    #expect(result.certificates == ["new", "one"])
    #expect(result.answered >= 700)
  }

  @Test("A process that starts beside the old one takes over, three times: farewells, and no request is lost")
  func takeOver() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    let old = try folder.gateway(before: upstream) { $0["listen", "workers"] = "2" }
    defer { old.stop() }
    let load = try SteadyHTTP2Load(folder, port: old.configuration.port)
    var running = old.process
    for _ in 0..<3 {
      let next = try old.startSuccessor()
      try load.waitForMore()
      running.signal(SIGTERM)
      #expect(try running.waitForExit() == .code(0))
      running = next
    }
    try load.waitForMore()
    let result = try load.stop()
    running.stop()
    #expect(result.complaints == [])
    #expect(result.farewells >= 3)
  }

  @Test("Three restarts on a socket that somebody else holds: no connection is refused and no request lost")
  func restart() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:\(upstream.port)")
    folder.configure(&configuration)
    configuration["listen", "workers"] = "2"
    let file = try configuration.install(in: folder.directory)
    let sockets = [(name: "listen", socket: try HeldSocket(port: configuration.port))]
    let load = try SteadyHTTP2Load(folder, port: configuration.port)
    var running = try startActivated(file, sockets: sockets)
    defer { running.stop() }
    for _ in 0..<3 {
      try load.waitForMore()
      running.signal(SIGTERM)
      #expect(try running.waitForExit() == .code(0))
      running = try startActivated(file, sockets: sockets)
    }
    try load.waitForMore()
    let result = try load.stop()
    #expect(result.complaints == [])
    #expect(result.farewells >= 3)
  }

  @Test("A client within the handshake when the shutdown begins is served, in either version of HTTP")
  func handshake() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    let gateway = try folder.gateway(before: upstream)
    defer { gateway.stop() }
    try folder.run(
      """
      port, pid, peers = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
      sys.path.append(peers)
      from peer import *
      # What would finish the handshake is kept back, the request with it.
      halfway = {it: Records(port, context(ssl.TLSVersion.TLSv1_3, alpn=[it])) for it in ["http/1.1", "h2"]}
      idle = connect(port, "localhost", context())
      get(idle, "localhost")
      os.kill(pid, signal.SIGTERM)
      assert idle.recv(1) == b"", "the moment for idle connections is over"
      assert get(halfway["http/1.1"], "localhost")[0] == 200
      peer = Peer(port, opens=False, connection=halfway["h2"])
      peer.send(PREFACE, raw(SETTINGS), peer.headers(1, peer.fields(path="/", scheme="https")))
      while not (frame := peer.read()).stream_id == 1: pass
      assert frame.type == HEADERS and (":status", "200") in frame.decoded, frame
      print("ok")
      """,
      [
        "\(gateway.configuration.port)", "\(gateway.process.pid)",
        Machine.packageRoot.appending(path: "Tests/System/HTTP2").path,
      ])
    #expect(try gateway.process.waitForExit() == .code(0))
  }

  @Test("A WebSocket is told of the end by a Close frame, its answer reaches the application, and its stream ends")
  func webSocket() throws {
    let heard = Watched<[UInt8]>([])
    let upstream = try RawUpstream { request, connection in
      let accept = StreamingApplication.accept(request)
      try connection.send(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
          + "Sec-WebSocket-Accept: \(accept)\r\n\r\n")
      // Half a frame; the rest comes when the end has begun.
      try connection.send([0x81, 2, 0x68])
      _ = try connection.read(count: 1)
      try connection.send([0x69, 0x81, 1, 0x78])
      let answer = try connection.read(count: 8)
      heard.update { $0 = answer }
      connection.shutdownBoth()
    }
    defer { upstream.stop() }
    let folder = try TLSFolder()
    let gateway = try folder.gateway(before: upstream) { $0["shutdown", "limit"] = "\"1h\"" }
    defer { gateway.stop() }
    try folder.run(
      """
      port, pid, peers = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
      sys.path.append(peers)
      from peer import *
      peer = Peer(port, connection=connect(port, "localhost", context(alpn=["h2"])))
      peer.send(peer.headers(1, [
        (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"), (":path", "/socket"),
        (":authority", f"localhost:{port}"), ("origin", f"https://localhost:{port}"), ("sec-websocket-version", "13")],
        end=False))
      said, ended, reset = b"", False, None
      def follow(until):
        global said, ended, reset
        while not until():
          frame = peer.read()
          assert frame is not None, peer.seen
          if frame.type == PING and "ACK" not in frame.flags: peer.send(raw(PING, ACK, 0, frame.opaque_data))
          if frame.type == DATA: said += frame.data
          if frame.type == RST_STREAM: reset = frame.error_code
          if frame.stream_id == 1 and "END_STREAM" in frame.flags: ended = True
      follow(lambda: len(said) == 3)
      os.kill(pid, signal.SIGTERM)
      follow(lambda: any(it.type == GOAWAY for it in peer.seen))
      peer.send(raw(DATA, 0, 1, b"x"))
      follow(lambda: len(said) >= 8)
      assert said == b"\\x81\\x02hi\\x88\\x02\\x03\\xe9", said
      peer.send(raw(DATA, 0, 1, b"\\x88\\x82\\0\\0\\0\\0\\x03\\xe9"))
      follow(lambda: ended or reset is not None)
      assert ended and reset is None and len(said) == 8, (said, reset)
      print("ok")
      """,
      [
        "\(gateway.configuration.port)", "\(gateway.process.pid)",
        Machine.packageRoot.appending(path: "Tests/System/HTTP2").path,
      ])
    #expect(heard.current == [0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE9])
    #expect(try gateway.process.waitForExit() == .code(0))
  }
}
