internal import HTTPWire
internal import NIOCore

/// The way of a request: head, gate, body.
extension HTTP2ServerStream {
  /// Takes the request's head, written as HTTP/1.1 has it.
  func receive(_ head: RawSpan, isWhole: Bool) {
    begin()
    phase = isWhole ? .complete : .content
    if connection.session.hasBeenReset { return postpone(head) }
    if isRequest(connection.session.takeRequest(into: &server.loop.requestHead)) { decide(head) }
  }

  /// A client that has withdrawn a request may withdraw this one in the same breath: it is not looked at before all
  /// that was read has been, and costs nothing but its frames if so.
  private func postpone(_ head: RawSpan) {
    isPostponed = true
    hold(head)
    connection.proceedBehindReading(self)
  }

  /// What comes meanwhile waits: the client's window bounds it.
  private func hold(_ head: RawSpan) {
    if phase == .complete { pendingEnd = [] }
    phase = .deciding
    pendingHead = head.withUnsafeBytes { ByteBuffer(bytes: $0) }
  }

  /// Reads a head that had to wait into the loop's.
  /// - Returns: whether it is a request's; what is not has been answered.
  private func read(_ head: ByteBuffer) -> Bool {
    isRequest(server.parser.parse(head.readableBytesSpan, into: &server.loop.requestHead))
  }

  /// Whether a head that was read is a request's; what is not is answered.
  private func isRequest(_ parse: HeadParse) -> Bool {
    switch parse {
    case .complete: return true
    case .incomplete: reset(.protocolError)
    case .violation(let violation) where violation.status == 400:
      // Malformed (RFC 9113 8.1.1): not to be answered as if it were a request.
      exchange.status = 400
      reset(.protocolError)
    case .violation(let violation): refuse(violation.status, violation.rawValue)
    }
    return false
  }

  private func begin() {
    guard !exchange.isUnderWay else { return }
    exchange.begin(on: server, at: connection.now)
    exchange.version = .http2
  }

  private func decide(_ bytes: RawSpan) {
    let loop = server.loop
    server.rules.ownCookies.find(bytes, in: &loop.requestHead)
    exchange.note(loop.requestHead, bytes, from: connection.peer, on: server)
    exchange.version = .http2
    let decision = server.gate.decide(loop.requestHead, bytes, client, exchange.requestID)
    switch consume decision {
    case .forward(let order): forward(order, bytes)
    case .answer(let response, let routeClass):
      exchange.routeClass = routeClass
      respond(response)
    case .perform(let action): collect(action, bytes)
    case .wait(let work):
      hold(bytes)
      let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
      let eventLoop = loop.eventLoop
      Task {
        await work()
        eventLoop.execute { bound.value.decideAgain() }
      }
    }
  }

  private func decideAgain() {
    guard phase == .deciding, !stream.isReset, let head = pendingHead else { return }
    pendingHead = nil
    phase = .content
    guard read(head) else { return }
    if pendingEnd == [], exchange.waitingContent == nil, server.loop.requestHead.framing == .none {
      pendingEnd = nil
      phase = .complete
    }
    decide(head.readableBytesSpan)
    guard phase == .content, let end = pendingEnd else { return }
    pendingEnd = nil
    receivedEnd(trailers: end)
  }

  // MARK: Upstream

  private func forward(_ order: consuming ForwardingDirective, _ bytes: RawSpan) {
    let loop = server.loop
    exchange.note(order, wantsUpgrade: loop.requestHead.wantsUpgrade, on: server)
    if exchange.session != nil { connection.reviewExchanges() }
    guard exchange.balancer != nil else { return refuse(500, "no application is configured") }
    let framing = loop.requestHead.framing
    // What came while the gate was thinking counts, too.
    var length = exchange.receivedBytes
    if case .length(let announced) = framing { length = max(length, announced) }
    if let limit = server.bodyLimit, length > limit, !exchange.upgrades {
      return refuse(413, "the request body is larger than the limit")
    }
    if exchange.upgrades, framing != .none { return refuse(400, "a body in a request for an upgrade") }
    if exchange.upgrades, stream.isEndReceived { return refuse(400, "a WebSocket that its client has ended already") }
    exchange.noteConnection(hasBody: framing != .none)
    var sent = loop.heads.take()
    RequestForwarding.write(
      loop.requestHead, bytes, rules: server.rules,
      context: exchange.forwarding(order, connection.forwardedFor, trusted: connection.peer.isTrusted), to: &sent)
    exchange.sentHead = sent
    exchange.isChunked = framing == .chunked
    if exchange.upgrades { phase = .switching }
    exchange.attempts.isRetryable =
      phase == .complete && loop.requestHead.method.isIdempotent && framing == .none
    if phase == .content {
      exchange.bodyBegan = .now()
      if loop.requestHead.expectsContinue, exchange.waitingContent == nil { sendContinue() }
      awaitContent(exchange.bodyBegan)
    }
    startIsDue = true
    connection.proceedBehindReading(self)
  }

  /// Keeps content, not framed yet, until there is a connection to the application.
  private func keep(_ content: inout ByteBuffer) {
    if exchange.waitingContent == nil {
      exchange.waitingContent = content
    } else {
      exchange.waitingContent?.writeBuffer(&content)
    }
  }

