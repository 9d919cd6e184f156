import HTTPTypes
import HTTPWire
import NIOCore
import NIOEmbedded
import Testing

@testable import DataPlane

@Suite("Client connections of HTTP/2")
struct HTTP2ServerConnectionTests {
  private static let preface =
    Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]

  /// A connection whose client has sent its preface.
  private func withConnection(
    deciding decision: @escaping ScriptedGate.Decision = ScriptedGate.forwards,
    _ body: (HTTP2ServerConnection, EmbeddedChannel) throws -> Void
  ) throws {
    let channel = EmbeddedChannel()
    let settings = ListenerSettings(address: .unix(path: "/nowhere"))
    let listener = try ListenerConfiguration(
      settings, rules: ForwardingRules(reservedNames: [], sessionCookieName: "s", scheme: "http"), upstreams: [])
    let server = ServerContext(
      loop: LoopResources(eventLoop: channel.eventLoop), gate: ScriptedGate(decision),
      observer: Recorder(), configuration: ExchangeConfiguration(listener, settings.main), upstreams: [], isTLS: false)
    let connection = HTTP2ServerConnection(server: server, peer: server.peer(nil))
    try channel.pipeline.syncOperations.addHandler(connection)
    try channel.connect(to: SocketAddress(unixDomainSocketPath: "/nowhere")).wait()
    try channel.writeInbound(ByteBuffer(bytes: Self.preface))
    channel.embeddedEventLoop.run()
    try body(connection, channel)
    _ = try channel.finish(acceptAlreadyClosed: true)
  }

  @Test("A connection that is given up for memory is told why, and closed")
  func givenUp() throws {
    try withConnection { connection, channel in
      _ = try channel.readOutbound(as: ByteBuffer.self)
      connection.giveUp(.unsentResponses)
      channel.embeddedEventLoop.run()
      let last = try #require(try channel.readOutbound(as: ByteBuffer.self))
      // GOAWAY, ENHANCE_YOUR_CALM.
      #expect(Array(last.readableBytesView.suffix(4)) == [0, 0, 0, 11] && !channel.isActive)
    }
  }

  @Test("A connection that is given up for memory may end before it is closed", arguments: [true, false])
  func endedMeanwhile(forResponses: Bool) throws {
    try withConnection { connection, channel in
      connection.giveUp(forResponses ? .unsentResponses : .unreadBodies)
      // Its client leaves in the same turn of the loop.
      channel.pipeline.fireChannelInactive()
      channel.embeddedEventLoop.run()
      #expect(connection.session.isOver && connection.session.endedBy == nil)
    }
  }

  /// A head of literals (RFC 7541, 6.2.2), and whether its request is whole.
  private func head(_ stream: UInt8, _ method: String, path: String, isWhole: Bool) -> [UInt8] {
    let fields = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "a")]
    let payload = fields.flatMap { name, value -> [UInt8] in
      [0, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)] + Array(value.utf8)
    }
    return [0, 0, UInt8(payload.count), 1, isWhole ? 5 : 4, 0, 0, 0, stream] + payload
  }

  /// The properties of the transport of the one open stream, but for what it belongs to.
  private func state(_ connection: HTTP2ServerConnection) throws -> [String: String] {
    let exchange = try #require(connection.session.handlers.first as? HTTP2ServerStream)
    let own = Mirror(reflecting: exchange).children.filter {
      !["connection", "server", "loop", "stream"].contains($0.label)
    }
    return Dictionary(uniqueKeysWithValues: own.map { ($0.label ?? "", String(reflecting: $0.value)) })
      .merging(["object": "\(ObjectIdentifier(exchange))"]) { $1 }
  }

  @Test("A request whose stream was another's before finds nothing of it")
  func again() throws {
    let decision: ScriptedGate.Decision = { path, _ in
      path == "/first"
        ? .answer(ControlResponse(.badRequest, body: [1, 2, 3]), label: .init(number: 7))
        : .answer(ControlResponse(.ok), label: .init(number: 8))
    }
    var states: [[String: String]] = []
    for isSecond in [false, true] {
      try withConnection(deciding: decision) { connection, channel in
        func receive(_ bytes: [UInt8]) throws {
          try channel.writeInbound(ByteBuffer(bytes: bytes))
          channel.embeddedEventLoop.run()
        }
        var object: String?
        if isSecond {
          // Answered before it is whole, so that its end is waited for; then reset by its client.
          try receive(head(1, "POST", path: "/first", isWhole: false))
          object = try state(connection)["object"]
          try receive([0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 8])
          #expect(connection.session.streamCount == 0)
        }
        try receive(head(3, "POST", path: "/second", isWhole: false))
        let own = try state(connection)
        if isSecond { #expect(own["object"] == object) }
        states.append(own)
        try receive([0, 0, 4, 3, 0, 0, 0, 0, 3, 0, 0, 0, 8])
        #expect((connection.server.observer as? Recorder)?.log.statuses == (isSecond ? [400, 200] : [200]))
        #expect((connection.server.observer as? Recorder)?.log.sent == (isSecond ? [3, 0] : [0]))
      }
    }
    // The exchange and the wait for its end have times in them.
    let timed = ["object", "exchange", "lingering"]
    #expect(states[0].filter { !timed.contains($0.key) } == states[1].filter { !timed.contains($0.key) })
  }
}
