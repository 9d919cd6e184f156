internal import HTTPWire
internal import NIOCore

/// The body of a request: its limits, its rate, its way to the upstream or to an endpoint.
extension DownstreamTransport {
  /// Arms the deadline of the body, unless the client has to take something first.
  @inline(__always)
  func awaitBody(_ now: NIODeadline) {
    guard pace == nil, exchange.hasBodyDeadline else { return }
    loop.wheel.arm(self, after: server.configuration.waits.bodyProgress, now: now)
  }

  /// Bytes of the body were read.
  /// - Returns: whether to continue; otherwise the request has been refused.
  func readBody(_ count: Int, at now: NIODeadline) -> Bool {
    awaitBody(now)
    let grace = server.configuration.bodyLimits.grace
    guard exchange.isBodyTooSlow(more: count, at: now, grace: grace) else { return true }
    refuse(.bodyTooSlow)
    return false
  }

  /// Takes content of the request, free of its framing.
  /// - Parameter batch: gathers what goes upstream, for ``forward(_:_:)``.
  /// - Returns: whether to continue; otherwise the request has been refused.
  func receive(_ content: consuming ByteBuffer, gathering batch: inout ByteBuffer?) -> Bool {
    let count = content.readableBytes
    switch exchange.received(count, limit: server.configuration.bodyLimits.bytes) {
    case .forward: exchange.upstream.frame(content, behind: &batch, loop)
    case .keep: exchange.upstream.keep(content)
    case .buffer: return buffer(content)
    case .collect(let call): return collect(content, for: call)
    case .tunnel(let tunnel): receive(content, in: tunnel)
    case .discard: consume(count)
    case .refuse(let refusal):
      refuse(refusal)
      return false
    }
    return true
  }

  /// Collects content for an application that needs the length of the body.
  /// - Returns: whether to continue; otherwise the request has been refused, to make room for others.
  private func buffer(_ content: consuming ByteBuffer) -> Bool {
    let count = content.readableBytes
    let memory =
      exchange.upstream.bodyMemory ?? CollectedBodyMemory(forUpstreamOf: self, atMost: exchange.upstream.bufferLimit)
    guard memory.hold(exchange.upstream.keep(content, in: memory)) else { return false }
    consume(count)
    return true
  }

  /// Sends content that was gathered to the upstream.
  /// - Parameter count: bytes of it that the client sent.
  func forward(_ batch: consuming ByteBuffer, _ count: Int) {
    guard let connection = exchange.upstream.connection else { return }
    exchange.upstream.loseReplay()
    connection.send(batch)
    connection.requestProgressed()
    flushUpstreamAfterRead()
    if connection.isWritable {
      consume(count)
    } else {
      exchange.holdBody(true, at: .now())
    }
  }

  /// All of the request has arrived.
  /// - Parameter batch: the content that came with its end.
  func receiveEnd(trailers: [UInt8], behind batch: consuming ByteBuffer? = nil) {
    switch exchange.receivedEnd(trailers: trailers) {
    case .forward(let connection):
      if pace == nil { loop.wheel.disarm(self) }
      guard let connection else { return }
      var rest = batch
      if rest != nil { exchange.upstream.loseReplay() }
      if exchange.upstream.isChunked {
        var framed = rest ?? loop.buffers.take()
        TrailerForwarding.write(trailers, rules: server.configuration.rules, to: &framed)
        rest = framed
      }
      if let rest { connection.send(rest) }
      connection.flushRequest()
      connection.requestEnded()
    case .send:
      if pace == nil { loop.wheel.disarm(self) }
      connectUpstream(at: .now())
    case .handle(let call): handle(call)
    case .endTunnel(let tunnel): endInput(of: tunnel)
    case .withdraw: abortExchange(.byGateway)
    case .nothing: break
    }
  }

  func upstreamWritabilityChanged(_ writable: Bool) {
    guard exchange.isUnderWay else { return }
    let now = NIODeadline.now()
    exchange.holdBody(!writable, at: now)
    pauseBody(!writable)
    guard writable else { return }
    consumeAll()
    awaitBody(now)
  }
}
