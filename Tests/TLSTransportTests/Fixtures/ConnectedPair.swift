import NIOCore
import NIOEmbedded

@testable import TLSTransport

/// A client's and a server's handler, each in an embedded channel, back to back.
final class ConnectedPair {
  let client: Endpoint
  let server: Endpoint

  init(
    server: TestCertificates.Files = TestCertificates.valid, serverProtocols: [String] = [],
    trust: TLSTrust = .file(TestCertificates.path(TestCertificates.authority)), clientProtocols: [String] = [],
    serverName: String = "app.example.test"
  ) throws {
    self.server = try Endpoint(.server(server, serverProtocols))
    self.client = try Endpoint(.client(trust, clientProtocols, serverName: serverName))
  }

  /// A pair of contexts that the test has made.
  init(
    server: TLSServerContext, client: TLSClientContext, serverName: String = "app.example.test",
    sessions: TLSClientSessions? = nil
  ) throws {
    self.server = try Endpoint(.serverContext(server))
    self.client = try Endpoint(.clientContext(client, serverName: serverName, sessions))
  }

  /// A pair whose handshake is finished.
  static func established() throws -> ConnectedPair {
    let pair = try ConnectedPair()
    try pair.activate()
    try pair.pump()
    return pair
  }

  func activate() throws {
    try server.activate()
    try client.activate()
  }

  /// Carries bytes both ways until there are none.
  func pump() throws {
    while true {
      let toServer = try client.takeOutbound()
      let toClient = try server.takeOutbound()
      if toServer == nil, toClient == nil { return }
      if let toServer { try server.receive(toServer) }
      if let toClient { try client.receive(toClient) }
    }
  }

  func close() {
    for side in [client, server] {
      side.wire.hangUp()
      // The channel takes its handlers out in a later turn of its loop.
      side.channel.embeddedEventLoop.run()
    }
  }
}

/// One side of a connection: the wire, the TLS handler, and a log of its events.
final class Endpoint {
  enum Side {
    case server(TestCertificates.Files, [String])
    case client(TLSTrust, [String], serverName: String)
    case serverContext(TLSServerContext)
    case clientContext(TLSClientContext, serverName: String, TLSClientSessions?)
  }

  let channel = EmbeddedChannel()
  let wire = Wire()
  let log = EventLog()
  /// The pipeline owns it, as in the product.
  private(set) weak var handler: TLSHandler?

  init(_ side: Side) throws {
    let handler =
      switch side {
      case .server(let files, let protocols):
        try TLSHandler(
          server: TLSServerContext(
            certificateFile: files.certificate, privateKeyFile: files.key, applicationProtocols: protocols))
      case .client(let trust, let protocols, let serverName):
        try TLSHandler(
          client: TLSClientContext(trust: trust, applicationProtocols: protocols), serverName: serverName)
      case .serverContext(let context): try TLSHandler(server: context)
      case .clientContext(let context, let serverName, let sessions):
        try TLSHandler(client: context, serverName: serverName, sessions: sessions)
      }
    self.handler = handler
    try channel.pipeline.syncOperations.addHandlers([wire, handler, log])
  }

  func activate() throws {
    try channel.connect(to: SocketAddress(unixDomainSocketPath: "/nowhere")).wait()
  }

  /// Bytes that go to the other side; nil for nothing.
  func takeOutbound() throws -> ByteBuffer? {
    var all: ByteBuffer?
    while let next = try channel.readOutbound(as: ByteBuffer.self) { all.setOrWriteImmutableBuffer(next) }
    return all
  }

  func receive(_ bytes: ByteBuffer) throws {
    try channel.writeInbound(bytes)
  }

  func write(_ text: String, promise: EventLoopPromise<Void>? = nil) {
    channel.pipeline.syncOperations.write(NIOAny(ByteBuffer(string: text)), promise: promise)
  }

  func flush() {
    channel.pipeline.syncOperations.flush()
  }
}

/// Replaces the socket: counts what reaches it, and ends the connection without TLS knowing.
final class Wire: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer

  private(set) var reads = 0
  private(set) var writes = 0
  private(set) var closes = 0
  private var context: ChannelHandlerContext?

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func hangUp() { context?.close(promise: nil) }
  func halfClose() { context?.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }

  func read(context: ChannelHandlerContext) {
    reads += 1
    context.read()
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    writes += 1
    context.write(data, promise: promise)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    closes += 1
    // Embedded channels know no half-close.
    if mode == .all { context.close(mode: mode, promise: promise) } else { promise?.succeed() }
  }
}

/// Replaces the application, and records its events.
final class EventLog: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  enum Event: Equatable {
    case handshake
    case plaintext
    case inputClosed
    case error(TLSError)
    case otherError
    case inactive
  }

  private(set) var events: [Event] = []
  private(set) var plaintext = ByteBuffer()
  private(set) var negotiated: TLSHandshakeCompleted?
  private(set) var readCompletes = 0
  /// The reaction of the application to an event.
  var reaction: ((Event, ChannelHandlerContext) -> Void)?

  var text: String { String(buffer: plaintext) }

  var errors: [TLSError] {
    events.compactMap { if case .error(let error) = $0 { error } else { nil } }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    plaintext.writeImmutableBuffer(unwrapInboundIn(data))
    note(.plaintext, context)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    readCompletes += 1
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if let negotiated = event as? TLSHandshakeCompleted {
      self.negotiated = negotiated
      note(.handshake, context)
    } else if case .some(.inputClosed) = event as? ChannelEvent {
      note(.inputClosed, context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    note((error as? TLSError).map { .error($0) } ?? .otherError, context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    note(.inactive, context)
  }

  private func note(_ event: Event, _ context: ChannelHandlerContext) {
    events.append(event)
    reaction?(event, context)
  }
}
