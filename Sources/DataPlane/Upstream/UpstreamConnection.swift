internal import HTTPWire
internal import NIOCore
internal import TLSTransport

/// One connection to an upstream: the last handler of its channel.
///
/// It carries one exchange at a time, and belongs to a client while it does. In between it lies in its pool. This file
/// holds its life; the way of a response is in the file beside it.
final class UpstreamConnection: TimedHandler, ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  enum Phase {
    case connecting
    case idle
    case awaitingHead
    case content
    case tunnel
    case closed
  }

  let loop: LoopResources
  let timeouts: UpstreamWaits
  /// Kept alive by its connections: they have to tell it of their end.
  let pool: UpstreamPool
  /// Whether TLS has to be there before the first request.
  private let awaitsHandshake: Bool
  /// Whether nothing stands between it and the socket: what it is handed is what was read, and what it writes is sent.
  private let isAtSocket: Bool
  private var shortcut = SocketShortcut()
  private var context: ChannelHandlerContext?
  var phase = Phase.connecting
  /// Whose exchange it carries; let go of at its end. Not weak: that costs an object for each exchange over HTTP/2.
  var client: (any ExchangeClient)?
  var decoder = BodyDecoder(BodyFraming.none)
  /// A head that is not yet whole.
  var partial: ByteBuffer?
  var answersHead = false
  var requestIsComplete = false
  var upgradeWasAsked = false
  /// Whether the request under way said that it is the connection's last.
  var isLast = false
  var keepAlive = true
  var interimResponses = 0
  /// Exchanges carried so far.
  var exchanges = 0
  /// Whether what stands between it and the socket is not done with the request, whatever has been answered (HTTP/2).
  var isOccupied = false
  /// Whether the pool has counted it as open.
  var isCounted = false
  private var readsHeld = false
  private var readIsDue = false
  private var readManner = ReceiveBufferMode.usual
  /// Bytes of the last read.
  private var readCount = 0
  private var handshakeError: String?
  /// Whether the pool counts its exchange as under way.
  private var isCarrying = false

  /// Most interim responses before a final one.
  static let interimLimit = 32

  init(loop: LoopResources, pool: UpstreamPool, timeouts: UpstreamWaits, awaitsHandshake: Bool, isAtSocket: Bool) {
    self.loop = loop
    self.pool = pool
    self.timeouts = timeouts
    self.awaitsHandshake = awaitsHandshake
    self.isAtSocket = isAtSocket
  }

  // MARK: For the client

  /// Whether the channel takes more of a request's body now.
  private(set) var isWritable = true
  /// Whether what stands between it and the socket has enough to send for now.
  private(set) var isCongested = false

  /// Whether the connection is still wanted, and not yet there.
  var isConnecting: Bool { phase == .connecting }

  /// Whether a request can be sent.
  var isIdle: Bool { phase == .idle }

  /// Begins an exchange with the head of a request, and what of its body is there; flushes.
  func begin(
    _ client: any ExchangeClient, head: ByteBuffer, content: ByteBuffer?, isHead: Bool, isComplete: Bool,
    upgrades: Bool, isLast: Bool, now: NIODeadline
  ) {
    guard let context, phase == .idle else {
      client.upstreamFailed(.closedBeforeResponse(reused: true))
      return
    }
    self.client = client
    isCarrying = true
    pool.outstanding += 1
    phase = .awaitingHead
    answersHead = isHead
    requestIsComplete = isComplete
    upgradeWasAsked = upgrades
    self.isLast = isLast
    interimResponses = 0
    loop.wheel.arm(self, after: isComplete ? timeouts.firstByte : timeouts.bodyProgress, now: now)
    var rest = head
    if shortcut.send(&rest) {
      if let content {
        shortcut.hasWritten()
        context.writeAndFlush(wrapOutboundOut(content), promise: nil)
      }
      return
    }
    if let content {
      shortcut.hasWritten()
      context.write(wrapOutboundOut(rest), promise: nil)
      context.writeAndFlush(wrapOutboundOut(content), promise: nil)
    } else {
      write(rest, context)
    }
  }

  /// Hands the whole of a request, or the rest of one, to the channel: when it has left, so has all before it.
  private func write(_ head: ByteBuffer, _ context: ChannelHandlerContext) {
    let write = shortcut.hasWritten()
    guard isAtSocket else { return context.writeAndFlush(wrapOutboundOut(head), promise: nil) }
    let sent = context.eventLoop.makePromise(of: Void.self)
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    sent.futureResult.whenSuccess { bound.value.shortcut.hasLeft(write) }
    context.writeAndFlush(wrapOutboundOut(head), promise: sent)
  }

  /// Sends more of the request's body, or bytes of a tunnel; to be flushed.
  func send(_ content: ByteBuffer) {
    if phase == .tunnel, timeouts.tunnel != nil { awaitTunnel(now: .now()) }
    shortcut.hasWritten()
    context?.write(wrapOutboundOut(content), promise: nil)
  }

  func flushRequest() { context?.flush() }

  /// What stands between it and the socket has enough to send for now, or can take more again.
  func congested(_ isCongested: Bool) {
    self.isCongested = isCongested
    isWritable = !isCongested && context?.channel.isWritable ?? false
    client?.upstreamWritabilityChanged(isWritable)
  }

  /// Whether the system has taken everything that was written: what still waits here would stand before the next
  /// request.
  var hasSentAll: Bool {
    if isAtSocket, shortcut.isClear { return true }
    guard let waiting = try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes) else { return false }
    return waiting == 0
  }

  /// The request is whole: from now on the upstream is waited for.
  func requestEnded() {
    requestIsComplete = true
    if phase == .awaitingHead { loop.wheel.arm(self, after: timeouts.firstByte, now: .now()) }
  }

  /// Bytes of the request's body have moved.
  func requestProgressed() {
    if phase == .awaitingHead, !requestIsComplete { loop.wheel.arm(self, after: timeouts.bodyProgress, now: .now()) }
  }

  /// The client of a tunnel says no more: nor do we (TCP's half-close).
  func endInput() {
    if phase == .tunnel { context?.close(mode: .output, promise: nil) }
  }

  /// The client has no more use for this exchange; the connection cannot serve another.
  func abandon() {
    client = nil
    close()
  }

  /// The client can take more, or cannot.
  func holdReads(_ hold: Bool) {
    guard hold != readsHeld else { return }
    readsHeld = hold
    guard !hold, readIsDue else { return }
    readIsDue = false
    context?.read()
  }

  /// Lies in its pool from now on: nobody has use for it at present.
  func release() { pool.release(self, now: .now()) }

  /// Closes an idle connection.
  func close() {
    guard phase != .closed else { return }
    phase = .closed
    exchangeEnded()
    loop.wheel.disarm(self)
    closeChannel()
  }

  /// Closes the channel; what it has not sent is lost.
  private func closeChannel() {
    shortcut.close()
    context?.close(promise: nil)
  }

  // MARK: Of the channel

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if isAtSocket { shortcut.open(context.channel) }
    if context.channel.isActive, !awaitsHandshake { established() }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    shortcut.close()
    self.context = nil
    loop.wheel.remove(self)
  }

  func channelActive(context: ChannelHandlerContext) {
    if !awaitsHandshake { established() }
    context.fireChannelActive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is TLSHandshakeCompleted { established() }
    // The end that TLS tells (close_notify): nothing more comes, and nothing may be asked any more.
    if case .inputClosed? = event as? ChannelEvent {
      if phase == .idle { close() } else { closeChannel() }
    }
    context.fireUserInboundEventTriggered(event)
  }

  private func established() {
    guard phase == .connecting else { return }
    phase = .idle
    loop.wheel.disarm(self)
    pool.established(self)
  }

  func read(context: ChannelHandlerContext) {
    if readsHeld { readIsDue = true } else { context.read() }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    loop.responseRead = .now()
    readCount = buffer.readableBytes
    if readManner == .bulk { loop.bulk.give(buffer) }
    switch phase {
    case .awaitingHead: readHead(&buffer)
    case .content: readContent(&buffer)
    case .tunnel:
      awaitTunnel(now: loop.responseRead)
      client?.responseContent(buffer)
    // A response to no request: whatever it is, it must not be taken for the answer to the next.
    case .idle, .connecting: close()
    case .closed: break
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    client?.flushResponse()
    if let client, phase == .content || phase == .tunnel {
      if !client.canTakeResponse {
        holdReads(true)
        apply(.sparing)
      } else if readCount >= LargeReads.worthwhile, phase == .content {
        if client.takesBulk { apply(.bulk) } else if readManner == .bulk { apply(.sparing) }
      }
    }
    context.fireChannelReadComplete()
  }

  func apply(_ manner: ReceiveBufferMode) {
    guard manner != readManner, isAtSocket, let options = context?.channel.syncOptions else { return }
    readManner = manner
    // A channel that is about to close may refuse: then nothing is read any more.
    try? options.setOption(.recvAllocator, value: manner.allocator(loop))
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    isWritable = context.channel.isWritable && !isCongested
    client?.upstreamWritabilityChanged(isWritable)
    context.fireChannelWritabilityChanged()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // Only TLS and the socket speak here; both have closed, or are about to.
    if phase == .connecting { handshakeError = String(describing: error) }
    if phase == .content, decoder.endsWithConnection { fail(.closedMidway) }
    closeChannel()
  }

  func channelInactive(context: ChannelHandlerContext) {
    let was = phase
    phase = .closed
    shortcut.close()
    loop.responseRead = .now()
    exchangeEnded()
    loop.wheel.disarm(self)
    pool.ended(self, failure: .handshake(handshakeError ?? "the connection was closed"))
    switch was {
    case .awaitingHead:
      let isSilent = partial == nil && interimResponses == 0
      failWithoutHead(isSilent ? .closedBeforeResponse(reused: exchanges > 0) : .closedMidway)
    case .content:
      if decoder.endsWithConnection {
        let client = client
        self.client = nil
        client?.responseEnded(trailers: [])
      } else {
        tellClient(.closedMidway)
      }
    case .tunnel:
      let client = client
      self.client = nil
      client?.responseEnded(trailers: [])
    case .connecting, .idle, .closed: break
    }
    context.fireChannelInactive()
  }

  // MARK: Ends

  /// The application has not answered: that is held against its address.
  func failWithoutHead(_ failure: UpstreamFailure) {
    // A kept connection may end at any time; that tells nothing about how the address is.
    switch failure {
    case .closedBeforeResponse(reused: true), .notProcessed: break
    default: pool.failed(failure)
    }
    fail(failure)
  }

  /// What speaks for it below (HTTP/2) has seen the exchange fail, and closes the channel.
  func streamFailed(_ failure: UpstreamFailure) {
    switch phase {
    case .awaitingHead: failWithoutHead(failure)
    case .content: fail(failure)
    case .connecting, .idle, .tunnel, .closed: break
    }
  }

  /// The pool need not count it any longer.
  @inline(__always)
  func exchangeEnded() {
    guard isCarrying else { return }
    isCarrying = false
    pool.outstanding -= 1
  }

  /// Breaks off, and tells the client.
  func fail(_ failure: UpstreamFailure) {
    if case .badResponse(let reason) = failure { pool.tellMalformed(reason) }
    close()
    tellClient(failure)
  }

  private func tellClient(_ failure: UpstreamFailure) {
    let client = client
    self.client = nil
    client?.upstreamFailed(failure)
  }

  // MARK: Time

  override func timedOut() {
    switch phase {
    case .connecting:
      pool.ended(self, failure: .connectTimeout)
      close()
    case .idle:
      pool.remove(self)
      close()
    case .awaitingHead where !requestIsComplete: fail(.responseTimeout)
    case .awaitingHead: failWithoutHead(.responseTimeout)
    case .content: fail(.closedMidway)
    // In order: to the client it looks as if the application had ended it.
    case .tunnel:
      let client = client
      self.client = nil
      close()
      client?.responseEnded(trailers: [])
    case .closed: break
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
