internal import HTTPWire
internal import NIOCore
internal import SocketTransport
internal import TLSTransport

/// One HTTP/2 client connection: the last handler of its channel, and the session between its socket and its streams.
///
/// The bytes of one read go into the session at once; requests begin upstream when all of them have been parsed, so
/// that a stream that is reset in the same read costs the application nothing. Frames to send are gathered until the
/// end of the event loop's turn: those of all streams leave in one write.
///
/// This file holds the life of the connection. Its streams are in `+Streams`, and the counts of what it holds in
/// `+Content`.
final class HTTP2ServerConnection: TimedHandler, ChannelDuplexHandler, ReviewedConnection, IncompleteRequestOwner {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The work that the session is within.
  private enum Activity {
    case none
    /// Bytes that were read are parsed.
    case reading
    /// Frames are written.
    case flushing
  }

  let server: ServerContext
  var peer: ClientPeer
  let session: HTTP2ServerSession
  private var context: ChannelHandlerContext?
  /// Whether the channel takes more.
  private(set) var isWritable = true
  var life = HTTP2ConnectionLife()
  private var activity = Activity.none
  private var flushIsDue = false
  private var gathered = GatheredFrames()
  /// Streams to resume when everything that was read has been parsed.
  private var behindReading: [HTTP2ServerStream] = []
  /// Streams that queued content in this turn: what has not left by its end waits for the client, against a deadline.
  private var queuing: [HTTP2ServerStream] = []
  /// When what is being looked at was read, or what is being written began to be: looking at the clock for each step of
  /// each stream would cost as much as the steps do.
  private(set) var now = NIODeadline.now()
  /// Whether so much is queued for the client that reading from upstreams is paused.
  private var isFull = false
  /// Responses that the client has not read, and bodies that applications have not, as the loop counts them.
  var unsent = ContentBudget.Count()
  var unread = ContentBudget.Count()
  /// Whether the client may send as much before it is taken as the policy allows.
  var hasWideWindow = false
  private var reads = ReadGate()
  /// The rate at which the client takes what waits in the channel; nil while the channel takes more.
  private var pace: ResponsePace?
  private var receiveBufferMode = ReceiveBufferMode.frugal
  /// The memory that a head holds which is not whole.
  var holding: IncompleteRequestBudget.Holding?
  var isReviewed = false

  /// Bytes that one write is made of: with the frame that goes beyond it, what the loop's buffers hold.
  private static let writeLimit = 48_000

  init(server: ServerContext, peer: ClientPeer) {
    self.server = server
    self.peer = peer
    session = HTTP2ServerSession(HTTP2Policy(heads: server.configuration.parser.limits), now: now)
  }

  // MARK: Use by the streams

  /// Bytes of frames that the system has not taken.
  var waitingFrames: Int { context?.channel.queuedBytes ?? 0 }

  /// Whether a stream may wait for the client with more than it has already. If not, each stream is called once it may:
  /// ``HTTP2ServerStream/clientTakesMore()``.
  func takesMore() -> Bool {
    if session.queuedBytes >= queueLimit { isFull = true }
    return !isFull
  }

  /// Bytes that may wait for the client.
  private var queueLimit: Int {
    server.loop.unsent.isScarce ? ContentBudget.allowance : session.policy.queuedBytes
  }

  /// Calls ``HTTP2ServerStream/proceed()`` when everything that was read has been looked at.
  func proceedBehindReading(_ stream: HTTP2ServerStream) {
    if activity == .reading { return behindReading.append(stream) }
    now = .now()
    stream.proceed()
  }

  /// Has ``HTTP2ServerStream/awaitRoom(_:)`` called once what is due has been sent.
  func awaitRoomBehindSending(_ stream: HTTP2ServerStream) {
    guard !life.isClosed else { return }
    queuing.append(stream)
    flushSoon()
  }

  /// Sends what was submitted, with what else becomes due in this turn of the loop.
  func flushSoon() {
    guard !flushIsDue, !life.isClosed else { return }
    flushIsDue = true
    let bound = NIOLoopBound(self, eventLoop: server.loop.eventLoop)
    server.loop.eventLoop.execute { bound.value.flush() }
  }

