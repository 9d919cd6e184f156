internal import HTTPWire
internal import NIOCore

/// The way of a request: head, gate, body.
extension HTTP1ServerConnection {
  /// Reads heads from `pending` until one waits for its response.
  func readRequests() {
    while request == .idle, canTakeResponse, let buffer = pending, buffer.readableBytes > 0 {
      pending = nil
      guard readHead(buffer) else { break }
    }
    if request == .idle, pending?.readableBytes == 0 { pending = nil }
    if input.hasEnded { readToEnd() }
  }

  /// - Returns: whether to go on with what is pending.
  private func readHead(_ buffer: ByteBuffer) -> Bool {
    let loop = server.loop
    switch server.parser.parse(buffer.readableBytesSpan, into: &loop.requestHead) {
    case .incomplete where input.hasEnded:
      refuseHead(buffer, 400, "the connection ended within the request head")
      return false
    case .incomplete:
      // The time for a head runs from its first byte, whatever comes after.
      if !exchange.headHasBegun {
        exchange.headHasBegun = true
        loop.wheel.arm(self, after: server.waits.head, now: .now())
      }
      pending = buffer
      holdPending()
      return false
    case .violation(let violation):
      refuseHead(buffer, violation.status, violation.rawValue)
      return false
    case .complete: return decide(buffer)
    }
  }

  private func refuseHead(_ buffer: ByteBuffer, _ status: Int, _ reason: String) {
    letGo()
    beginExchange()
    pending = buffer
    refuse(status, reason)
  }

  /// An exchange whose gate asked for time is under way already when its head is read again.
  /// - Returns: what time it is.
  @discardableResult
  func beginExchange() -> NIODeadline {
    guard !exchange.isUnderWay else { return .now() }
    exchange.begin(on: server)
    return exchange.began
  }

  private func decide(_ whole: ByteBuffer) -> Bool {
    let loop = server.loop
    letGo()
    let now = beginExchange()
    server.rules.ownCookies.find(whole.readableBytesSpan, in: &loop.requestHead)
    exchange.note(loop.requestHead, whole.readableBytesSpan, from: peer, on: server)
    loop.wheel.disarm(self)
    switch server.gate.decide(loop.requestHead, whole.readableBytesSpan, client, exchange.requestID) {
    case .forward(let order):
      var rest = whole
      rest.moveReaderIndex(forwardBy: loop.requestHead.byteCount)
      forward(order, whole, &rest, now)
      return false
    case .answer(let response, let routeClass):
      exchange.routeClass = routeClass
      let hasBody = loop.requestHead.framing != .none
      var rest = whole
      rest.moveReaderIndex(forwardBy: loop.requestHead.byteCount)
      if rest.readableBytes > 0 { pending = rest }
      request = hasBody ? .content : .complete
      respond(response)
      return request == .idle
    case .perform(let action):
      collect(action, whole)
      return false
    case .wait(let work):
      request = .deciding
      pending = whole
      let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
      let eventLoop = loop.eventLoop
      Task {
        await work()
        eventLoop.execute { bound.value.decideAgain() }
      }
      return false
    }
  }

  private func decideAgain() {
    guard request == .deciding else { return }
    request = .idle
    holdReads(false)
    readRequests()
  }

  // MARK: Upstream

  private func forward(
    _ order: ForwardingDirective, _ whole: ByteBuffer, _ rest: inout ByteBuffer, _ now: NIODeadline
  ) {
    let loop = server.loop
    exchange.note(order, wantsUpgrade: loop.requestHead.wantsUpgrade, on: server)
    if exchange.session != nil, !isReviewed {
      isReviewed = true
      server.review(self)
    }
    pending = whole
    guard let balancer = exchange.balancer else { return refuse(500, "no application is configured") }
    let framing = loop.requestHead.framing
    if case .length(let length) = framing, let limit = server.bodyLimit, length > limit {
      return refuse(413, "the request body is larger than the limit")
    }
    if exchange.upgrades, framing != .none || rest.readableBytes > 0 {
      return refuse(400, "bytes behind a request for an upgrade")
    }
    pending = nil
    exchange.noteConnection(hasBody: framing != .none)
    var head = loop.heads.take()
    RequestForwarding.write(
      loop.requestHead, whole.readableBytesSpan, rules: server.rules,
      context: exchange.forwarding(order, forwardedFor, trusted: peer.isTrusted), to: &head)
    exchange.sentHead = head
    if loop.requestHead.expectsContinue, rest.readableBytes == 0 { sendContinue() }
    exchange.isChunked = framing == .chunked
    var content: ByteBuffer?
    if framing == .none {
      request = .complete
      exchange.attempts.isRetryable = loop.requestHead.method.isIdempotent && !exchange.upgrades
      if rest.readableBytes > 0 {
        pending = rest
        holdPending()
      }
    } else {
      exchange.decoder = BodyDecoder(framing)
      exchange.bodyBegan = now
      request = .content
      loop.wheel.arm(self, after: server.waits.bodyProgress, now: now)
      if rest.readableBytes > 0 {
        guard decodeContent(&rest, into: &content) else { return }
      }
    }
    let pool = balancer.choose()
    exchange.attempts.place = pool.number
    if !exchange.endsUpstream, let connection = pool.takeIdle() {
      begin(on: connection, content: content, now)
    } else {
      exchange.waitingContent = content
      holdReads(request == .content)
      exchange.place = pool.connect(for: self)
    }
  }

