internal import HTTPWire
internal import NIOCore
internal import SocketTransport
internal import TLSTransport

/// One connection to an upstream: the last handler of its channel.
///
/// Carries one exchange at a time and belongs to its client meanwhile; between exchanges it is idle in its pool. This
/// file holds the connection's life cycle; `UpstreamConnection+Response.swift` reads responses.
final class UpstreamConnection: TimedHandler, ChannelDuplexHandler, SocketReader {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The phase of the connection, with the data that only this phase has.
  enum Phase {
    /// - Parameter error: the error that its TLS handshake met, if any.
    case connecting(error: String?)
    case idle
    /// A request is under way, and its final response head has not come.
    case awaitingHead(AwaitedHead)
    /// The same, and a part of a response head has come. Apart, so that the former has no reference that is retained.
    case readingHead(AwaitedHead, partial: ByteBuffer)
    /// The content of a response comes.
    /// - Parameters:
    ///   - keepAlive: whether the connection may carry another exchange after it.
    ///   - requestIsComplete: whether all of the request was sent.
    case content(keepAlive: Bool, requestIsComplete: Bool)
    case tunnel
    /// This side has closed an established connection, whose channel has not ended yet.
    case closing
    /// The connection has ended, or was given up before it was established.
    case closed

    /// Whether an exchange is under way.
    var isCarrying: Bool {
      switch self {
      case .awaitingHead, .readingHead, .content, .tunnel: true
      case .connecting, .idle, .closing, .closed: false
      }
    }
    /// Whether the connection was established and its channel has not ended.
    var isOpen: Bool {
      switch self {
      case .idle, .awaitingHead, .readingHead, .content, .tunnel, .closing: true
      case .connecting, .closed: false
      }
    }
    var isConnecting: Bool { if case .connecting = self { true } else { false } }
    var isIdle: Bool { if case .idle = self { true } else { false } }
    var isAwaitingHead: Bool {
      switch self {
      case .awaitingHead, .readingHead: true
      case .connecting, .idle, .content, .tunnel, .closing, .closed: false
      }
    }
    var isContent: Bool { if case .content = self { true } else { false } }
    var isTunnel: Bool { if case .tunnel = self { true } else { false } }
    var isClosed: Bool {
      switch self {
      case .closing, .closed: true
      case .connecting, .idle, .awaitingHead, .readingHead, .content, .tunnel: false
      }
    }
    /// Whether the rest of a request is to be sent.
    var isSendingRequest: Bool {
      switch self {
      case .awaitingHead(let awaited), .readingHead(let awaited, _): !awaited.requestIsComplete
      case .content(_, let requestIsComplete): !requestIsComplete
      case .connecting, .idle, .tunnel, .closing, .closed: false
      }
    }
  }

  /// The request whose response head is awaited, and the interim responses to it that have come.
  struct AwaitedHead {
    /// Whether the request is a HEAD.
    let toHead: Bool
    /// Whether the request asks for an upgrade.
    let upgrades: Bool
    /// Whether the request or an interim response announced `Connection: close`.
    var isLast: Bool
    /// Whether all of the request was sent.
    var requestIsComplete: Bool
    var interimResponses = 0
  }

  /// The room for what is written.
  private enum Room {
    case free
    case channelIsFull
    /// The HTTP/2 codec below has enough to send, whatever the channel takes.
    case codecIsFull
  }

  /// State of the HTTP/2 codec below. Without one it is always ready.
  enum CodecState {
    /// It takes a request.
    case ready
    /// It has not finished the request, although that may have been answered, or takes no other.
    case occupied
    /// The exchange has failed in the same read as what is handed on; the codec reports the failure next.
    case failing(UpstreamFailure)

    var isReady: Bool { if case .ready = self { true } else { false } }
    var isFailing: Bool { if case .failing = self { true } else { false } }
    var failure: UpstreamFailure? { if case .failing(let failure) = self { failure } else { nil } }
  }

