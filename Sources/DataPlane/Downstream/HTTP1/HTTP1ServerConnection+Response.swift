internal import HTTPTypes
internal import HTTPWire
internal import NIOCore

/// The way of a response: from the upstream, or of our own.
extension HTTP1ServerConnection {
  // MARK: From the upstream

  func responseHead(_ head: borrowing ResponseHead, _ bytes: RawSpan, toCome framing: BodyFraming) {
    let loop = server.loop
    if head.isInterim {
      // 100 Continue was ours to send, and has been.
      guard isHTTP11, head.status != 100 else { return }
      var interim = loop.buffers.take()
      ResponseForwarding.write(
        head, bytes, ownCookies: server.rules.ownCookies, chunked: false, connection: .implied, to: &interim)
      write(interim)
      loop.buffers.give(interim)
      return
    }
    exchange.responseBegan = true
    exchange.status = head.status
    exchange.upstreamDuration = loop.responseRead - exchange.upstreamBegan
    exchange.replay = nil
    var connection = ResponseForwarding.Connection.implied
    if head.status == 101 {
      beginTunnel(
        isWebSocket: head.fields.line(.upgrade).map { bytes.equalsIgnoringCase("websocket", $0.value) } ?? false)
      connection = .upgrade
    } else {
      exchange.upgrades = false
      exchange.chunksResponse = isHTTP11 && (framing == .chunked || framing == .untilClose)
      let unframed = !isHTTP11 && (framing == .chunked || framing == .untilClose)
      // Answered before the request was read: what is still to come of its body is not read for long.
      exchange.closesBehind =
        !exchange.keepAlive || server.isLeaving || unframed || request != .complete || isLastRequest
      if exchange.closesBehind { connection = .close } else if !isHTTP11 { connection = .keepAlive }
    }
    var buffer = outgoing ?? loop.buffers.take()
    outgoing = nil
    ResponseForwarding.write(
      head, bytes, ownCookies: server.rules.ownCookies, chunked: exchange.chunksResponse, connection: connection,
      personalLines: exchange.personalLines, date: loop.missingDate(of: head), to: &buffer)
    outgoing = buffer
    // One that was under way when the end began.
    if request == .tunnel, server.isDraining { leaveTunnel() }
    if request == .tunnel, input.hasEnded { endTunnelInput() }
  }

  func responseContent(_ content: ByteBuffer) {
    if request == .tunnel { return tunnelContent(content) }
    exchange.sentBytes += content.readableBytes
    if exchange.chunksResponse {
      var content = content
      let isSmall = content.readableBytes <= Self.copiedContent
      var buffer = outgoing ?? server.loop.buffers.take()
      outgoing = nil
      ChunkedEncoder.writeSize(content.readableBytes, to: &buffer)
      if isSmall {
        buffer.writeBuffer(&content)
      } else {
        write(buffer)
        write(content)
        buffer = ByteBuffer()
      }
      buffer.writeStaticString("\r\n")
      outgoing = buffer
    } else {
      passOn(content)
    }
  }

  /// Sends bytes as they are.
  func passOn(_ content: ByteBuffer) {
    var content = content
    if content.readableBytes <= Self.copiedContent, var buffer = outgoing {
      outgoing = nil
      buffer.writeBuffer(&content)
      outgoing = buffer
    } else {
      writeOutgoing()
      write(content)
    }
  }

  /// Content up to this size is copied behind its head: one copy is cheaper than a second vector to write.
  private static let copiedContent = 16 * 1024

  func flushResponse() {
    writeOutgoing()
    context?.flush()
  }

  func responseEnded(trailers: [UInt8]) {
    upstream = nil
    if request == .tunnel {
      flushResponse()
      closeBehindResponse(clientMaySend: false)
      return
    }
    if exchange.chunksResponse {
      var buffer = outgoing ?? server.loop.buffers.take()
      outgoing = nil
      TrailerForwarding.write(trailers, rules: server.rules, to: &buffer)
      outgoing = buffer
    }
    flushResponse()
    finish(at: server.loop.responseRead)
  }

  func upstreamFailed(_ failure: UpstreamFailure) {
    upstream = nil
    guard exchange.isUnderWay else { return }
    if exchange.responseBegan {
      exchange.failure = failure.told
      // What was promised cannot be kept: only a connection that ends too early says so.
      abort()
    } else if !connectAgain(after: failure) {
      exchange.failure = failure.told
      refuse(failure.status, failure.reason)
    }
  }

  // MARK: Of our own

  /// Answers with an error that the gate words.
  func refuse(_ status: Int, _ reason: String) {
    let preferences = exchange.preferences(on: server, pending: pending)
    beginExchange()
    exchange.leaveQueue()
    let upstream = upstream
    self.upstream = nil
    upstream?.abandon()
    // Too late to say so: only a connection that ends too early tells the client.
    if exchange.responseBegan { return abort() }
    exchange.keepAlive = exchange.keepAlive && request == .complete
    respond(
      server.gate.failure(
        status: status, reason: reason, preferences: preferences, requestID: exchange.requestID.description))
  }

  /// Writes a whole response; the exchange is over with it.
  func respond(_ response: ControlResponse) {
    guard request != .closed, !exchange.responseBegan else { return }
    exchange.responseBegan = true
    // What is counted and logged is the error, however its client is told.
    exchange.status = response.head.status.code
    let response = exchange.isGRPC ? GRPCStatus.answer(response) : response
    exchange.control = nil
    exchange.chunksResponse = false
    exchange.closesBehind = !exchange.keepAlive || server.isLeaving || request != .complete || isLastRequest
    var buffer = outgoing ?? server.loop.buffers.take()
    outgoing = nil
    ControlResponseForwarding.write(
      response, withoutBody: exchange.isHead, closes: exchange.closesBehind,
      keepsOld: !isHTTP11 && !exchange.closesBehind, requestID: exchange.requestID,
      date: server.loop.date.bytes(), to: &buffer)
    if !exchange.isHead { exchange.sentBytes = response.body.count }
    outgoing = buffer
    flushResponse()
    finish(at: .now())
  }

  // MARK: Both

  private func write(_ buffer: ByteBuffer) { context?.write(wrapOutboundOut(buffer), promise: nil) }

  private func writeOutgoing() {
    guard let buffer = outgoing else { return }
    outgoing = nil
    write(buffer)
    server.loop.buffers.give(buffer)
  }

  /// The response is out: on to the next request, or the end.
  private func finish(at now: NIODeadline) {
    report(at: now)
    exchange.returnSentHead(to: server.loop)
    guard request == .complete, !exchange.closesBehind, !server.isLeaving, !isLastRequest else {
      closeBehindResponse(clientMaySend: request != .complete || pending != nil)
      return
    }
    exchange.review = nil
    exchange.headHasBegun = false
    request = .idle
    holdReads(false)
    server.loop.wheel.arm(
      self, after: canTakeResponse ? server.waits.idle : server.waits.writeProgress, now: now)
    if pending != nil { continueReading() }
  }

  /// All answers are out: the requests that waited for it are read.
  func takesResponsesAgain() {
    holdReads(false)
    server.loop.wheel.arm(self, after: server.waits.idle, now: .now())
    if pending != nil { continueReading() }
  }

  /// What was sent ahead is read from a fresh stack: a thousand pipelined requests must not nest a thousand deep.
  private func continueReading() {
    let bound = NIOLoopBound(self, eventLoop: server.loop.eventLoop)
    server.loop.eventLoop.execute { bound.value.readRequests() }
  }
}
