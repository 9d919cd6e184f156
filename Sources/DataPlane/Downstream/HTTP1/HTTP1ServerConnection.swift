internal import HTTPWire
internal import NIOCore
internal import TLSTransport

/// One HTTP/1.1 (or 1.0) client connection: the last handler of its channel.
///
/// Requests are read one after the other (RFC 9112 9.3.2); what a client sends ahead waits until the response before it
/// is out. This file holds the connection's life; the way of a request and of its response are in the files beside it.
final class HTTP1ServerConnection: TimedHandler, ChannelDuplexHandler, ExchangeClient, AcceptedConnection,
  UnfinishedHeadOwner
{
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// How far the request has come.
  enum RequestPhase {
    /// Between two requests, or within a head.
    case idle
    /// The gate has asked for time.
    case deciding
    /// The head is judged, the body is being read.
    case content
    /// The request is whole, its response is not.
    case complete
    /// Bytes go both ways as they come (RFC 9110 7.8).
    case tunnel
    /// Nothing more is read but to be thrown away, so that the last response is not lost to a reset (RFC 9112 9.6).
    case lingering
    case closed
  }

  let server: ServerContext
  private(set) var context: ChannelHandlerContext?
  var peer: ClientPeer
  /// `X-Forwarded-For: ` and the peer's address.
  let forwardedFor: [UInt8]

  var request = RequestPhase.idle
  var input = ClientInput.open(lastRead: .distantPast)
  /// What was read and has not been looked at, or is a head that is not whole.
  var pending: ByteBuffer?
  var exchange = Exchange()
  var upstream: UpstreamConnection?
  /// What it carries after a switch of protocols.
  var tunnel: Tunnel?
  /// Whether its exchanges are being reviewed.
  var isReviewed = false
  /// Response bytes that go out together.
  var outgoing: ByteBuffer?
  /// Whether the channel has room for more of a response.
  private(set) var canTakeResponse = true
  private var reads = ReadGate()
  /// Whether TLS stands: what goes wrong from then on is no failed handshake.
  private var hasHandshake = false
  private var lingering = LingeringClose(byteLimit: 256 * 1024)
  /// The memory that ``pending`` or a handshake holds.
  var holding: UnfinishedHeads.Holding?
  /// How fast the client takes what waits for it, while something does.
  private(set) var pace: ResponsePace?
  private var readManner = ReceiveBufferMode.frugal

  /// Most bytes that are read ahead of their turn.
  static let aheadLimit = 64 * 1024

  init(server: ServerContext, peer: ClientPeer) {
    self.server = server
    self.peer = peer
    forwardedFor = Array("X-Forwarded-For: \(peer.address)".utf8)
  }

  /// Who is asking: the client behind a trusted proxy that names one, else the peer.
  var client: ClientPeer { exchange.client ?? peer }

  /// Whether the client of the exchange under way speaks HTTP/1.1 rather than 1.0.
  var isHTTP11: Bool { exchange.version == .http11 }

  var sessions: [ConnectionKey] { request == .idle ? [] : exchange.session.map { [$0] } ?? [] }

  // MARK: Of the channel

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    server.opened(self)
    if context.channel.isActive { began(context) }
  }

  func channelActive(context: ChannelHandlerContext) {
    began(context)
    context.fireChannelActive()
  }

  private func began(_ context: ChannelHandlerContext) {
    server.loop.wheel.arm(self, after: server.isTLS ? server.waits.handshake : server.waits.head, now: .now())
    if server.isTLS, !hasHandshake { hold(UnfinishedHeads.handshake) }
    if server.isDraining { drain() }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is TLSHandshakeCompleted {
      hasHandshake = true
      letGo()
      let wait = server.isDraining ? ServerContext.momentToBegin : server.waits.head
      server.loop.wheel.arm(self, after: wait, now: .now())
    }
    if case .inputClosed? = event as? ChannelEvent { inputClosed() }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    leave()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    leave()
    self.context = nil
    canTakeResponse = false
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if let error = error as? TLSError, error != .uncleanShutdown, !hasHandshake { server.observer.handshakeFailed() }
    context.close(promise: nil)
  }

  /// The client is gone.
  private func leave() {
    guard request != .closed else { return }
    let wasBusy = exchange.isUnderWay
    // Either side may end a tunnel: that is how one ends.
    if exchange.status != 101, exchange.failure == nil { exchange.failure = .clientLeft }
    request = .closed
    exchange.leaveQueue()
    letGo()
    server.loop.wheel.remove(self)
    let upstream = upstream
    self.upstream = nil
    upstream?.abandon()
    pending = nil
    outgoing = nil
    exchange.returnSentHead(to: server.loop)
    if wasBusy {
      if exchange.status == 0 { exchange.status = 499 }
      report()
    }
    server.ended(self)
  }

  func read(context: ChannelHandlerContext) {
    if reads.read() { context.read() }
  }

  /// Whether the socket has taken all that was written.
  var hasSentAll: Bool {
    guard let waiting = try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes) else { return false }
    return waiting == 0
  }

  var takesBulk: Bool { hasSentAll }

  func holdReads(_ hold: Bool) {
    guard hold != reads.isHeld else { return }
    if request == .content { exchange.countHold(hold) }
    if hold {
      reads.hold()
    } else if reads.release() {
      context?.read()
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    switch request {
    // Whoever asks on and on without reading the answers waits until they are out.
    case .idle where !canTakeResponse: readAhead(&buffer)
    case .idle:
      if var whole = pending {
        pending = nil
        // A head that comes a byte at a time is not read anew with each: only when a line has ended, or a limit is
        // passed.
        let hasLine = buffer.readableBytesView.contains(0x0A)
        whole.writeBuffer(&buffer)
        if !hasLine, whole.readableBytes <= server.parser.limits.headBytes {
          pending = whole
          return holdPending()
        }
        buffer = whole
      }
      pending = buffer
      readRequests()
    case .content:
      readMore(behind: buffer)
      readContent(&buffer)
    case .deciding, .complete:
      readAhead(&buffer)
      if exchange.upgrades {
        // In the new protocol or in the old? They must not be taken for either.
        exchange.keepAlive = false
        refuse(400, "bytes behind a request for an upgrade")
      }
    case .tunnel:
      readMore(behind: buffer)
      tunnelInput(buffer)
    case .lingering:
      if lingering.discard(buffer.readableBytes) { closeNow() }
    case .closed:
      break
    }
  }

  private func readAhead(_ buffer: inout ByteBuffer) {
    // What comes behind the last request is thrown away.
    if request == .complete, exchange.closesBehind {
      pending = ByteBuffer()
      return
    }
    input.read(at: .now())
    if pending == nil { pending = buffer } else { pending?.writeBuffer(&buffer) }
    if let count = pending?.readableBytes, count > Self.aheadLimit { holdReads(true) }
    holdPending()
  }

  /// Whoever sends much is read in larger pieces.
  @inline(__always)
  private func readMore(behind buffer: ByteBuffer) {
    guard readManner == .frugal, buffer.readableBytes >= ReceiveBufferMode.worthMore else { return }
    readManner = .usual
    try? context?.channel.syncOptions?.setOption(.recvAllocator, value: readManner.fixedAllocator)
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

  var unfinishedHeads: UnfinishedHeads { server.loop.unfinished }

  func giveUpHead() {
    letGo()
    switch request {
    case .complete:
      // The request under way is answered; what was sent ahead has to be sent again.
      exchange.keepAlive = false
      exchange.closesBehind = true
      pending = ByteBuffer()
    case .idle, .deciding:
      if pending == nil { return closeNow() }
      refuse(503, "too much memory is held for requests that are not whole")
    case .content, .tunnel, .lingering, .closed: break
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if request == .tunnel || request == .content, let upstream {
      upstream.flushRequest()
      if !upstream.isWritable { holdReads(true) }
    }
    context.fireChannelReadComplete()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    canTakeResponse = context.channel.isWritable
    if canTakeResponse {
      if request == .idle {
        takesResponsesAgain()
      } else if request == .content {
        server.loop.wheel.arm(self, after: server.waits.bodyProgress, now: .now())
      } else if exchange.isUnderWay {
        server.loop.wheel.disarm(self)
        if request == .tunnel { awaitTunnelEnd() }
      }
      pace = nil
      upstream?.holdReads(false)
    } else if exchange.isUnderWay {
      let now = NIODeadline.now()
      pace = ResponsePace(sent: exchange.sentBytes, waiting: waitingForClient, at: now)
      awaitClient(now)
    }
    context.fireChannelWritabilityChanged()
  }

  func upstreamWritabilityChanged(_ writable: Bool) {
    guard request == .content || request == .tunnel else { return }
    holdReads(!writable)
    if writable, request == .content { server.loop.wheel.arm(self, after: server.waits.bodyProgress, now: .now()) }
  }

  /// Bytes that the client has not taken, as far as its own system has not acknowledged them.
  private var waitingForClient: Int {
    guard let channel = context?.channel else { return 0 }
    let buffered = try? channel.syncOptions?.getOption(.bufferedWritableBytes)
    return (buffered ?? 0) + SendQueue.unacknowledged(channel)
  }

  private func awaitClient(_ now: NIODeadline) {
    server.loop.wheel.arm(self, after: min(server.waits.writeProgress, ResponsePace.interval), now: now)
  }

  /// Looks whether the client takes what waits for it fast enough.
  private func judgePace() {
    let now = NIODeadline.now()
    let verdict = pace?.look(
      sent: exchange.sentBytes, waiting: waitingForClient, at: now,
      rate: request == .tunnel ? 0 : server.responseRate, grace: server.waits.bodyGrace,
      patience: server.waits.writeProgress)
    if verdict == .isOver { abort() } else { awaitClient(now) }
  }

  override func timedOut() {
    if pace != nil, !canTakeResponse, exchange.isUnderWay { return judgePace() }
    switch request {
    case .idle:
      // A connection that never began a request is closed without a word, as RFC 9112 9.5 has it for idle ones.
      if pending == nil || !canTakeResponse {
        closeNow()
      } else {
        refuse(408, "the request head did not arrive in time")
      }
    case .content where !exchange.responseBegan && reads.isHeld:
      refuse(504, "the application did not take the request body in time")
    case .content where !exchange.responseBegan: refuse(408, "the request body did not arrive in time")
    // The client has ended its side, and its patience was for the beginning of the response.
    case .deciding where input.hasEnded: closeNow()
    case .complete where input.hasEnded: if !exchange.responseBegan { closeNow() }
    default: abort()
    }
  }

  // MARK: Ends

  /// Ends the connection at once, in the middle of whatever it does.
  func abort() {
    outgoing = nil
    if exchange.failure == nil { exchange.failure = .cutOff }
    // Without close_notify, so that a response cut off is not taken for a whole one.
    if peer.isTLS { context?.triggerUserOutboundEvent(TLSAbruptClose(), promise: nil) }
    context?.close(promise: nil)
  }

  func endExchanges(of sessions: Set<ConnectionKey>) {
    if request != .idle, let session = exchange.session, sessions.contains(session) { endWithSession(at: .now()) }
  }

  func review(at now: NIODeadline) -> Bool {
    isReviewed = exchange.isReviewable && request != .lingering && request != .closed
    guard isReviewed else { return false }
    if let forbidden = tunnel?.forbidden, request == .tunnel {
      if now - forbidden >= Exchange.reviewAge { abort() }
    } else if !exchange.review(at: now, by: server, from: peer, tunnel: tunnel) {
      endWithSession(at: now)
    }
    return true
  }

  /// Ends an exchange whose session has ended, or may not have it any more: a WebSocket is told, what else is under way
  /// is cut off.
  private func endWithSession(at now: NIODeadline) {
    if request == .tunnel { forbidTunnel(at: now) } else if request != .lingering { abort() }
  }

  func closeNow() { context?.close(promise: nil) }

  /// Ends the connection behind the last response, once that is out: a close throws away what the system has not yet
  /// taken.
  func closeBehindResponse(clientMaySend: Bool) {
    guard let context else { return }
    request = .lingering
    pending = nil
    letGo()
    holdReads(false)
    if hasSentAll { return closeSent(clientMaySend: clientMaySend) }
    server.loop.wheel.arm(self, after: server.waits.writeProgress, now: .now())
    LingeringClose.whenSent(context) { self.closeSent(clientMaySend: clientMaySend) }
  }

  /// Closes behind a response that is out. Where the client may still be sending, its bytes are read and thrown away
  /// for a while: closing at once would reset the connection, and the response with it.
  private func closeSent(clientMaySend: Bool) {
    guard clientMaySend, !input.hasEnded, let context else { return closeNow() }
    LingeringClose.endOutput(context, of: self, server.loop.wheel)
  }

  /// The listener is to end: an idle connection in a moment, a busy one behind its response, a tunnel in its protocol's
  /// order.
  func drain() {
    if request == .idle, pending == nil {
      let isNew = server.isTLS && !hasHandshake
      let moment = isNew ? ServerContext.momentToBegin : ServerContext.momentToEnd
      server.loop.wheel.arm(self, after: moment, now: .now())
    }
    if request == .tunnel { leaveTunnel() }
  }

  /// Tells the observer of an exchange that is over.
  func report(at now: NIODeadline = .now()) { exchange.report(to: server, from: peer, at: now) }
}