  /// Produces the frames of a response that has just ended, to leave with those of this turn: so its content is not
  /// copied to wait for them.
  func gather(at now: NIODeadline) {
    flushSoon()
    guard activity == .none, isWritable, !life.isClosed else { return }
    guard var frames = gathered.open(&server.loop.frames) else { return }
    activity = .flushing
    self.now = now
    session.produce(into: &frames, limit: Self.writeLimit)
    activity = .none
    let isEnough = frames.readableBytes >= Self.writeLimit
    gathered.keep(frames)
    if isEnough { flush() }
  }

  /// Sends what was submitted.
  func flush() {
    flushIsDue = false
    guard let context, activity == .none, !life.isClosed else { return }
    activity = .flushing
    now = .now()
    while isWritable {
      var frames = gathered.take(&server.loop.frames)
      session.produce(into: &frames, limit: Self.writeLimit)
      let count = frames.readableBytes
      if count > 0 { context.writeAndFlush(wrapOutboundOut(frames), promise: nil) }
      server.loop.frames.give(frames)
      if count < Self.writeLimit { break }
    }
    activity = .none
    // A write may have ended the connection.
    guard !life.isClosed else { return }
    for stream in queuing { stream.awaitRoom(now) }
    queuing.removeAll(keepingCapacity: queuing.count <= 128)
    if session.isOver, gathered.isEmpty { return beginLingeringClose() }
    countUnsent()
    if isFull, session.queuedBytes < queueLimit / 2 {
      isFull = false
      for stream in streams { stream.clientTakesMore() }
    }
    updateWait()
  }