  let loop: LoopResources
  let timeouts: UpstreamWaits
  /// Retained by its connections, which report their end to it.
  let pool: UpstreamPool
  /// Whether a TLS handshake precedes the first request.
  private let awaitsHandshake: Bool
  /// Whether no handler is between this one and the socket: it sees what was read, and what it writes is sent.
  private let isAtSocket: Bool
  private let writer: OrderedWriter
  /// Changed by ``move(to:)``, which keeps the pool's count of exchanges; within a phase its data changes in place.
  var phase = Phase.connecting(error: nil)
  /// The client of the exchange, released at its end. Not weak: that would cost an allocation per HTTP/2 exchange.
  var client: (any UpstreamResponseReceiver)?
  var decoder = BodyDecoder(BodyFraming.none)
  /// Exchanges carried so far.
  var exchanges = 0
  /// Set by the HTTP/2 codec below.
  var codec = CodecState.ready
  private var room = Room.free
  private var reads = ReadGate()
  private var receiveBufferMode = ReceiveBufferMode.usual
  /// Bytes of the last read.
  private var readCount = 0

  /// Most interim responses that are passed on before a final one, and most that may come: one every second for hours.
  static let passedInterimResponses = 32
  static let interimLimit = 10_000

  init(loop: LoopResources, pool: UpstreamPool, timeouts: UpstreamWaits, awaitsHandshake: Bool, isAtSocket: Bool) {
    self.loop = loop
    self.pool = pool
    self.timeouts = timeouts
    self.awaitsHandshake = awaitsHandshake
    self.isAtSocket = isAtSocket
    writer = OrderedWriter(isAtSocket: isAtSocket)
  }

  // MARK: Use by the exchange

  /// Whether the channel takes more of a request's body now.
  var isWritable: Bool { if case .free = room { true } else { false } }
  /// Whether the HTTP/2 codec below has enough to send for now.
  var isCongested: Bool { if case .codecIsFull = room { true } else { false } }

  /// Whether the connection is still being established.
  var isConnecting: Bool { phase.isConnecting }

  /// Whether a request can be sent.
  var isIdle: Bool { phase.isIdle }

  /// Enters another phase. An exchange counts in the pool from its beginning to the end of its last phase.
  @inline(__always)
  func move(to next: Phase) {
    if phase.isCarrying != next.isCarrying { pool.outstanding += next.isCarrying ? 1 : -1 }
    phase = next
  }

  /// Whether something has come on an idle connection and was not read yet: most probably its end. Always false over
  /// HTTP/2, where frames come at any time, and the application says which requests it has not processed.
  var hasUnreadInput: Bool { !pool.speaksHTTP2 && writer.hasUnreadInput }

  /// Begins an exchange with the head of a request, and what of its body is there; flushes.
  /// - Parameter awaited: what is to be known of the request while its response is awaited.
  func begin(
    _ client: any UpstreamResponseReceiver, head: ByteBuffer, content: ByteBuffer?, awaiting awaited: AwaitedHead,
    now: NIODeadline
  ) {
    guard writer.isAttached, phase.isIdle else {
      client.upstreamFailed(.closedBeforeResponse(reused: true))
      return
    }
    // An application may have answered an upload without taking all of it: what was queued is gone with its stream.
    if isCongested { setCongested(false) }
    self.client = client
    move(to: .awaitingHead(awaited))
    loop.wheel.arm(self, after: awaited.requestIsComplete ? timeouts.firstByte : timeouts.bodyProgress, now: now)
    writer.send(header: head, content: content)
  }

  /// Sends more of the request's body, or bytes of a tunnel; to be flushed.
  func send(_ content: ByteBuffer) {
    if phase.isTunnel, timeouts.tunnel != nil { awaitTunnel(now: .now()) }
    writer.write(content)
  }

  func flushRequest() { writer.flush() }

  /// Called by the HTTP/2 codec below when it has enough to send, or can take more again.
  func setCongested(_ isCongested: Bool) {
    room = isCongested ? .codecIsFull : writer.isWritable ? .free : .channelIsFull
    client?.upstreamWritabilityChanged(isWritable)
  }

  /// Whether large pieces of a request's body may be read for it: everything so far was taken at once.
  var takesBulk: Bool { isAtSocket && hasSentAll() }

  /// Whether the system has taken everything that was written: unsent bytes would precede the next request.
  func hasSentAll() -> Bool { writer.hasSentAll() }

