import NIOCore
import NIOEmbedded
import Testing

@testable import TLSTransport

@Suite("The handshake")
struct HandshakeTests {
  @Test("A client and a server agree on TLS 1.3 before any plaintext is passed on")
  func completes() throws {
    let pair = try ConnectedPair()
    try pair.activate()
    pair.client.write("hello")
    pair.client.flush()
    try pair.pump()
    #expect(pair.client.log.events == [.handshake])
    #expect(pair.server.log.events == [.handshake, .plaintext])
    #expect(pair.server.log.text == "hello")
    let negotiated = try #require(pair.server.log.negotiated)
    #expect(negotiated.version == .tls13)
    #expect(negotiated.cipherSuite.hasPrefix("TLS_"))
    #expect(!negotiated.isResumed)
    #expect(negotiated.negotiatedProtocol == nil)
    pair.close()
  }

  @Test("The server learns the name that the client asks for")
  func serverName() throws {
    let pair = try ConnectedPair(serverName: "app.example.test.")
    try pair.activate()
    try pair.pump()
    #expect(pair.server.log.negotiated?.serverName == "app.example.test")
    pair.close()
  }

  @Test(
    "An address is not sent as a name, and is found among the certificate's addresses",
    arguments: ["127.0.0.1", "::1", "[::1]"])
  func address(_ address: String) throws {
    let pair = try ConnectedPair(serverName: address)
    try pair.activate()
    try pair.pump()
    #expect(pair.client.log.events == [.handshake])
    #expect(pair.server.log.negotiated?.serverName == nil)
    pair.close()
  }

  @Test("A server of TLS 1.2 may ask our client for another handshake, and the connection goes on after it")
  func renegotiation() throws {
    let server = try #require(RenegotiatingServer())
    let trust = TLSTrust.file(TestCertificates.path(TestCertificates.authority))
    let client = try Endpoint(.client(trust, [], serverName: "app.example.test"))
    try client.activate()
    while try server.exchange(with: client) {}
    #expect(client.log.negotiated?.version == .tls12)
    server.renegotiate()
    while try server.exchange(with: client) {}
    #expect(!server.isRenegotiating)
    client.write("hello")
    client.flush()
    while try server.exchange(with: client) {}
    #expect(String(buffer: server.received) == "hello")
    #expect(client.log.events == [.handshake])
    client.wire.hangUp()
  }

  /// A server that has asked for another handshake, and does not have the client's answer yet.
  private static func renegotiating() throws -> (server: RenegotiatingServer, client: Endpoint) {
    let server = try #require(RenegotiatingServer())
    let trust = TLSTrust.file(TestCertificates.path(TestCertificates.authority))
    let client = try Endpoint(.client(trust, [], serverName: "app.example.test"))
    try client.activate()
    while try server.exchange(with: client) {}
    server.renegotiate()
    _ = try server.exchange(with: client)
    return (server, client)
  }

  @Test("Writes during another handshake that a server asks for follow it, in their order")
  func writesDuringRenegotiation() throws {
    let (server, client) = try Self.renegotiating()
    client.write("hello")
    client.flush()
    client.write(" again")
    client.flush()
    while try server.exchange(with: client) {}
    #expect(!server.isRenegotiating && String(buffer: server.received) == "hello again")
    #expect(client.log.events == [.handshake])
    client.wire.hangUp()
  }

  @Test("A server that asks for another handshake and does not finish it has no more than 256 KiB held for it")
  func unfinishedRenegotiation() throws {
    let (_, client) = try Self.renegotiating()
    client.write(String(repeating: "a", count: 256 << 10))
    client.flush()
    #expect(client.log.events == [.handshake])
    client.write("a")
    client.flush()
    #expect(client.log.errors == [.protocolViolation(reason: "asks for another handshake and does not finish it")])
    #expect(client.log.events.last == .inactive)
  }

  @Test("A server may answer during another handshake, but not what it has not got yet")
  func answersDuringRenegotiation() throws {
    let (server, client) = try Self.renegotiating()
    try server.send("first", to: client)
    #expect(client.log.text == "first")
    client.write("hello")
    client.flush()
    try server.send("second", to: client)
    let reason = "answers during another handshake, before it has everything"
    #expect(client.log.errors == [.protocolViolation(reason: reason)])
    #expect(client.log.text == "first" && client.log.events.last == .inactive)
  }

