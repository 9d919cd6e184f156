internal import HTTPTypes
internal import HTTPWire
internal import NIOCore

/// One stream of an HTTP/2 connection: the transport of its one exchange.
///
/// It translates between the exchange and frames: windows for reading, a queue of bounded size for writing. A tunnel's
/// END_STREAM is to it what FIN is to TCP (RFC 9113, 8.5): it ends one direction.
final class HTTP2ServerStream: TimedHandler, DownstreamTransport, HTTP2StreamHandler {
  /// The step to take once all that was read has been looked at.
  private enum Due {
    case nothing
    /// The gate is asked.
    case authorization
    /// The request is sent upstream.
    case forwarding
  }

  let connection: HTTP2ServerConnection
  // These three are the connection's. They are stored, because each look for them into it would retain them.
  private let http2: HTTP2ServerSession
  let server: ServerContext
  let loop: LoopResources
  let stream: HTTP2InboundStream
  var exchange = Exchange()
  var pace: ResponsePace?
  /// The head, while it waits for the decision of the gate.
  private var pendingHead: ByteBuffer?
  private var due = Due.nothing
  /// Whether the connection looks, once it has sent what is due, if all that was queued has left.
  private var isQueuing = false
  /// Bytes that all streams had sent at the last look at the client's pace.
  private var sentByConnection = 0
  /// The wait for the client to end a request that was answered before it was whole.
  private var lingering: LingeringClose?

  /// Bytes of a response that wait for the client before the upstream is not read any longer.
  private static let queueLimit = 64 * 1024
  /// From so many bytes on, queued content is sent at once.
  private static let eagerFlush = 32 * 1024
  /// Time for the client to end its side of a tunnel when the gateway's has ended.
  private static let tunnelEnd = TimeAmount.seconds(2)

  init(connection: HTTP2ServerConnection, stream: HTTP2InboundStream) {
    self.connection = connection
    http2 = connection.session
    server = connection.server
    loop = server.loop
    self.stream = stream
  }

  /// Serves another stream, which `stream` has become: the same as ``init(connection:stream:)``, since the exchange of
  /// the stream before was forgotten when it was closed.
  func begin() {
    pace = nil
    pendingHead = nil
    due = .nothing
    isQueuing = false
    sentByConnection = 0
    lingering = nil
  }

  var peer: ClientPeer { connection.peer }
  /// The session of the exchange under way.
  var session: ConnectionKey? { exchange.isUnderWay && !stream.isReset ? exchange.info.session : nil }
  func expectReviews() { connection.expectReviews() }

  // MARK: The head

  /// Takes the request's head, written as HTTP/1.1 has it.
  func receive(_ head: RawSpan, isWhole: Bool) {
    beginExchange(.http2, isWhole: isWhole, at: connection.now)
    // A client that has withdrawn a request may withdraw this one with the same read: the gate is not asked before all
    // that was read has been looked at, and a withdrawn request costs nothing but its frames.
    if http2.hasBeenReset {
      due = .authorization
      keep(head)
      return connection.proceedBehindReading(self)
    }
    if isRequest(http2.takeRequest(into: &loop.requestHead), head) { decide(head) }
  }

  /// Answers a request that the session has found to be in order but for one limit.
  /// - Parameter head: what was read of it.
  func receive(_ refusal: Refusal, of head: RawSpan) {
    beginExchange(.http2, isWhole: false, at: .now())
    refuse(refusal, ClientPreferences(unparsed: head))
  }

  private func keep(_ head: RawSpan) { pendingHead = head.withUnsafeBytes { ByteBuffer(bytes: $0) } }

  /// Whether a head that was read is a request's; otherwise it is answered.
  private func isRequest(_ parse: HeadParse, _ head: RawSpan) -> Bool {
    switch parse {
    case .complete: return true
    case .incomplete: reset(.protocolError)
    case .violation(let violation) where violation.status == 400:
      // Malformed (RFC 9113, 8.1.1): not to be answered as if it were a request.
      exchange.reject(400)
      reset(.protocolError)
    case .violation(let violation): refuse(Refusal(violation), ClientPreferences(unparsed: head))
    }
    return false
  }

  private func decide(_ head: RawSpan) {
    switch authorize(head, at: connection.now) {
    case .suspended: keep(head)
    case .forwarding:
      due = .forwarding
      connection.proceedBehindReading(self)
    case .endpoint, .answered: break
    }
  }

  func authorizeAgain() {
    guard exchange.request.isDeciding, !stream.isReset, let head = pendingHead else { return }
    pendingHead = nil
    let parse = server.configuration.parser.parse(head.readableBytesSpan, into: &loop.requestHead)
    guard isRequest(parse, head.readableBytesSpan) else { return }
    decide(head.readableBytesSpan)
  }