  /// Gives a body that has come whole before it is sent its length, or none where it is empty: not every application
  /// reads chunks.
  private func settleBody() {
    if phase == .content, let end = pendingEnd {
      pendingEnd = nil
      phase = .complete
      exchange.requestTrailers = end
      server.loop.wheel.disarm(self)
    }
    guard exchange.isChunked, phase == .complete, exchange.requestTrailers.isEmpty, var head = exchange.sentHead else {
      return
    }
    exchange.sentHead = nil
    exchange.isChunked = false
    let count = exchange.waitingContent?.readableBytes ?? 0
    let closed = exchange.endsUpstream
    exchange.noteConnection(hasBody: count > 0)
    RequestForwarding.settle(
      &head, length: count > 0 || exchange.method.readsBody ? count : nil, closed: closed,
      closes: exchange.endsUpstream)
    exchange.sentHead = head
    if count == 0 { exchange.attempts.isRetryable = exchange.method.isIdempotent }
  }

  /// What is sent of the body with the head.
  private func firstContent() -> ByteBuffer? {
    guard phase != .switching else { return nil }
    let content = exchange.waitingContent
    exchange.waitingContent = nil
    exchange.keepReplay(content)
    guard exchange.isChunked else { return content }
    var framed: ByteBuffer?
    if var content, content.readableBytes > 0 { exchange.frame(&content, behind: &framed, server.loop) }
    guard phase == .complete else { return framed }
    var whole = framed ?? server.loop.buffers.take()
    TrailerForwarding.write(exchange.requestTrailers, rules: server.rules, to: &whole)
    return whole
  }

  /// All that was read has been looked at: the request goes upstream, or what came of its body does.
  func proceed() {
    // Found malformed meanwhile: it is void, and only its end is still to be told.
    guard !stream.isReset else { return }
    if isPostponed {
      isPostponed = false
      // Which begins it upstream in turn, if that is what comes of it.
      return decideAgain()
    }
    guard startIsDue, phase != .closed else {
      upstream?.flushRequest()
      return
    }
    startIsDue = false
    guard !exchange.responseBegan, let pool = exchange.balancer?.choose() else { return }
    exchange.attempts.place = pool.number
    settleBody()
    if !exchange.endsUpstream, let idle = pool.takeIdle() {
      begin(on: idle, connection.now)
    } else {
      exchange.place = pool.connect(for: self)
    }
  }

  private func begin(on connection: UpstreamConnection, _ now: NIODeadline) {
    settleBody()
    guard let head = exchange.sentHead else { return }
    upstream = connection
    exchange.upstreamBegan = now
    let content = firstContent()
    connection.begin(
      self, head: head, content: content, isHead: exchange.isHead, isComplete: phase != .content,
      upgrades: exchange.upgrades, isLast: exchange.endsUpstream, now: now)
    if content != nil, connection.isWritable { takeAll() }
  }

  func upstreamReady(_ connection: UpstreamConnection) {
    exchange.place = nil
    guard phase != .closed, !stream.isReset, upstream == nil, !exchange.responseBegan else {
      return connection.release()
    }
    begin(on: connection, .now())
  }

  // MARK: The body

  func received(content: ByteBuffer) {
    var content = content
    let count = content.readableBytes
    exchange.receivedBytes += count
    switch phase {
    case .content where exchange.control != nil: collect(&content)
    case .content where exchange.responseBegan && upstream == nil: connection.session.take(count, on: stream)
    case .content: forward(&content, count)
    case .tunnel: tunnelInput(content)
    case .deciding, .switching: keep(&content)
    case .complete, .closed: connection.session.take(count, on: stream)
    }
  }

  private func forward(_ content: inout ByteBuffer, _ count: Int) {
    if let limit = server.bodyLimit, exchange.receivedBytes > limit {
      return refuse(413, "the request body is larger than the limit")
    }
    let now = NIODeadline.now()
    if !exchange.responseBegan, exchange.bodyIsTooSlow(now, more: 0, server) {
      return refuse(408, "the request body arrives too slowly")
    }
    awaitContent(now)
    guard let upstream else { return keep(&content) }
    var framed: ByteBuffer?
    exchange.frame(&content, behind: &framed, server.loop)
    exchange.loseReplay()
    if let framed { upstream.send(framed) }
    upstream.requestProgressed()
    connection.proceedBehindReading(self)
    if upstream.isWritable {
      connection.session.take(count, on: stream)
    } else if exchange.bodyHeldSince == nil {
      exchange.countHold(true)
    }
  }

  func receivedEnd(trailers: [UInt8]) {
    switch phase {
    case .deciding: pendingEnd = trailers
    case .content:
      phase = .complete
      if exchange.control != nil { return perform() }
      if !exchange.responseBegan { server.loop.wheel.disarm(self) }
      endBody(trailers)
    case .tunnel: endTunnelInput()
    case .switching: reset(.cancel)
    case .complete, .closed: break
    }
  }

  private func endBody(_ trailers: [UInt8]) {
    guard let upstream else {
      exchange.requestTrailers = trailers
      return
    }
    if exchange.isChunked {
      var end = server.loop.buffers.take()
      TrailerForwarding.write(trailers, rules: server.rules, to: &end)
      upstream.send(end)
    }
    upstream.flushRequest()
    upstream.requestEnded()
  }
}
