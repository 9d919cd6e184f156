internal import HTTPWire
internal import NIOCore
internal import SocketTransport

/// Reads responses: interim ones, the final head, content, and the end.
extension UpstreamConnection {
  func readHead(_ buffer: inout ByteBuffer, for client: any UpstreamResponseReceiver) {
    if var whole = takePartial() {
      whole.writeBuffer(&buffer)
      buffer = whole
    }
    while case .awaitingHead(let awaited) = phase {
      guard Self.skipEmptyLines(&buffer) else { return keepPartial(buffer) }
      switch pool.responses.parser.parse(buffer.readableBytesSpan, into: &loop.responseHead) {
      case .incomplete:
        if buffer.readableBytes > 0 { keepPartial(buffer) }
        return
      case .violation(let violation):
        guard repair(&buffer, violation) else { return }
      case .complete:
        let count = loop.responseHead.byteCount
        if loop.responseHead.isInterim {
          guard passInterim(buffer, awaited, to: client) else { return }
        } else {
          passFinal(buffer, awaited, to: client)
        }
        buffer.moveReaderIndex(forwardBy: count)
      }
    }
    switch phase {
    case .tunnel: if buffer.readableBytes > 0 { client.responseContent(buffer) }
    case .content: readContent(&buffer, for: client)
    case .connecting, .idle, .awaitingHead, .readingHead, .closing, .closed: break
    }
  }

  /// Skips empty lines before a status line: some servers send one behind each body, beyond its length. On a kept
  /// connection it may arrive when the next request is under way.
  /// - Returns: false if a CR has come, and more has to.
  private static func skipEmptyLines(_ buffer: inout ByteBuffer) -> Bool {
    while let first = buffer.getInteger(at: buffer.readerIndex, as: UInt8.self), first == 0x0D {
      guard let second = buffer.getInteger(at: buffer.readerIndex + 1, as: UInt8.self) else { return false }
      // A lone CR is for the parser to refuse.
      guard second == 0x0A else { return true }
      buffer.moveReaderIndex(forwardBy: 2)
    }
    return true
  }

  private func takePartial() -> ByteBuffer? {
    guard case .readingHead(let awaited, let partial) = phase else { return nil }
    phase = .awaitingHead(awaited)
    return partial
  }

  private func keepPartial(_ buffer: ByteBuffer) {
    guard case .awaitingHead(let awaited) = phase else { return }
    phase = .readingHead(awaited, partial: buffer)
  }

  /// Repairs a malformed head, as far as the settings of the upstream allow.
  /// - Returns: whether it can be read again; otherwise the exchange has failed, or more has to come.
  private func repair(_ buffer: inout ByteBuffer, _ violation: HeadViolation) -> Bool {
    if !pool.responses.lenience.isEmpty {
      let limit = pool.responses.parser.limits.headBytes
      switch ResponseHeadRepair.repair(buffer.readableBytesSpan, pool.responses.lenience, limit: limit) {
      case .incomplete:
        keepPartial(buffer)
        return false
      case .head(let head, let count):
        // The same bytes would be refused again.
        guard !buffer.readableBytesView.prefix(count).elementsEqual(head) else { break }
        var whole = ByteBuffer(bytes: head)
        buffer.moveReaderIndex(forwardBy: count)
        whole.writeBuffer(&buffer)
        buffer = whole
        return true
      case .none: break
      }
    }
    let key = pool.responses.lenientKey(for: violation, buffer.readableBytesSpan)
    let remedy = key.map { "; if the application cannot be corrected: lenient = [\"\($0)\"]" }
    failWithoutHead(.badResponse(violation.rawValue + (remedy ?? "")))
    return false
  }