  /// Called when the request is complete: the time-out for the response, or for the rest of it, starts.
  func requestEnded() {
    switch phase {
    case .awaitingHead(var awaited):
      awaited.requestIsComplete = true
      phase = .awaitingHead(awaited)
      loop.wheel.arm(self, after: timeouts.firstByte, now: .now())
    case .readingHead(var awaited, let partial):
      awaited.requestIsComplete = true
      phase = .readingHead(awaited, partial: partial)
      loop.wheel.arm(self, after: timeouts.firstByte, now: .now())
    case .content(let keepAlive, _):
      phase = .content(keepAlive: keepAlive, requestIsComplete: true)
      loop.wheel.arm(self, after: timeouts.bodyProgress, now: .now())
    case .connecting, .idle, .tunnel, .closing, .closed: break
    }
  }

  /// Called when bytes of the request body have moved. While they do, an application that has begun its response may
  /// have nothing to say: it may answer to the whole of a stream (gRPC).
  func requestProgressed() {
    guard phase.isSendingRequest else { return }
    loop.wheel.arm(self, after: timeouts.bodyProgress, now: .now())
  }

  /// Half-closes the connection of a tunnel whose client has ended its side.
  func endInput() {
    if phase.isTunnel { writer.closeOutput() }
  }

  /// Gives the exchange up; the connection cannot serve another.
  func abandon() {
    client = nil
    close()
  }

  /// Stops or resumes reading, as the client can take more.
  func holdReads(_ hold: Bool) {
    if hold {
      reads.hold()
    } else if reads.release() {
      writer.read()
    }
  }

  /// Returns the connection to the pool.
  func release() { pool.release(self, now: .now()) }

  /// Closes the connection. Its client is not told.
  func close() {
    guard !phase.isClosed else { return }
    move(to: phase.isOpen ? .closing : .closed)
    loop.wheel.disarm(self)
    writer.close()
  }

  // MARK: Channel events

  func handlerAdded(context: ChannelHandlerContext) {
    writer.attach(context, reader: self)
    if !isAtSocket { writer.setReceiveBufferMode(.wide) }
    if context.channel.isActive, !awaitsHandshake { established() }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    writer.detach()
    loop.wheel.remove(self)
  }

  func channelActive(context: ChannelHandlerContext) {
    if !awaitsHandshake { established() }
    context.fireChannelActive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is TLSHandshakeCompleted { established() }
    // close_notify: nothing more comes, and no further request may be sent.
    if case .inputClosed? = event as? ChannelEvent {
      if phase.isIdle { close() } else { writer.close() }
    }
    context.fireUserInboundEventTriggered(event)
  }

  private func established() {
    guard phase.isConnecting else { return }
    phase = .idle
    loop.wheel.disarm(self)
    pool.established(self)
  }

