internal import HTTPTypes
internal import HTTPWire
internal import NIOCore

/// Responses: their framing, and what becomes of the connection after them.
extension HTTP1ServerConnection {
  /// The framing of a response, and the end of the connection after it.
  struct Framing {
    /// Whether the request allows another one after it.
    var keepsAlive = true
    /// Whether the connection ends after the response.
    var closesAfterResponse = false
    var body = Body.asItComes

    /// The framing of the response's body.
    enum Body {
      /// Its length is announced, or it has none; also the bytes of a tunnel.
      case asItComes
      case chunked
      /// The end of the connection is that of the response: HTTP/1.0, without a length.
      case untilClose
    }
  }

  /// Whether the client of the exchange under way speaks HTTP/1.1 rather than 1.0.
  private var isHTTP11: Bool { exchange.info.version == .http11 }

  /// The `Connection` field by which the client knows whether its connection is kept.
  @inline(__always)
  private var connectionField: ResponseForwarding.Connection {
    framing.closesAfterResponse ? .close : isHTTP11 ? .implied : .keepAlive
  }

  // MARK: From the upstream

  func sendContinue() { writer.send(Self.continueResponse) }

  private static let continueResponse = ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")

  func sendInterim(_ head: borrowing ResponseHead, _ bytes: RawSpan) {
    var interim = loop.buffers.take()
    ResponseForwarding.write(
      head, bytes, rules: server.configuration.rules, context: ResponseForwarding.Context(),
      on: ResponseForwarding.Hop(connection: .implied), to: &interim)
    writer.write(interim)
    loop.buffers.give(interim)
  }

  /// HTTP/1.1 has no limit for a head.
  func prepareHead(_ head: borrowing ResponseHead, _ bytes: RawSpan) -> Bool { true }

  func sendHead(_ head: borrowing ResponseHead, _ bytes: RawSpan, framing body: BodyFraming) {
    let isOpenEnded = body.isChunked || body.isUntilClose
    framing.body = !isOpenEnded ? .asItComes : isHTTP11 ? .chunked : .untilClose
    // Answered before the request was read: what is still to come of its body is not read for long.
    framing.closesAfterResponse =
      !framing.keepsAlive || server.announcesShutdown || framing.body == .untilClose || !exchange.request.isWhole
      || isLastRequest
    write(head, bytes, connectionField)
  }

  func sendSwitch(_ head: borrowing ResponseHead, _ bytes: RawSpan) {
    framing.body = .asItComes
    write(head, bytes, .upgrade)
    if input.hasEnded { receiveEnd(trailers: []) }
  }

  private func write(
    _ head: borrowing ResponseHead, _ bytes: RawSpan, _ connection: ResponseForwarding.Connection
  ) {
    // Once: each look into the server would retain what it finds.
    let rules = server.configuration.rules
    let context = ResponseForwarding.Context(
      privateLines: exchange.upstream.privateLines, date: loop.missingDate(of: head),
      addresses: exchange.upstream.addresses)
    let hop = ResponseForwarding.Hop(
      connection: connection, isChunked: framing.body == .chunked, mayUpgrade: isHTTP11)
    var buffer = outgoing.take() ?? loop.buffers.take()
    ResponseForwarding.write(head, bytes, rules: rules, context: context, on: hop, to: &buffer)
    if !rules.responseHeaders.isEmpty {
      rules.responseHeaders.write(missingIn: head, bytes, isPrivate: context.privateLines != nil, to: &buffer)
    }
    outgoing = buffer
  }

  func sendContent(_ content: ByteBuffer) {
    guard framing.body == .chunked else { return passOn(content) }
    let isSmall = content.readableBytes <= Self.copiedContent
    var buffer = outgoing.take() ?? loop.buffers.take()
    ChunkedEncoder.writeSize(content.readableBytes, to: &buffer)
    if isSmall {
      buffer.writeImmutableBuffer(content)
    } else {
      writer.write(buffer)
      writer.write(content)
      buffer = ByteBuffer()
    }
    buffer.writeStaticString("\r\n")
    outgoing = buffer
  }

  /// Sends bytes as they are.
  private func passOn(_ content: ByteBuffer) {
    if content.readableBytes <= Self.copiedContent, var buffer = outgoing.take() {
      buffer.writeImmutableBuffer(content)
      outgoing = buffer
    } else if let buffer = outgoing.take() {
      writer.write(buffer)
      loop.buffers.give(buffer)
      writer.write(content)
    } else {
      writer.send(content)
    }
  }

  /// Content up to this size is copied after its head: one copy is cheaper than a second vector to write.
  private static let copiedContent = 16 * 1024

  func flushResponse() {
    guard let buffer = outgoing.take() else { return writer.flush() }
    writer.send(buffer)
    loop.buffers.give(buffer)
  }

  func sendEnd(trailers: [UInt8]) {
    if framing.body == .chunked {
      var buffer = outgoing.take() ?? loop.buffers.take()
      TrailerForwarding.write(trailers, rules: server.configuration.rules, to: &buffer)
      outgoing = buffer
    }
    flushResponse()
    finish(at: loop.responseRead)
  }

  func closeTunnel(clientMaySend: Bool) {
    flushResponse()
    closeAfterResponse(clientMaySend: clientMaySend)
  }

  // MARK: The gateway's own

  func send(_ response: ControlResponse) {
    let isHead = exchange.info.method == .head
    framing.body = .asItComes
    framing.closesAfterResponse =
      !framing.keepsAlive || server.announcesShutdown || !exchange.request.isWhole || isLastRequest
    var buffer = outgoing.take() ?? loop.buffers.take()
    ControlResponseForwarding.write(
      response, withoutBody: isHead, connection: connectionField, requestID: exchange.info.requestID,
      date: loop.date.bytes(), to: &buffer)
    if !isHead { exchange.info.sentBytes = response.body.count }
    outgoing = buffer
    flushResponse()
    finish(at: .now())
  }

  // MARK: Shared

  /// The response is out: on to the next request, or the end.
  private func finish(at now: NIODeadline) {
    let isWhole = exchange.request.isWhole
    endExchange(at: now)
    guard isWhole, !framing.closesAfterResponse, !isLastRequest else {
      // A client that takes the connection for a kept one may have sent another request by now.
      return closeAfterResponse(clientMaySend: !isWhole || pending != nil || framing.keepsAlive && isHTTP11)
    }
    exchange.review = nil
    isWithinHead = false
    endLargeReads()
    holdReads(false)
    if canTakeResponse { awaitRequest(at: now) } else { watchPace(at: now) }
    if pending != nil { continueReading() }
  }

  /// Waits for the next request. Where the last response began before a shutdown, the client takes the connection for a
  /// kept one: its next response says that it is over.
  private func awaitRequest(at now: NIODeadline) {
    loop.wheel.arm(self, after: server.isDraining ? ServerContext.idleGrace : server.configuration.waits.idle, now: now)
  }

  /// All responses are out: the requests that waited for it are read.
  func takesResponsesAgain() {
    holdReads(false)
    awaitRequest(at: .now())
    if pending != nil { continueReading() }
  }

  /// Reads what was sent ahead from a fresh stack: a thousand pipelined requests must not nest a thousand deep.
  private func continueReading() {
    let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
    loop.eventLoop.execute { bound.value.readRequests() }
  }
}