  /// All that was read has been looked at: the request goes upstream, or what came of its body does.
  func proceed() {
    // A stream that was found malformed meanwhile has been reset; only its end is still to come.
    guard !stream.isReset else { return }
    let step = due
    due = .nothing
    switch step {
    // Sends the request upstream in turn, if that is the decision.
    case .authorization: authorizeAgain()
    case .forwarding: connectUpstream(at: connection.now)
    case .nothing: exchange.upstream.connection?.flushRequest()
    }
  }

  // MARK: From the client

  var unparsedHead: ByteBuffer? { pendingHead }
  var hasBytesBehindHead: Bool { exchange.upstream.hasContentWaiting }

  func received(content: ByteBuffer) {
    let count = content.readableBytes
    guard readBody(count, at: connection.now) else { return }
    var batch: ByteBuffer?
    if receive(content, gathering: &batch), let batch { forward(batch, count) }
  }

  func receivedEnd(trailers: [UInt8]) { receiveEnd(trailers: trailers) }

  func consume(_ count: Int) {
    http2.consume(count, on: stream)
    connection.consumed()
  }

  func consumeAll() {
    guard stream.untaken > 0 else { return }
    consume(stream.untaken)
    connection.flushSoon()
  }

  /// The client's window bounds what it sends; the connection is read on for the other streams.
  func pauseBody(_ pause: Bool) {}

  func flushUpstreamAfterRead() { connection.proceedBehindReading(self) }

  // MARK: To the client

  func sendContinue() {
    loop.fields.begin(status: 100)
    http2.inform(&loop.fields, on: stream)
    connection.flushSoon()
  }

  func sendInterim(_ head: borrowing ResponseHead, _ bytes: RawSpan) {
    ResponseForwarding.write(
      head, bytes, rules: server.configuration.rules, context: ResponseForwarding.Context(), to: &loop.fields)
    if loop.fields.canBeSent { http2.inform(&loop.fields, on: stream) }
  }

  func prepareHead(_ head: borrowing ResponseHead, _ bytes: RawSpan) -> Bool {
    let rules = server.configuration.rules
    let context = ResponseForwarding.Context(
      privateLines: exchange.upstream.privateLines, date: loop.missingDate(of: head),
      addresses: exchange.upstream.addresses)
    ResponseForwarding.write(head, bytes, rules: rules, context: context, to: &loop.fields)
    if !rules.responseHeaders.isEmpty {
      rules.responseHeaders.write(missingIn: head, bytes, isPrivate: context.privateLines != nil, to: &loop.fields)
    }
    return loop.fields.canBeSent
  }

  func sendHead(_ head: borrowing ResponseHead, _ bytes: RawSpan, framing: BodyFraming) {
    http2.respond(&loop.fields, on: stream, isWhole: framing.isNone)
  }

  /// The client gets 200 (RFC 8441, 5).
  func sendSwitch(_ head: borrowing ResponseHead, _ bytes: RawSpan) {
    http2.respond(&loop.fields, on: stream, isWhole: false)
    http2.becameTunnel(stream)
  }

  func sendContent(_ content: consuming ByteBuffer) {
    guard content.readableBytes > 0 else { return }
    http2.send(content, on: stream)
  }

  func flushResponse() {
    if stream.queuedBytes >= Self.eagerFlush { connection.flush() } else { connection.flushSoon() }
    keepQueued()
  }

  func sendEnd(trailers: [UInt8]) {
    http2.end(
      stream, trailers: trailers.isEmpty ? [] : TrailerForwarding.passing(trailers, rules: server.configuration.rules))
    connection.gather(at: loop.responseRead)
    keepQueued()
  }

  func send(_ response: ControlResponse) {
    let status = response.head.status.code
    let hasBody = exchange.info.method != .head && status != 204 && status != 304 && !response.body.isEmpty
    ControlResponseForwarding.write(
      response, requestID: exchange.info.requestID, date: loop.date.bytes(), to: &loop.fields)
    http2.respond(&loop.fields, on: stream, isWhole: !hasBody)
    if hasBody {
      exchange.info.sentBytes = response.body.count
      http2.send(ByteBuffer(bytes: response.body), on: stream)
      http2.end(stream, trailers: [])
      keepQueued()
    }
    connection.flushSoon()
  }

  // MARK: Back-pressure

  var canTakeResponse: Bool { connection.isWritable && hasRoom }
  var takesBulk: Bool { false }
  var unsentBytes: Int { stream.queuedBytes }

  private var hasRoom: Bool {
    stream.queuedBytes == 0 || (stream.queuedBytes < Self.queueLimit && connection.takesMore())
  }