  func read(context: ChannelHandlerContext) {
    if reads.read() { context.read() }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { socketRead(unwrapInboundIn(data)) }

  func socketRead(_ buffer: consuming ByteBuffer) {
    loop.responseRead = .now()
    readCount = buffer.readableBytes
    if phase.isClosed { return }
    // A response without a request must not be taken for the response to the next one.
    guard phase.isCarrying, let client else { return close() }
    // The client is handed on, because each look at it would retain it. One that has gone has closed the connection.
    switch phase {
    case .awaitingHead, .readingHead: readHead(&buffer, for: client)
    case .content: readContent(&buffer, for: client)
    case .tunnel:
      awaitTunnel(now: loop.responseRead)
      client.responseContent(buffer)
    case .idle, .connecting, .closing, .closed: break
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    _ = socketReadComplete()
    context.fireChannelReadComplete()
  }

  func socketReadComplete() -> Bool {
    client?.flushResponse()
    if phase.isContent || phase.isTunnel, let client {
      if !client.canTakeResponse {
        holdReads(true)
        apply(.usual)
      } else if readCount >= ReceiveBufferMode.worthLarge, phase.isContent {
        if client.takesBulk { apply(.bulk) } else { apply(.usual) }
      }
    }
    return isAtSocket && !phase.isClosed && reads.read()
  }

  func apply(_ mode: ReceiveBufferMode) {
    guard mode != receiveBufferMode, isAtSocket else { return }
    receiveBufferMode = mode
    writer.setReceiveBufferMode(mode)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if !isCongested { room = context.channel.isWritable ? .free : .channelIsFull }
    client?.upstreamWritabilityChanged(isWritable)
    context.fireChannelWritabilityChanged()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // Only TLS and the socket speak here; both have closed, or are about to.
    if phase.isConnecting { phase = .connecting(error: String(describing: error)) }
    if phase.isContent, decoder.endsWithConnection { fail(.closedMidway) }
    writer.close()
  }

  func channelInactive(context: ChannelHandlerContext) {
    let was = phase
    move(to: .closed)
    loop.responseRead = .now()
    loop.wheel.disarm(self)
    let handshakeError = if case .connecting(let error) = was { error } else { String?.none }
    pool.ended(self, wasOpen: was.isOpen, failure: .handshake(handshakeError ?? "the connection was closed"))
    switch was {
    case .awaitingHead(let awaited) where awaited.interimResponses == 0:
      failWithoutHead(.closedBeforeResponse(reused: exchanges > 0))
    case .awaitingHead, .readingHead: failWithoutHead(.closedMidway)
    case .content:
      if decoder.endsWithConnection {
        takeClient()?.responseEnded(trailers: [])
      } else {
        takeClient()?.upstreamFailed(.closedMidway)
      }
    case .tunnel: takeClient()?.responseEnded(trailers: [])
    case .connecting, .idle, .closing, .closed: break
    }
    context.fireChannelInactive()
  }

  // MARK: Closing

  /// Ends the exchange without a response, and counts a failure of the address.
  func failWithoutHead(_ failure: UpstreamFailure) {
    // A kept connection may end at any time, which says nothing about the health of the address.
    switch failure {
    case .closedBeforeResponse(reused: true), .notProcessed: break
    default: pool.failed(failure)
    }
    fail(failure)
  }

  /// Called by the HTTP/2 codec below when the exchange has failed; it closes the channel.
  func streamFailed(_ failure: UpstreamFailure) {
    switch phase {
    case .awaitingHead, .readingHead: failWithoutHead(failure)
    case .content: fail(failure)
    case .connecting, .idle, .tunnel, .closing, .closed: break
    }
  }

  /// Closes the connection, and reports the failure to the client.
  func fail(_ failure: UpstreamFailure) {
    if case .badResponse(let reason) = failure { pool.reportMalformed(reason) }
    close()
    takeClient()?.upstreamFailed(failure)
  }

  /// Ends the exchange on this side.
  /// - Returns: its client, to be told.
  private func takeClient() -> (any UpstreamResponseReceiver)? {
    defer { client = nil }
    return client
  }

  // MARK: Time

  override func timedOut() {
    switch phase {
    case .connecting:
      pool.ended(self, wasOpen: false, failure: pool.endpoint.connectTimeout)
      close()
    case .idle:
      pool.remove(self)
      close()
    case .awaitingHead, .readingHead:
      if !phase.isSendingRequest {
        failWithoutHead(.responseTimeout)
      } else if isWritable {
        // It is the client that has more to send; its own deadline is running.
        loop.wheel.arm(self, after: timeouts.bodyProgress, now: .now())
      } else {
        fail(.responseTimeout)
      }
    // It is the client that has more to take; its own deadline is running.
    case .content where reads.isHeld: loop.wheel.arm(self, after: timeouts.bodyProgress, now: .now())
    case .content: fail(.responseTimeout)
    // An orderly end: to the client it looks as if the application had ended the tunnel.
    case .tunnel:
      let client = takeClient()
      close()
      client?.responseEnded(trailers: [])
    case .closing, .closed: break
    }
  }

  /// Waits on the wheel for bytes of a tunnel, where its silence is limited.
  func awaitTunnel(now: NIODeadline) {
    if let limit = timeouts.tunnel { loop.wheel.arm(self, after: limit, now: now) } else { loop.wheel.disarm(self) }
  }

  /// Waits on the wheel for the connection to be established.
  func awaitConnection(now: NIODeadline) { loop.wheel.arm(self, after: timeouts.connect, now: now) }

  /// Waits on the wheel in the pool.
  func awaitUse(now: NIODeadline) { loop.wheel.arm(self, after: timeouts.idle, now: now) }
}
