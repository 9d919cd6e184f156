internal import HTTPWire
internal import NIOCore
internal import TLSTransport

/// Translates between HTTP/2 towards the application and HTTP/1.1 towards an ``UpstreamConnection``: the request that
/// the connection writes becomes a stream, and it reads the response as strictly as one in HTTP/1.1.
///
/// One stream at a time on a connection that is reused. A failed exchange closes its connection, as in HTTP/1.1, with
/// the reason: a request that was not processed may be sent again, one with a malformed response may not. Trailers pass
/// in both directions (but not behind a response that announces its length), and content as it arrives, so that every
/// form of gRPC works. HTTP/2 has no upgrades.
final class HTTP2UpstreamCodec: ChannelDuplexHandler, HTTP2StreamHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let loop: LoopResources
  private let session: HTTP2ClientSession
  private let scheme: StaticString
  private let parser: RequestHeadParser
  private weak var connection: UpstreamConnection?
  private var context: ChannelHandlerContext?
  private var stream: HTTP2OutboundStream?
  private var head = RequestHead()
  private var decoder = BodyDecoder(BodyFraming.none)
  /// Received bytes, translated to HTTP/1.1.
  private var inbound = ByteBuffer()
  private var response = Response.awaited
  /// Interim responses to the request so far.
  private var interimResponses = 0
  /// The failure of the current exchange; the channel closes once everything received before it was passed on.
  private var failure: UpstreamFailure?

  /// Progress of the response to the current request.
  private enum Response {
    /// Its final head has not come.
    case awaited
    /// - isChunked: whether its content is translated to chunks.
    case content(isChunked: Bool)
    case ended

    /// Whether what has come of it is translated to chunks.
    var isChunked: Bool { if case .content(isChunked: true) = self { true } else { false } }
    var hasEnded: Bool { if case .ended = self { true } else { false } }
  }

  /// Queued bytes of a request body at which reading from the client stops, and below which it resumes.
  private static let queueLimit = 128 * 1024
  private static let queueRest = 32 * 1024
  private static let writeLimit = 48_000

  init(loop: LoopResources, connection: UpstreamConnection, isTLS: Bool) {
    self.loop = loop
    self.connection = connection
    scheme = isTLS ? "https" : "http"
    parser = RequestHeadParser(limits: LoopResources.sentHeads)
    session = HTTP2ClientSession(HTTP2Policy(applicationHeads: loop.responseParser.limits), now: .now())
  }

  // MARK: Channel events

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if context.channel.isActive { send(context) }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    session.close()
    self.context = nil
  }

  func channelActive(context: ChannelHandlerContext) {
    send(context)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    if let stream {
      self.stream = nil
      if let code = session.endedBy {
        connection?.streamFailed(Self.failure(of: stream, connection: code))
      } else if stream.hasAnswer {
        connection?.streamFailed(.closedMidway)
      }
    }
    session.close()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    session.receive(unwrapInboundIn(data), now: .now())
    // Our RST_STREAM or GOAWAY is sent first, so that the failure is known before the received part is handed on.
    if stream != nil, !response.hasEnded, connection?.phase.isAwaitingHead == true, session.wantsToWrite {
      writeFrames(context)
    }
    if let stream, let code = session.endedBy {
      self.stream = nil
      failure = Self.failure(of: stream, connection: code)
    }
    if let failure {
      connection?.codec = .failing(failure)
    } else if stream == nil, !session.takesRequests {
      // GOAWAY in the same read as the end of a response: no further request may be sent.
      connection?.codec = .occupied
    }
    if inbound.readableBytes > 0 {
      let bytes = inbound
      inbound = ByteBuffer()
      context.fireChannelRead(wrapInboundOut(bytes))
    }
    send(context)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard failure == nil else { return promise?.fail(ChannelError.ioOnClosedChannel) ?? () }
    var buffer = unwrapOutboundIn(data)
    if stream == nil, !beginRequest(&buffer) {
      failure = .notProcessed
      promise?.fail(ChannelError.ioOnClosedChannel)
      // Later: the caller has not finished beginning the exchange.
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      return context.eventLoop.execute { bound.value.0.tellFailure(bound.value.1) }
    }
    sendContent(&buffer)
    promise?.succeed()
  }

  func flush(context: ChannelHandlerContext) { send(context) }

  private func send(_ context: ChannelHandlerContext) {
    writeFrames(context)
    tellFailure(context)
    // The application has sent GOAWAY, or accepts no streams: the next request uses another connection.
    if session.isOver || (stream == nil && !session.takesRequests) { context.close(promise: nil) }
  }

  private func writeFrames(_ context: ChannelHandlerContext) {
    while true {
      var buffer = loop.frames.take()
      session.produce(into: &buffer, limit: Self.writeLimit)
      let count = buffer.readableBytes
      if count > 0 { context.writeAndFlush(wrapOutboundOut(buffer), promise: nil) }
      loop.frames.give(buffer)
      if count < Self.writeLimit { break }
    }
  }

  private func tellFailure(_ context: ChannelHandlerContext) {
    guard let failure else { return }
    connection?.streamFailed(failure)
    context.close(promise: nil)
  }

  // MARK: The request

  /// Begins a stream with the head at the beginning of `buffer`.
  private func beginRequest(_ buffer: inout ByteBuffer) -> Bool {
    let whole = buffer
    let bytes = whole.readableBytesSpan
    guard parser.parse(bytes, into: &head) == .complete else { return false }
    var fields = HTTP2Fields()
    fields.append(":method", bytes.extracting(head.methodRange))
    fields.append(":scheme", scheme)
    fields.append(":authority", bytes.extracting(head.authority))
    fields.append(":path", bytes.extracting(head.target))
    for line in head.fields.lines {
      switch line.known {
      case .host, .connection, .transferEncoding, .upgrade, .te: continue
      default: fields.append(line, bytes)
      }
    }
    // gRPC requires that we accept trailers.
    fields.append("te", "trailers")
    decoder = BodyDecoder(head.framing)
    response = .awaited
    interimResponses = 0
    stream = session.request(&fields, isWhole: head.framing == .none, handler: self)
    stream?.answersHead = head.method == .head
    connection?.codec = stream == nil ? .ready : .occupied
    buffer.moveReaderIndex(forwardBy: head.byteCount)
    return stream != nil
  }

  private func sendContent(_ buffer: inout ByteBuffer) {
    guard let stream else { return }
    while true {
      switch decoder.next(&buffer) {
      case .content(let count):
        guard let content = buffer.readSlice(length: count) else { return }
        session.send(content, on: stream)
        stream.detachQueue()
      case .end(let trailers): return session.end(stream, trailers: trailers)
      // A violation cannot occur: the gateway frames its own requests.
      case .incomplete, .violation:
        if stream.queuedBytes > Self.queueLimit { connection?.setCongested(true) }
        return
      }
    }
  }

  func sentContent() {
    guard let stream, let connection, connection.isCongested, stream.queuedBytes < Self.queueRest else { return }
    connection.setCongested(false)
  }

  // MARK: The response

  func received(head: ByteBuffer, isChunked: Bool) {
    response = .content(isChunked: isChunked)
    inbound.writeImmutableBuffer(head)
  }

  func received(interim head: RawSpan) {
    interimResponses += 1
    guard interimResponses > UpstreamConnection.passedInterimResponses else {
      head.withUnsafeBytes { _ = inbound.writeBytes($0) }
      return
    }
    // Of those that are not passed on, the status is enough to count them.
    head.extracting(0..<min(Self.statusLine, head.byteCount)).withUnsafeBytes { _ = inbound.writeBytes($0) }
    inbound.writeStaticString("\r\n\r\n")
  }

  /// Bytes of a status line without a reason phrase.
  private static let statusLine = "HTTP/1.1 102 ".utf8.count

  func received(content: ByteBuffer) {
    if response.isChunked { ChunkedEncoder.writeSize(content.readableBytes, to: &inbound) }
    inbound.writeImmutableBuffer(content)
    if response.isChunked { inbound.writeStaticString("\r\n") }
    // Back-pressure is applied by not reading the socket.
    if let stream { session.consume(content.readableBytes, on: stream) }
  }

  func receivedEnd(trailers: [UInt8]) {
    let isChunked = response.isChunked
    response = .ended
    guard isChunked else { return }
    inbound.writeStaticString("0\r\n")
    inbound.writeBytes(trailers)
    inbound.writeStaticString("\r\n")
  }

  func closed(_ code: UInt32) {
    guard let ended = stream else { return }
    stream = nil
    // A connection whose exchange has failed stays occupied, as it is about to close.
    if response.hasEnded { connection?.codec = .ready } else { failure = Self.failure(of: ended, code) }
  }

  /// The failure of a stream whose connection has failed.
  private static func failure(
    of stream: HTTP2OutboundStream, connection code: HTTPWire.HTTP2ErrorCode
  ) -> UpstreamFailure {
    .badResponse(stream.violation ?? "HTTP/2 connection error (code \(code.rawValue))")
  }

  /// The failure of a stream that ended before its response did.
  private static func failure(of stream: HTTP2OutboundStream, _ code: UInt32) -> UpstreamFailure {
    if let violation = stream.violation { return .badResponse(violation) }
    // Also reported by nghttp2 for a stream above the last one of a GOAWAY.
    if code == HTTP2ErrorCode.refusedStream.rawValue, !stream.hasAnswer { return .notProcessed }
    return .badResponse("stream reset without the end of a response (code \(code))")
  }
}
