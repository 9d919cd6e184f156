internal import HTTPWire
internal import NIOCore

/// Requests: heads, pipelining, and bodies out of their framing.
extension HTTP1ServerConnection {
  /// Reads heads from `pending` until one waits for its response.
  func readRequests() {
    while isOpen, exchange.request.isIdle, canTakeResponse, pending?.readableBytes ?? 0 > 0,
      let buffer = pending.take()
    {
      readHead(buffer)
      if pending == nil || isWithinHead { break }
    }
    if exchange.request.isIdle, pending?.readableBytes == 0 { pending = nil }
    if input.hasEnded { readToEnd() }
  }

  private func readHead(_ buffer: ByteBuffer) {
    switch server.configuration.parser.parse(buffer.readableBytesSpan, into: &loop.requestHead) {
    case .incomplete where input.hasEnded:
      releaseHolding()
      pending = buffer
      refuseHead(.headTruncated)
    case .incomplete:
      // The time for a head runs from its first byte, whatever comes after.
      if !isWithinHead {
        isWithinHead = true
        loop.wheel.arm(self, after: server.configuration.waits.head, now: .now())
      }
      pending = buffer
      holdPending()
    case .violation(let violation):
      releaseHolding()
      pending = buffer
      refuseHead(Refusal(violation))
    case .complete:
      let now = NIODeadline.now()
      beginExchange(.http11, isWhole: loop.requestHead.framing.isNone, at: now)
      receiveHead(buffer, at: now)
    }
  }

  /// Refuses a request whose head cannot be taken.
  func refuseHead(_ refusal: Refusal) {
    if exchange.request.isIdle { beginExchange(.http11, isWhole: false, at: .now()) }
    refuse(refusal)
  }

  /// Asks the gate about a whole head, and takes what has come after it.
  private func receiveHead(_ whole: ByteBuffer, at now: NIODeadline) {
    releaseHolding()
    isWithinHead = false
    framing.keepsAlive = loop.requestHead.keepAlive
    let (body, count) = (loop.requestHead.framing, loop.requestHead.byteCount)
    if whole.readableBytes > count {
      var rest = whole
      rest.moveReaderIndex(forwardBy: count)
      pending = rest
    }
    loop.wheel.disarm(self)
    switch authorize(whole.readableBytesSpan, at: now) {
    case .suspended: pending = whole
    case .answered: break
    case .forwarding:
      readBehindHead(body, at: now)
      connectUpstream(at: now)
    case .endpoint: readBehindHead(body, at: now)
    }
  }

  func authorizeAgain() {
    guard isOpen, exchange.request.isDeciding, let whole = pending.take() else { return }
    holdReads(false)
    switch server.configuration.parser.parse(whole.readableBytesSpan, into: &loop.requestHead) {
    case .complete:
      receiveHead(whole, at: .now())
      if input.hasEnded { readToEnd() }
    // The limits may have become lower meanwhile.
    case .violation(let violation):
      pending = whole
      refuse(Refusal(violation))
    case .incomplete: close()
    }
  }

  // MARK: The body

  private func readBehindHead(_ body: RequestFraming, at now: NIODeadline) {
    guard !body.isNone else {
      if pending != nil { holdPending() }
      return
    }
    decoder = BodyDecoder(body)
    guard var rest = pending.take() else { return }
    readContent(&rest, at: now)
  }

  /// Takes content out of its framing.
  func readContent(_ buffer: inout ByteBuffer, at now: NIODeadline) {
    input.read(at: now)
    guard readBody(buffer.readableBytes, at: now) else { return }
    var batch: ByteBuffer?
    while true {
      switch decoder.next(&buffer) {
      case .content(let count):
        guard let slice = buffer.readSlice(length: count), receive(slice, gathering: &batch) else { return }
      case .incomplete:
        if let batch { forward(batch, 0) }
        return
      case .end(let trailers):
        if buffer.readableBytes > 0 {
          pending = buffer
          holdPending()
        }
        return receiveEnd(trailers: trailers, behind: batch)
      case .violation(let violation): return refuse(Refusal(violation))
      }
    }
  }

  var unparsedHead: ByteBuffer? { pending }
  var hasBytesBehindHead: Bool { pending != nil }

  /// The socket is read no further while the body is paused: nothing else comes after it.
  func pauseBody(_ pause: Bool) { if exchange.request.isFlowing { holdReads(pause) } }

  /// HTTP/1.1 has no windows.
  func consume(_ count: Int) {}
  func consumeAll() {}

  /// Does nothing: `channelReadComplete` flushes what was read upstream.
  func flushUpstreamAfterRead() {}
}