  // MARK: Channel events

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    isWritable = context.channel.isWritable
    session.handler = self
    server.opened(self)
    updateWait()
    if server.isDraining { drain() }
    flushSoon()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    connectionEnded()
    self.context = nil
  }

  func channelInactive(context: ChannelHandlerContext) {
    connectionEnded()
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // A peer that half-closes can no longer send WINDOW_UPDATE or acknowledgements: treat it as closed.
    if case .inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }

  /// The client is gone.
  private func connectionEnded() {
    guard life.close() else { return }
    now = .now()
    queuing = []
    gathered.discard(&server.loop.frames)
    releaseHolding()
    server.loop.wheel.remove(self)
    session.close()
    if let code = session.endedBy, code != .noError { server.observer.connectionFailed(code, of: peer.address) }
    endCounts()
    server.ended(self)
  }

  func read(context: ChannelHandlerContext) {
    if reads.read() { context.read() }
  }

  private func holdReads(_ hold: Bool) {
    if hold {
      reads.hold()
    } else if reads.release() {
      context?.read()
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !life.isClosed else { return }
    // Discarded, for as long as the last frames take to leave and two seconds more.
    if life.isLingering { return }
    // Within a flush, when the TLS handler passes on what it has held.
    let outer = activity
    activity = .reading
    now = .now()
    let buffer = unwrapInboundIn(data)
    let byteCount = buffer.readableBytes
    session.receive(buffer, now: now)
    activity = outer
    countUnread()
    if session.isWithinHead || holding != nil { countHead() }
    if receiveBufferMode == .frugal, byteCount >= ReceiveBufferMode.worthMore, !session.isWithinHead {
      enlargeReads()
    }
    var next = 0
    if !behindReading.isEmpty { now = .now() }
    // Once we terminate a connection, none of its requests are forwarded.
    while next < behindReading.count, session.endedBy == nil {
      behindReading[next].proceed()
      next += 1
    }
    behindReading.removeAll(keepingCapacity: behindReading.count <= 128)
    if session.wantsToWrite || session.isOver || !queuing.isEmpty { flushSoon() } else { updateWait() }
  }

  /// Reads in larger pieces from a client that sends much.
  private func enlargeReads() {
    receiveBufferMode = .wide
    (context?.channel as? SocketChannel)?.receiveBufferMode = receiveBufferMode
  }

  /// Counts the memory of a head that is not whole.
  private func countHead() {
    if session.isWithinHead {
      hold(session.headMemory)
    } else {
      releaseHolding()
    }
  }

  var incompleteRequests: IncompleteRequestBudget { server.loop.incompleteRequests }

  func giveUpRequest() {
    releaseHolding()
    session.terminate(.enhanceYourCalm)
    flushSoon()
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    // A client that does not read is not read either: it would only have us answer more.
    if !isWritable { holdReads(true) }
    context.fireChannelReadComplete()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    isWritable = context.channel.isWritable
    if isWritable {
      // The pace of a connection that is lingering counts until the client has taken the last byte.
      if !life.isLingering { pace = nil }
      holdReads(false)
      for stream in streams { stream.clientTakesMore() }
      life.becameWritable()
      flushSoon()
    } else {
      watchPace()
      updateWait()
    }
    context.fireChannelWritabilityChanged()
  }

  // MARK: Time

  private func updateWait() {
    let traffic = HTTP2ConnectionLife.Traffic(
      isWritable: isWritable, isWithinHead: session.isWithinHead, hasStreams: session.streamCount > 0)
    switch life.update(traffic, server.configuration.waits) {
    case nil: break
    case .disarmed?: server.loop.wheel.disarm(self)
    case .after(let time)?: arm(time)
    }
  }

  private func arm(_ time: TimeAmount) { server.loop.wheel.arm(self, after: time, now: .now()) }

  override func timedOut() {
    switch life.timedOut(isWritable: isWritable, isWithinHead: session.isWithinHead, server.configuration.waits) {
    case .nothing: break
    case .shrink(let rest):
      session.shrink()
      arm(rest)
    case .terminate(let code):
      session.terminate(code)
      flush()
    case .goAway:
      session.goAway()
      flush()
    case .abort: enforceResponseRate()
    }
  }

  /// Aborts the connection if the client does not read, or reads too slowly. A stream is judged by itself while the
  /// channel takes more; this is for all streams while it does not, and for the end of the connection.
  private func enforceResponseRate() {
    let isTooSlow = pace?.isTooSlow(
      sent: 0, waiting: context?.channel.unsentBytes ?? 0, at: .now(), rate: server.configuration.responseRate,
      grace: server.configuration.bodyLimits.grace, patience: server.configuration.waits.writeProgress)
    if isTooSlow == false { arm(ResponsePace.interval) } else { abort() }
  }

  private func watchPace() {
    pace = ResponsePace(sent: 0, waiting: context?.channel.unsentBytes ?? 0, at: .now())
  }

  // MARK: Closing

  /// Aborts the connection, in the middle of whatever it does.
  func abort() {
    for stream in streams { stream.connectionIsAborted() }
    // Without close_notify, so that an aborted response is not taken for a whole one.
    if peer.isTLS { context?.triggerUserOutboundEvent(TLSAbruptClose(), promise: nil) }
    context?.close(promise: nil)
  }

  /// Aborts the connection, and tells a client that reads why.
  func abort(because code: HTTP2ErrorCode) {
    guard !life.isClosed else { return }
    session.terminate(code)
    flush()
    abort()
  }

  /// The session is over: closes when what it wrote is out. Until the client ends too, what it still sends is thrown
  /// away: closing at once would reset the connection, and the last frames with it.
  private func beginLingeringClose() {
    guard let context, life.linger() else { return }
    holdReads(false)
    arm(server.configuration.waits.writeProgress)
    watchPace()
    LingeringClose.whenSent(context) { self.linger() }
  }

  private func linger() {
    guard let context, !life.isClosed else { return }
    pace = nil
    // After GOAWAY with an error, close without lingering.
    guard session.endedBy == nil || session.endedBy == .noError || !peer.isTLS else {
      return context.close(promise: nil)
    }
    LingeringClose.endOutput(context, of: self, server.loop.wheel)
  }

  func drain() {
    guard life.drain() else { return }
    session.beginGracefulShutdown()
    now = .now()
    for stream in streams {
      stream.endTunnel()
      stream.hastenEnd()
    }
    flush()
  }
}