  @Test("Over HTTP/2 a server may not ask our client for another handshake (RFC 9113, 9.2.1)")
  func renegotiationOverHTTP2() throws {
    let server = try #require(RenegotiatingServer())
    let trust = TLSTrust.file(TestCertificates.path(TestCertificates.authority))
    let client = try Endpoint(.client(trust, ["h2"], serverName: "app.example.test"))
    try client.activate()
    while try server.exchange(with: client) {}
    #expect(client.log.events == [.handshake])
    server.renegotiate()
    while try server.exchange(with: client) {}
    #expect(server.isRenegotiating, "the client has refused")
    client.wire.hangUp()
  }

  @Test("The server's preference decides among the protocols that both know")
  func applicationProtocol() throws {
    let pair = try ConnectedPair(serverProtocols: ["h2", "http/1.1"], clientProtocols: ["http/1.1", "spdy/3", "h2"])
    try pair.activate()
    try pair.pump()
    #expect(pair.server.log.negotiated?.negotiatedProtocol == "h2")
    #expect(pair.client.log.negotiated?.negotiatedProtocol == "h2")
    pair.close()
  }

  @Test(
    "A client that offers no protocol, or one that a server without protocols ignores, is served",
    arguments: [(["h2"], []), ([], ["h2"])])
  func noApplicationProtocol(_ protocols: ([String], [String])) throws {
    let pair = try ConnectedPair(serverProtocols: protocols.0, clientProtocols: protocols.1)
    try pair.activate()
    try pair.pump()
    #expect(pair.server.log.events == [.handshake])
    #expect(pair.server.log.negotiated?.negotiatedProtocol == nil)
    pair.close()
  }

  @Test("A client with no protocol in common is refused with the alert for it")
  func noSharedApplicationProtocol() throws {
    let pair = try ConnectedPair(serverProtocols: ["http/1.1"], clientProtocols: ["h2"])
    try pair.activate()
    try pair.pump()
    #expect(pair.server.log.errors == [.noSharedParameters(reason: "no application protocol")])
    // no_application_protocol (RFC 7301, 3.2).
    guard case .refusedByPeer(alert: 120, _) = pair.client.log.errors.first else {
      Issue.record("\(pair.client.log.events)")
      return
    }
    #expect(!pair.server.channel.isActive)
    #expect(!pair.client.channel.isActive)
  }

  @Test("A handler that joins an active channel begins at once")
  func joinsLate() throws {
    let context = try TLSClientContext(trust: .system, applicationProtocols: [])
    let channel = EmbeddedChannel()
    try channel.connect(to: SocketAddress(unixDomainSocketPath: "/nowhere")).wait()
    try channel.pipeline.syncOperations.addHandler(TLSHandler(client: context, serverName: "app.example.test"))
    let hello = try #require(try channel.readOutbound(as: ByteBuffer.self))
    // A handshake record.
    #expect(hello.getInteger(at: 0, as: UInt8.self) == 22)
    _ = try channel.finish(acceptAlreadyClosed: true)
  }

  @Test("The handshake reads on its own, and later reads are the application's")
  func readsOnDemand() throws {
    let pair = try ConnectedPair()
    try pair.activate()
    #expect(pair.client.wire.reads == 1)
    try pair.pump()
    let reads = pair.client.wire.reads
    // The server's tickets arrived without anybody having asked for a read: nothing more is read.
    #expect(pair.client.log.events == [.handshake])
    pair.client.channel.read()
    #expect(pair.client.wire.reads == reads + 1)
    pair.server.write("a")
    pair.server.flush()
    let bytes = try #require(try pair.server.takeOutbound())
    // Half a record is not what the application asked for: another read follows by itself.
    try pair.client.receive(bytes.getSlice(at: bytes.readerIndex, length: 7)!)
    #expect(pair.client.wire.reads == reads + 2)
    try pair.client.receive(bytes.getSlice(at: bytes.readerIndex + 7, length: bytes.readableBytes - 7)!)
    #expect(pair.client.log.text == "a")
    #expect(pair.client.wire.reads == reads + 2)
    pair.close()
  }

  @Test("A handshake that arrives byte by byte completes")
  func byteByByte() throws {
    let pair = try ConnectedPair()
    try pair.activate()
    // Three flights each way at the most, and the tickets.
    for _ in 0..<16 where pair.client.log.negotiated == nil || pair.server.log.negotiated == nil {
      for (from, to) in [(pair.client, pair.server), (pair.server, pair.client)] {
        guard var bytes = try from.takeOutbound() else { continue }
        while let byte = bytes.readSlice(length: 1) { try to.receive(byte) }
      }
    }
    #expect(pair.client.log.events == [.handshake])
    pair.close()
  }
}
