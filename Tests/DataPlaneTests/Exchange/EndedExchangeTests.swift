import NIOCore
import Testing
import WaitingTesting

@testable import DataPlane

// Exchanges that the gateway ends because their session has ended, by how far they have come.

@Suite("Exchanges whose session ends")
struct EndedExchangeTests {
  private static let session = ConnectionKey(high: 1, low: 1)

  /// A gateway whose requests belong to a session, with an application that answers "/ok" alone.
  private func withSession(
    script: ScriptedUpstream.Script? = nil, _ body: (GatewayRig, _ upstreamSees: () async -> Bool) async throws -> Void
  ) async throws {
    let silent: ScriptedUpstream.Script = { socket, _ in
      while true {
        if try socket.readHead().hasPrefix("GET /ok ") { try socket.answer("fine") }
      }
    }
    try await withGateway(
      gate: { _, _ in
        .forward(ForwardingDirective(label: .init(number: 0), session: Self.session, allowsUpgrade: true))
      },
      script: script ?? silent,
      { rig async throws in try await body(rig) { await eventually { rig.log.upstreams == 1 } } })
  }

  @Test("The gate answers a request without a response, and its connection serves the next one")
  func unanswered() async throws {
    let ending = ExchangeEnding.unverifiable
    try await withSession { rig, upstreamSees in
      let client = try rig.connect()
      try client.send("GET /silent HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(await upstreamSees())
      await rig.listener.endExchanges(of: [ConnectionKey(high: 2, low: 2)], for: ending)
      await rig.listener.endExchanges(of: [Self.session], for: ending)
      let (refused, next) = try await blocking {
        let refused = try client.readResponse()
        try client.send("GET /ok HTTP/1.1\r\nHost: a\r\n\r\n")
        return (refused, try client.readResponse())
      }
      #expect(refused.status == 401 && refused.text == "unverifiable")
      #expect(next.text == "fine" && rig.upstream.accepted == 2, "an unanswered connection is not used again")
      #expect(await eventually { rig.log.statuses == [401, 200] })
    }
  }

  @Test("The gate answers a request whose body is still coming, or has come, as it is told, and an upgrade that waits")
  func unfinished() async throws {
    let requests = [
      ("POST /silent HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf", "signInRequired partial"),
      ("POST /silent HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nfull", "signInRequired whole"),
      ("GET /silent HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", "signInRequired"),
    ]
    for (request, answer) in requests {
      try await withSession { rig, upstreamSees in
        let client = try rig.connect()
        try client.send(request)
        #expect(await upstreamSees())
        // The change feed reports a sign-out once more.
        for _ in 0..<2 { await rig.listener.endExchanges(of: [Self.session], for: .signInRequired) }
        let refused = try await blocking { try client.readResponse() }
        #expect(refused.status == 401 && refused.text == answer)
        #expect(rig.log.failures == [])
        #expect(await eventually { rig.log.upstreams == 0 })
      }
    }
  }

  @Test("A response that has begun is cut off: its client cannot take it for a whole one")
  func begun() async throws {
    try await withSession(
      script: { socket, _ in
        _ = try socket.readHead()
        try socket.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n")
        _ = try socket.readToEnd()
      },
      { rig, _ in
        let client = try rig.connect()
        try await blocking {
          try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          _ = try client.read(through: "half\r\n")
        }
        await rig.listener.endExchanges(of: [Self.session], for: .signInRequired)
        #expect(try await blocking { try client.readToEnd() }.isEmpty)
        #expect(await eventually { rig.log.failures == [.aborted] })
      })
  }
}