  private func begin(on connection: UpstreamConnection, content: ByteBuffer?, _ now: NIODeadline) {
    guard let head = exchange.sentHead else { return }
    upstream = connection
    exchange.upstreamBegan = now
    exchange.keepReplay(content)
    connection.begin(
      self, head: head, content: content, isHead: exchange.isHead, isComplete: request == .complete,
      upgrades: exchange.upgrades, isLast: exchange.endsUpstream, now: now)
  }

  /// Tries once more to have the request answered, on a fresh connection, where that is safe.
  func connectAgain(after failure: UpstreamFailure) -> Bool {
    guard let pool = exchange.nextPool(after: failure) else { return false }
    holdReads(request == .content)
    exchange.place = pool.connect(for: self)
    return true
  }

  func upstreamReady(_ connection: UpstreamConnection) {
    exchange.place = nil
    guard exchange.isUnderWay, upstream == nil, !exchange.responseBegan, request == .complete || request == .content
    else {
      return connection.release()
    }
    let content = exchange.waitingContent
    exchange.waitingContent = nil
    begin(on: connection, content: content, .now())
    holdReads(false)
  }

  // MARK: The body

  func readContent(_ buffer: inout ByteBuffer) {
    let now = NIODeadline.now()
    input.read(at: now)
    // While bytes wait for the client the deadline is for them: a body that goes on is no reason to wait longer.
    if pace == nil { server.loop.wheel.arm(self, after: server.waits.bodyProgress, now: now) }
    if exchange.bodyIsTooSlow(now, more: buffer.readableBytes, server) {
      return refuse(408, "the request body arrives too slowly")
    }
    if exchange.control != nil { return collectContent(&buffer) }
    var content: ByteBuffer?
    guard decodeContent(&buffer, into: &content) else { return }
    guard let upstream else {
      // Answered already, or not yet connected: what is answered is not read on.
      if var content, !exchange.responseBegan {
        if exchange.waitingContent == nil {
          exchange.waitingContent = content
        } else {
          exchange.waitingContent?.writeBuffer(&content)
        }
      }
      return
    }
    if let content {
      exchange.loseReplay()
      upstream.send(content)
    }
    if request == .complete {
      upstream.flushRequest()
      upstream.requestEnded()
    } else {
      upstream.requestProgressed()
    }
  }

  /// Takes content out of its framing, and puts what is chunked into chunks of our own.
  /// - Returns: whether all is well; otherwise the request has been refused.
  private func decodeContent(_ buffer: inout ByteBuffer, into content: inout ByteBuffer?) -> Bool {
    while true {
      switch exchange.decoder.next(&buffer) {
      case .content(let count):
        exchange.receivedBytes += count
        if let limit = server.bodyLimit, exchange.receivedBytes > limit {
          refuse(413, "the request body is larger than the limit")
          return false
        }
        guard var slice = buffer.readSlice(length: count) else { return true }
        exchange.frame(&slice, behind: &content, server.loop)
      case .incomplete: return true
      case .end(let trailers):
        if exchange.isChunked {
          var framed = content ?? server.loop.buffers.take()
          TrailerForwarding.write(trailers, rules: server.rules, to: &framed)
          content = framed
        }
        request = .complete
        server.loop.wheel.disarm(self)
        if buffer.readableBytes > 0 {
          pending = buffer
          holdPending()
        }
        return true
      case .violation(let violation):
        refuse(400, violation.rawValue)
        return false
      }
    }
  }
}