  private func passInterim(
    _ buffer: ByteBuffer, _ awaited: AwaitedHead, to client: any UpstreamResponseReceiver
  ) -> Bool {
    var awaited = awaited
    awaited.interimResponses += 1
    // Also of one whose framing was repaired.
    if !loop.responseHead.keepAlive { awaited.isLast = true }
    phase = .awaitingHead(awaited)
    guard awaited.interimResponses <= Self.interimLimit else {
      failWithoutHead(.badResponse("endless interim responses"))
      return false
    }
    // 102 says that a long answer is under way (RFC 2518, 10.1).
    if awaited.requestIsComplete { loop.wheel.arm(self, after: timeouts.firstByte, now: loop.responseRead) }
    if awaited.interimResponses <= Self.passedInterimResponses {
      client.responseHead(loop.responseHead, buffer.readableBytesSpan, framing: .none)
    }
    return true
  }

  private func passFinal(_ buffer: ByteBuffer, _ awaited: AwaitedHead, to client: any UpstreamResponseReceiver) {
    if loop.responseHead.status == 101 {
      guard awaited.upgrades, loop.responseHead.fields.has(.upgrade) else {
        failWithoutHead(.badResponse("a switch of protocols that nobody asked for"))
        return
      }
      pool.answered(isHTTP11: loop.responseHead.isHTTP11)
      move(to: .tunnel)
      awaitTunnel(now: loop.responseRead)
      client.responseHead(loop.responseHead, buffer.readableBytesSpan, framing: .untilClose)
      return
    }
    let framing = loop.responseHead.framing(toHead: awaited.toHead)
    decoder = BodyDecoder(framing, limits: Self.chunkLimits)
    // Before anything was sent to the client: then it gets a 502.
    if framing.isChunked || codec.isFailing, let failure = failure(behindHead: buffer) {
      failWithoutHead(failure)
      return
    }
    pool.answered(isHTTP11: loop.responseHead.isHTTP11)
    let keepAlive =
      !awaited.isLast && loop.responseHead.keepAlive && !framing.isUntilClose
      && !loop.responseHead.announcesStrayChunks
    move(to: .content(keepAlive: keepAlive, requestIsComplete: awaited.requestIsComplete))
    client.responseHead(loop.responseHead, buffer.readableBytesSpan, framing: framing)
    // The client may have refused the response, and so closed the connection.
    if phase.isContent, !framing.isNone {
      loop.wheel.arm(self, after: timeouts.bodyProgress, now: loop.responseRead)
    }
  }

  private static let chunkLimits = ChunkLimits(applicationHeads: LoopResources.responseHeads)

  /// The failure that arrived together with the head, if any: a violation in its chunks, or the end of its stream
  /// before that of the response.
  private func failure(behindHead buffer: ByteBuffer) -> UpstreamFailure? {
    var (ahead, trial) = (buffer, decoder)
    ahead.moveReaderIndex(forwardBy: loop.responseHead.byteCount)
    while true {
      switch trial.next(&ahead) {
      case .content(let count): ahead.moveReaderIndex(forwardBy: count)
      case .incomplete: return codec.failure
      case .end: return nil
      case .violation(let violation): return .badResponse(violation.rawValue)
      }
    }
  }

  func readContent(_ buffer: inout ByteBuffer, for client: any UpstreamResponseReceiver) {
    while case .content(let keepAlive, let requestIsComplete) = phase {
      switch decoder.next(&buffer) {
      case .content(let count):
        guard let content = buffer.readSlice(length: count) else { return }
        client.responseContent(content)
      case .incomplete:
        loop.wheel.arm(self, after: timeouts.bodyProgress, now: loop.responseRead)
        return
      case .end(let trailers):
        finish(client, trailers: trailers, surplus: buffer.readableBytes, keepAlive: keepAlive && requestIsComplete)
        return
      case .violation(let violation):
        fail(.badResponse(violation.rawValue))
        return
      }
    }
  }

  /// The response is whole. The connection goes back first, so that the client's next request finds it.
  private func finish(
    _ client: any UpstreamResponseReceiver, trailers: [UInt8], surplus: Int, keepAlive: Bool
  ) {
    self.client = nil
    exchanges += 1
    holdReads(false)
    apply(.usual)
    if keepAlive, codec.isReady, surplus == 0, !pool.isClosed, hasSentAll() {
      move(to: .idle)
      pool.release(self, now: loop.responseRead)
    } else {
      close()
    }
    client.responseEnded(trailers: trailers)
  }
}
