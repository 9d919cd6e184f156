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
  private func withConnection(_ body: (HTTP2ServerConnection, EmbeddedChannel) throws -> Void) throws {
    let channel = EmbeddedChannel()
    let settings = ListenerSettings(address: .unix(path: "/nowhere"))
    let listener = try ListenerConfiguration(
      settings, rules: ForwardingRules(reservedNames: [], sessionCookieName: "s", scheme: "http"), upstreams: [])
    let server = ServerContext(
      loop: LoopResources(eventLoop: channel.eventLoop), gate: ScriptedGate(ScriptedGate.forwards),
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
}