  func sentContent() {
    if stream.queuedBytes == 0 {
      if pace != nil {
        loop.wheel.disarm(self)
        pace = nil
      }
      awaitEnd(at: connection.now)
    }
    if hasRoom { exchange.upstream.connection?.holdReads(false) }
  }

  /// The exchange is over; what the client still sends is discarded, for as long as over HTTP/1.1.
  func sentEnd() {
    pace = nil
    clientLeft(isSent: true, at: connection.now)
    connection.countUnread()
    lingering = LingeringClose(endedAt: connection.now)
    if server.isDraining { hastenEnd() } else { discardedContent() }
  }

  func discardedContent() { lingering?.received(by: self, loop.wheel, now: connection.now) }

  /// Waits no longer than two seconds for the client to end a request that was answered: the process is to end.
  func hastenEnd() { lingering?.hasten(self, loop.wheel, now: connection.now) }

  /// Content waits that was not sent at once: it is kept, and a client that takes nothing of it must not hold it for
  /// ever.
  private func keepQueued() {
    guard stream.queuedBytes > 0 else { return }
    stream.detachQueue()
    connection.countUnsent()
    guard !isQueuing, pace == nil else { return }
    isQueuing = true
    connection.awaitRoomBehindSending(self)
  }

  /// Starts the client's deadline for content that has not left by now.
  func awaitRoom(_ now: NIODeadline) {
    isQueuing = false
    guard !stream.isClosed, stream.queuedBytes > 0 else { return }
    sentByConnection = http2.sentBytes
    watchPace(at: now)
  }

  /// The client's channel can take more again.
  func clientTakesMore() { if hasRoom { exchange.upstream.connection?.holdReads(false) } }

  // MARK: Closing

  override func timedOut() {
    // The client has not ended its side in time (``sentEnd()``).
    if stream.isEndSent { return reset(.noError) }
    // While the channel takes nothing more, no stream can make progress, and the connection judges the client. Nor is
    // the client to blame if it has room for this stream, and others went first.
    if pace != nil {
      let isPassedOver = isPassedOver()
      if isPassedOver || !connection.isWritable { return watchPace(at: .now()) }
    }
    exchangeTimedOut()
  }

  /// Whether the client has room for this stream, and has taken of others since the last look what it would have had to
  /// take of all that wait: with less, it would hold their connections to the upstream for nothing.
  private func isPassedOver() -> Bool {
    let sent = http2.sentBytes - sentByConnection
    sentByConnection = http2.sentBytes
    let seconds = Int(ResponsePace.interval.nanoseconds / 1_000_000_000)
    let needed = server.configuration.responseRate * seconds * http2.waitingStreams
    return sent > 0 && sent >= needed && http2.hasWindow(stream)
  }

  /// The time of a tunnel of which one side has ended, once the client has taken what waits for it.
  private func awaitEnd(at now: NIODeadline) {
    guard exchange.request.tunnel != nil, stream.queuedBytes == 0 else { return }
    if exchange.upstream.connection == nil {
      loop.wheel.arm(self, after: Self.tunnelEnd, now: now)
    } else {
      awaitTunnelEnd(at: now)
    }
  }

  func closeTunnel(clientMaySend: Bool) {
    http2.end(stream, trailers: [])
    connection.flushSoon()
    awaitEnd(at: .now())
  }

  /// Whether its exchange can be reviewed.
  var isReviewable: Bool { exchange.isReviewable && !stream.isClosed && !stream.isReset }

  /// Ends the exchange if the gate no longer permits it.
  func review(at now: NIODeadline) { if isReviewable { reviewExchange(at: now) } }

  func abortExchange(_ reason: AbortReason) {
    exchange.aborted()
    // CANCEL after the head of a response is its regular end for some clients (Node.js): it must not look whole.
    let isTruncated = exchange.hasResponse && exchange.request.tunnel == nil
    reset(reason == .upstreamFailed || isTruncated ? .internalError : .cancel)
  }

  /// Called when the gateway aborts the connection: the client has not left.
  func connectionIsAborted() { if !stream.isEndSent { exchange.aborted() } }

  private func reset(_ code: HTTPWire.HTTP2ErrorCode) {
    leaveUpstream()
    http2.reset(stream, code)
    connection.flushSoon()
  }

  func closed(_ code: UInt32) {
    loop.wheel.remove(self)
    pendingHead = nil
    connection.countUnsent()
    connection.countUnread()
    // The connection was ended for what its client did: the client has not left.
    if !stream.isEndSent, http2.endedBy ?? .noError != .noError { exchange.aborted() }
    clientLeft(isSent: stream.isEndSent, at: connection.now)
    // It may be a while before this serves another stream.
    exchange = Exchange()
  }
}
