internal import HTTPTypes
internal import HTTPWire
internal import NIOCore

/// The way of a response: from the upstream, or of our own.
extension HTTP2ServerStream {
  // MARK: From the upstream

  func responseHead(_ head: borrowing ResponseHead, _ bytes: RawSpan, toCome framing: BodyFraming) {
    let loop = server.loop
    if head.isInterim {
      // 100 Continue was ours to send, and has been.
      guard head.status != 100 else { return }
      ResponseForwarding.write(head, bytes, ownCookies: server.rules.ownCookies, to: &loop.fields)
      if loop.fields.canBeSent { connection.session.inform(&loop.fields, on: stream) }
      return
    }
    // To an extended CONNECT any 2xx is a tunnel: an application that answers in HTTP must not be taken for one.
    if phase == .switching, head.status / 100 == 2 {
      return refuse(502, "the application answered a WebSocket with something else")
    }
    if phase == .switching, head.status == 101, !acceptsOurKey(head, bytes) {
      return refuse(502, "the application did not understand the WebSocket's key")
    }
    ResponseForwarding.write(
      head, bytes, ownCookies: server.rules.ownCookies, personalLines: exchange.personalLines,
      date: loop.missingDate(of: head), to: &loop.fields)
    guard loop.fields.canBeSent else {
      upstream?.failWithoutHead(.badResponse("response header too large for HTTP/2"))
      return
    }
    exchange.responseBegan = true
    exchange.status = head.status
    exchange.upstreamDuration = loop.responseRead - exchange.upstreamBegan
    exchange.replay = nil
    if phase == .content { loop.wheel.disarm(self) }
    if head.status == 101 { return beginTunnel() }
    connection.session.respond(&loop.fields, on: stream, isWhole: framing == .none)
  }

  /// Whether the application has answered the key that was sent with what only that key's reader can (RFC 6455 4.1).
  private func acceptsOurKey(_ head: borrowing ResponseHead, _ bytes: RawSpan) -> Bool {
    guard let sent = exchange.sentHead else { return false }
    var request = RequestHead()
    let sentBytes = sent.readableBytesSpan
    guard Exchange.sentHeadParser.parse(sentBytes, into: &request) == .complete,
      let key = request.fields.lines.first(where: { sentBytes.equalsIgnoringCase("sec-websocket-key", $0.name) })
    else { return false }
    let answers = head.fields.lines.filter { bytes.equalsIgnoringCase("sec-websocket-accept", $0.name) }
    guard answers.count == 1, let answer = answers.first else { return false }
    return bytes.array(answer.value) == WebSocketAccept.answer(to: sentBytes.array(key.value))
  }

  func responseContent(_ content: ByteBuffer) {
    if phase == .tunnel { tunnelContent(content) } else { send(content) }
  }

  func send(_ content: ByteBuffer) {
    guard content.readableBytes > 0 else { return }
    exchange.sentBytes += content.readableBytes
    connection.session.send(content, on: stream)
    hasQueued()
  }

  func flushResponse() {
    if stream.queuedBytes >= Self.eagerFlush { connection.flush() } else { connection.flushSoon() }
  }

  func responseEnded(trailers: [UInt8]) {
    upstream = nil
    if phase == .tunnel { return closeTunnel() }
    connection.session.end(
      stream, trailers: trailers.isEmpty ? [] : TrailerForwarding.passing(trailers, rules: server.rules))
    connection.flushSoon()
  }

  func upstreamFailed(_ failure: UpstreamFailure) {
    upstream = nil
    guard exchange.isUnderWay, phase != .closed, !stream.isReset else { return }
    if exchange.responseBegan {
      exchange.failure = failure.told
      // What was promised cannot be kept, and the stream says so.
      reset(.internalError)
    } else if let pool = exchange.nextPool(after: failure) {
      exchange.place = pool.connect(for: self)
    } else {
      exchange.failure = failure.told
      refuse(failure.status, failure.reason)
    }
  }

  // MARK: Of our own

  /// Tells a client that waits for it to go on (RFC 9110 10.1.1): the head has passed, and the body is wanted.
  func sendContinue() {
    server.loop.fields.begin(status: 100)
    connection.session.inform(&server.loop.fields, on: stream)
    connection.flushSoon()
  }

  /// Answers with an error that the gate words.
  func refuse(_ status: Int, _ reason: String) {
    if !exchange.isUnderWay {
      exchange.begin(on: server)
      exchange.version = .http2
    }
    let preferences = exchange.preferences(on: server, pending: nil)
    exchange.leaveQueue()
    let upstream = upstream
    self.upstream = nil
    upstream?.abandon()
    startIsDue = false
    // Too late to say so: only a stream that is broken off tells the client.
    if exchange.responseBegan { return breakOff() }
    respond(
      server.gate.failure(
        status: status, reason: reason, preferences: preferences, requestID: exchange.requestID.description))
  }

  /// Writes a whole response.
  func respond(_ response: ControlResponse) {
    guard phase != .closed, !exchange.responseBegan else { return }
    exchange.responseBegan = true
    // What is counted and logged is the error, however its client is told.
    exchange.status = response.head.status.code
    let response = exchange.isGRPC ? GRPCStatus.answer(response) : response
    let status = response.head.status.code
    exchange.control = nil
    exchange.waitingContent = nil
    server.loop.wheel.disarm(self)
    let hasBody = !exchange.isHead && status != 204 && status != 304 && !response.body.isEmpty
    ControlResponseForwarding.write(
      response, requestID: exchange.requestID, date: server.loop.date.bytes(), to: &server.loop.fields)
    connection.session.respond(&server.loop.fields, on: stream, isWhole: !hasBody)
    if hasBody {
      exchange.sentBytes = response.body.count
      connection.session.send(ByteBuffer(bytes: response.body), on: stream)
      connection.session.end(stream, trailers: [])
      hasQueued()
    }
    connection.flushSoon()
  }
}
