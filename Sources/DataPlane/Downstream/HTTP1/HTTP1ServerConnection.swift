internal import HTTPWire
internal import NIOCore
internal import SocketTransport
internal import TLSTransport

/// One HTTP/1.1 (or 1.0) client connection: the last handler of its channel.
///
/// The transport of its exchanges, one after the other (RFC 9112, 9.3.2); what a client sends ahead waits until the
/// response before it is out. This file holds the life of the connection; the framing of requests and of responses is
/// in `+Request` and `+Response`.
final class HTTP1ServerConnection: TimedHandler, ChannelDuplexHandler, DownstreamTransport, ReviewedConnection,
  IncompleteRequestOwner, SocketReader
{
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// Progress of the connection; that of a request is ``Exchange/request``.
  enum Phase {
    case open
    /// The last response is on its way. What the client sends is discarded.
    case finishing
    /// The response is out, and our side has ended. What the client sends is discarded until it ends too, so that the
    /// response is not lost to a reset (RFC 9112, 9.6).
    case lingering(LingeringClose)
    case closed
  }

  let server: ServerContext
  let loop: LoopResources
  let writer: OrderedWriter
  var peer: ClientPeer

  private(set) var phase = Phase.open
  var input = ClientInput.open(lastRead: .distantPast)
  /// Bytes that were read and not looked at, or a head that is not whole.
  var pending: ByteBuffer?
  var exchange = Exchange()
  /// The framing of the request's body.
  var decoder = BodyDecoder(RequestFraming.none)
  /// The framing of the response.
  var framing = Framing()
  /// Whether a head has begun to arrive, and its time runs.
  var isWithinHead = false
  var isReviewed = false
  /// Response bytes that go out together.
  var outgoing: ByteBuffer?
  /// Whether the channel has room for more of a response.
  private(set) var canTakeResponse = true
  private var reads = ReadGate()
  /// Whether the TLS handshake is complete: later errors are not handshake failures.
  private var hasHandshake = false
  /// The memory that ``pending`` or a handshake holds.
  var holding: IncompleteRequestBudget.Holding?
  /// The client's progress with the bytes that wait for it; nil while none do.
  var pace: ResponsePace?
  private var receiveBufferMode = ReceiveBufferMode.frugal
  /// Bytes of the last read.
  private var readCount = 0

  /// Most bytes that are read ahead of their turn.
  static let aheadLimit = 64 * 1024

  init(server: ServerContext, peer: ClientPeer) {
    self.server = server
    loop = server.loop
    self.peer = peer
    writer = OrderedWriter(isAtSocket: !server.isTLS)
  }

  var context: ChannelHandlerContext? { writer.context }

  var isOpen: Bool { if case .open = phase { true } else { false } }
  private var isClosed: Bool { if case .closed = phase { true } else { false } }

  var sessions: [ConnectionKey] { exchange.isUnderWay ? exchange.info.session.map { [$0] } ?? [] : [] }

  // MARK: Channel events

  func handlerAdded(context: ChannelHandlerContext) {
    writer.attach(context, reader: self)
    server.opened(self)
    if context.channel.isActive { began(context) }
  }

  func channelActive(context: ChannelHandlerContext) {
    began(context)
    context.fireChannelActive()
  }

  private func began(_ context: ChannelHandlerContext) {
    loop.wheel.arm(self, after: server.firstWait, now: .now())
    if server.isTLS, !hasHandshake { hold(IncompleteRequestBudget.handshake) }
    if server.isDraining { drain() }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if !writer.isAtSocket, event is TLSHandshakeCompleted {
      hasHandshake = true
      releaseHolding()
      let wait = server.isDraining ? ServerContext.handshakeGrace : server.configuration.waits.head
      loop.wheel.arm(self, after: wait, now: .now())
    }
    if case .inputClosed? = event as? ChannelEvent { inputClosed() }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    connectionEnded()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    connectionEnded()
    writer.detach()
    canTakeResponse = false
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if let error = error as? TLSError, error != .uncleanShutdown, !hasHandshake {
      server.observer.handshakeFailed(HandshakeFailure(error), of: peer.address)
    }
    writer.close()
  }

  /// The client is gone.
  private func connectionEnded() {
    guard !isClosed else { return }
    phase = .closed
    releaseHolding()
    loop.wheel.remove(self)
    pending = nil
    outgoing = nil
    clientLeft(isSent: false, at: .now())
    server.ended(self)
  }

  // MARK: Reading

  func read(context: ChannelHandlerContext) {
    if reads.read() { context.read() }
  }

  func holdReads(_ hold: Bool) {
    guard hold != reads.isHeld else { return }
    exchange.holdBody(hold, at: .now())
    if hold {
      reads.hold()
    } else if reads.release() {
      writer.read()
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { socketRead(unwrapInboundIn(data)) }

  func socketRead(_ buffer: consuming ByteBuffer) {
    readCount = buffer.readableBytes
    switch phase {
    case .open: receive(buffer)
    // The pace of the response bounds the time.
    case .finishing: break
    case .lingering(let close): close.received(by: self, loop.wheel, now: .now())
    case .closed: break
    }
  }

  private func receive(_ buffer: consuming ByteBuffer) {
    switch exchange.request {
    // A client that sends request after request without reading the responses waits until they are out.
    case .idle where !canTakeResponse: readAhead(buffer)
    case .idle:
      if var whole = pending.take() {
        // A head that comes a byte at a time is not parsed again with each: only when a line has ended, or a limit is
        // passed.
        let hasLine = buffer.readableBytesView.contains(0x0A)
        whole.writeBuffer(&buffer)
        if !hasLine, whole.readableBytes <= server.configuration.parser.limits.headBytes {
          pending = whole
          return holdPending()
        }
        buffer = whole
      }
      pending = consume buffer
      readRequests()
    case .collecting, .body, .unread:
      enlargeReads()
      readContent(&buffer, at: .now())
    case .deciding, .handling, .complete: readAhead(buffer)
    case .switching:
      readAhead(buffer)
      framing.keepsAlive = false
      refuse(.upgradeWithSurplus)
    case .tunnel:
      enlargeReads()
      var unframed: ByteBuffer?
      _ = receive(buffer, gathering: &unframed)
    }
  }

  private func readAhead(_ buffer: consuming ByteBuffer) {
    // Bytes after the last request are discarded.
    if exchange.request.isWhole, framing.closesAfterResponse {
      pending = ByteBuffer()
      return
    }
    input.read(at: .now())
    if pending == nil { pending = buffer } else { pending?.writeBuffer(&buffer) }
    if let count = pending?.readableBytes, count > Self.aheadLimit { holdReads(true) }
    holdPending()
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    _ = socketReadComplete()
    context.fireChannelReadComplete()
  }

  func socketReadComplete() -> Bool {
    if exchange.request.isFlowing, let upstream = exchange.upstream.connection {
      upstream.flushRequest()
      if !upstream.isWritable { holdReads(true) }
      if writer.isAtSocket { adjustReads(to: upstream) }
    }
    return writer.isAtSocket && !isClosed && reads.read()
  }

  /// Reads in larger pieces from a client that sends much.
  @inline(__always)
  private func enlargeReads() {
    guard receiveBufferMode == .frugal, readCount >= ReceiveBufferMode.worthMore else { return }
    apply(writer.isAtSocket ? .usual : .wide)
  }

  /// Reads a body in large pieces for as long as its upstream takes everything at once.
  private func adjustReads(to upstream: UpstreamConnection) {
    if receiveBufferMode == .bulk {
      if !upstream.takesBulk { apply(.usual) }
    } else if readCount >= ReceiveBufferMode.worthLarge, exchange.request.isBody, upstream.takesBulk {
      apply(.bulk)
    }
  }

  /// Ends large reads with the body that they are for.
  func endLargeReads() { if receiveBufferMode == .bulk { apply(.usual) } }

  private func apply(_ mode: ReceiveBufferMode) {
    guard mode != receiveBufferMode else { return }
    receiveBufferMode = mode
    writer.setReceiveBufferMode(mode)
  }

  // MARK: Memory

  /// Counts what waits in ``pending``, in no larger a buffer than it needs.
  func holdPending() {
    guard let waiting = pending, waiting.readableBytes > 0 else { return }
    var size = waiting.storageCapacity
    if size > 2 * waiting.readableBytes + 256 {
      var small = ByteBufferAllocator().buffer(capacity: waiting.readableBytes)
      small.writeImmutableBuffer(waiting)
      size = small.storageCapacity
      pending = small
    }
    hold(size)
  }

  var incompleteRequests: IncompleteRequestBudget { loop.incompleteRequests }

  func giveUpRequest() {
    releaseHolding()
    guard isOpen else { return }
    switch exchange.request {
    case .complete, .handling, .switching:
      // The request under way is answered; requests that were sent ahead have to be sent again.
      framing.keepsAlive = false
      framing.closesAfterResponse = true
      pending = ByteBuffer()
    case .idle, .deciding:
      if pending == nil { return close() }
      refuseHead(.tooMuchMemory)
    case .collecting, .body, .tunnel, .unread: break
    }
  }

  // MARK: Writing

  /// Whether the socket has taken all that was written.
  var hasSentAll: Bool { writer.hasSentAll() }

  var takesBulk: Bool { hasSentAll }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    canTakeResponse = context.channel.isWritable
    if canTakeResponse {
      // The pace of a connection that is finishing counts until the client has taken the last byte.
      if isOpen { pace = nil }
      if !exchange.isUnderWay {
        if isOpen { takesResponsesAgain() }
      } else if exchange.hasBodyDeadline {
        awaitBody(.now())
      } else {
        loop.wheel.disarm(self)
        if isOpen { awaitTunnelEnd(at: .now()) }
      }
      exchange.upstream.connection?.holdReads(false)
    } else if exchange.isUnderWay {
      watchPace(at: .now())
    }
    context.fireChannelWritabilityChanged()
  }

  /// Bytes that the client has not taken, as far as its own system has not acknowledged them.
  var unsentBytes: Int { context?.channel.unsentBytes ?? 0 }

  // MARK: Time

  override func timedOut() {
    if isOpen, pace == nil, isAwaitingHalfClosedClient { return giveUpHalfClosedClient() }
    if pace != nil || exchange.isUnderWay && isOpen { return exchangeTimedOut() }
    guard isOpen else { return abort() }
    guard pending == nil || !canTakeResponse else { return refuseHead(.headTimeout) }
    if server.isTLS, !hasHandshake { server.observer.handshakeFailed(.timedOut, of: peer.address) }
    // A connection that never began a request is closed without a response, as RFC 9112, 9.5 has it for idle ones.
    if hasSentAll { close() } else { closeAfterResponse(clientMaySend: true) }
  }

  // MARK: Closing

  /// Aborts the connection, in the middle of whatever it does.
  func abort() {
    outgoing = nil
    exchange.aborted()
    // Without close_notify, or by a reset where the end of the connection is that of the response, so that an aborted
    // response is not taken for a whole one.
    if peer.isTLS {
      context?.triggerUserOutboundEvent(TLSAbruptClose(), promise: nil)
    } else if exchange.isUnderWay, framing.body == .untilClose {
      (context?.channel as? SocketChannel)?.resetsOnClose = true
    }
    writer.close()
  }

  func abortExchange(_ reason: AbortReason) { abort() }

  func endExchanges(of sessions: Set<ConnectionKey>, for ending: ExchangeEnding) {
    guard isOpen, exchange.isUnderWay, let session = exchange.info.session, sessions.contains(session) else {
      return
    }
    end(for: ending, at: .now())
  }

  func reviewExchanges(at now: NIODeadline) -> Bool {
    guard isOpen, exchange.isReviewable else { return false }
    reviewExchange(at: now)
    return true
  }

  /// Closes in order, without waiting for anything.
  func close() { writer.close() }

  /// Ends the connection after the last response, once that is out: a close throws away what the system has not yet
  /// taken.
  func closeAfterResponse(clientMaySend: Bool) {
    guard let context else { return }
    phase = .finishing
    pending = nil
    releaseHolding()
    holdReads(false)
    if hasSentAll { return closeSent(clientMaySend: clientMaySend) }
    watchPace(at: .now())
    LingeringClose.whenSent(context) { self.closeSent(clientMaySend: clientMaySend) }
  }

  /// Closes after a response that is out. Where the client may still be sending, its bytes are read and thrown away
  /// for a while: closing at once would reset the connection, and the response with it.
  private func closeSent(clientMaySend: Bool) {
    pace = nil
    guard clientMaySend, !input.hasEnded, let context else { return close() }
    var close = LingeringClose.endOutput(context, of: self, loop.wheel)
    guard !isClosed else { return }
    if server.isDraining { close.hasten(self, loop.wheel, now: .now()) }
    phase = .lingering(close)
  }

  /// Ends the connection in a graceful shutdown: an idle one after a grace period, a busy one after its response, a
  /// tunnel by the rules of its protocol.
  func drain() {
    if case .lingering(var close) = phase {
      close.hasten(self, loop.wheel, now: .now())
      phase = .lingering(close)
    }
    guard isOpen else { return }
    if !exchange.isUnderWay, pending == nil {
      guard hasSentAll else { return closeAfterResponse(clientMaySend: true) }
      let isNew = server.isTLS && !hasHandshake
      loop.wheel.arm(self, after: isNew ? ServerContext.handshakeGrace : ServerContext.idleGrace, now: .now())
    }
    endTunnel()
  }
}
