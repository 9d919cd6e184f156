import Testing
import WaitingTesting

@testable import DataPlane

// Cases: both ways, the end of either side, denied upgrades, bytes ahead of the switch, sessions that end.

@Suite("Tunnels")
struct TunnelTests {
  private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

  /// Switches protocols and sends back what it gets, until "end".
  private static let switching: ScriptedUpstream.Script = { socket, _ in
    let head = try socket.readHead()
    guard head.contains("Upgrade: websocket\r\n") else { return try socket.answer("no upgrade") }
    try socket.send(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX: y\r\n\r\nfirst.")
    while true {
      let word = try socket.read(through: ".")
      if word == "end." { return try socket.send("last.") }
      try socket.send("echo " + word)
    }
  }

  private static let upgrade = "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

  @Test("A tunnel carries bytes both ways as they come, and ends with either side")
  func tunnel() async throws {
    try await withGateway(
      script: Self.switching,
      { rig async throws in
        let (head, words, ended) = try await blocking {
          let client = try rig.connect()
          try client.send(Self.upgrade)
          let head = try client.readHead()
          var words = [try client.read(through: "first.")]
          for word in ["one.", "two."] {
            try client.send(word)
            words.append(try client.read(through: "echo \(word)"))
          }
          try client.send("end.")
          words.append(try client.read(through: "last."))
          return (head, words, try client.isEnded())
        }
        #expect(head == "HTTP/1.1 101 Switching Protocols\r\nX: y\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        #expect(words == ["first.", "echo one.", "echo two.", "last."] && ended)
        #expect(await eventually { rig.log.clients == 0 && rig.log.upstreams == 0 && rig.log.statuses == [101] })
        try await blocking {
          let client = try rig.connect()
          try client.send(Self.upgrade)
          _ = try client.read(through: "first.")
          client.close()
        }
        #expect(await eventually { rig.log.clients == 0 && rig.log.upstreams == 0 && rig.log.statuses == [101, 101] })
      })
  }

  @Test("The last bytes of a tunnel arrive whole, also if they are many")
  func tunnelEnd() async throws {
    let size = 3_000_000
    try await withGateway(
      script: { socket, _ in
        _ = try socket.readHead()
        try socket.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n")
        try socket.send([UInt8](repeating: 0x7A, count: size))
      },
      { rig async throws in
        let count = try await blocking {
          let client = try rig.connect(receiveBuffer: 4_096)
          try client.send(Self.upgrade)
          _ = try client.readHead()
          return try client.readToEnd().count
        }
        #expect(count == size)
      })
  }

  @Test("An upgrade that the gate, the protocol or the upstream denies is an ordinary request")
  func denied() async throws {
    try await withGateway(
      gate: { path, _ in .forward(ForwardingDirective(label: .init(number: 0), allowsUpgrade: path != "/denied")) },
      script: { socket, _ in
        while true {
          let head = try socket.readHead()
          try socket.answer(head.contains("Upgrade") ? "declined" : "not asked")
        }
      },
      { rig async throws in
        let answers = try await blocking {
          let client = try rig.connect()
          return try ["/denied", "/ws", "/ws"].enumerated().map { index, path in
            let name = index == 2 ? "h2c" : "websocket"
            try client.send("GET \(path) HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: \(name)\r\n\r\n")
            return try client.readResponse().text
          }
        }
        #expect(answers == ["not asked", "declined", "not asked"])
      })
  }

  @Test("Data after an upgrade request is refused, with it or before its response")
  func bytesBehindUpgrade() async throws {
    try await withGateway(
      script: { socket, _ in
        _ = try socket.readHead()
        _ = try? socket.readToEnd()
      },
      { rig async throws in
        let together = try await rig.exchange(Self.upgrade + Self.get)
        #expect(together.status == 400 && rig.upstream.accepted == 0)
        let later = try await blocking {
          let client = try rig.connect()
          try client.send(Self.upgrade)
          try waitUntil { rig.log.upstreams > 0 }
          try client.send(Self.get)
          return (try client.readResponse(), try client.isEnded())
        }
        #expect(later.0.status == 400 && later.1)
        #expect(await eventually { rig.log.upstreams == 0 })
      })
  }

  @Test("The tunnels of a session end with it, and others continue")
  func endedSessions() async throws {
    let tags = ["/one": ConnectionKey(high: 1, low: 1), "/two": ConnectionKey(high: 2, low: 2)]
    try await withGateway(
      gate: { path, _ in
        .forward(ForwardingDirective(label: .init(number: 0), session: tags[path], allowsUpgrade: true))
      },
      script: Self.switching,
      { rig async throws in
        let clients = try await blocking {
          try ["/one", "/two"].map { path in
            let client = try rig.connect()
            try client.send(Self.upgrade.replacing("/ws", with: path))
            _ = try client.read(through: "first.")
            return client
          }
        }
        await rig.listener.endExchanges(of: [ConnectionKey(high: 1, low: 1)], for: .signInRequired)
        let (ended, echo) = try await blocking {
          let ended = try clients[0].isEnded()
          try clients[1].send("still.")
          return (ended, try clients[1].read(through: "."))
        }
        #expect(ended && echo == "echo still.")
      })
  }
}
