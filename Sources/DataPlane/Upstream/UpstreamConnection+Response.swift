internal import HTTPWire
internal import NIOCore

/// The way of a response: its head, interim ones before it, its content, and its end.
extension UpstreamConnection {
  func readHead(_ buffer: inout ByteBuffer) {
    if var whole = partial {
      partial = nil
      whole.writeBuffer(&buffer)
      buffer = whole
    }
    while phase == .awaitingHead {
      switch pool.responseParser.parse(buffer.readableBytesSpan, into: &loop.responseHead) {
      case .incomplete:
        if buffer.readableBytes > 0 { partial = buffer }
        return
      case .violation(let violation):
        failWithoutHead(.badResponse(violation.rawValue))
        return
      case .complete:
        let count = loop.responseHead.byteCount
        if loop.responseHead.isInterim {
          guard passInterim(buffer) else { return }
        } else {
          passFinal(buffer)
        }
        buffer.moveReaderIndex(forwardBy: count)
      }
    }
    if phase == .tunnel {
      if buffer.readableBytes > 0 { client?.responseContent(buffer) }
    } else if phase == .content {
      readContent(&buffer)
    }
  }

  private func passInterim(_ buffer: ByteBuffer) -> Bool {
    interimResponses += 1
    guard interimResponses <= Self.interimLimit else {
      failWithoutHead(.badResponse("endless interim responses"))
      return false
    }
    client?.responseHead(loop.responseHead, buffer.readableBytesSpan, toCome: .none)
    return true
  }

  private func passFinal(_ buffer: ByteBuffer) {
    if loop.responseHead.status == 101 {
      guard upgradeWasAsked, loop.responseHead.fields.has(.upgrade) else {
        failWithoutHead(.badResponse("a switch of protocols that nobody asked for"))
        return
      }
      pool.succeeded()
      phase = .tunnel
      loop.wheel.disarm(self)
      client?.responseHead(loop.responseHead, buffer.readableBytesSpan, toCome: .untilClose)
      return
    }
    pool.succeeded()
    let framing = loop.responseHead.framing(toHead: answersHead)
    keepAlive = loop.responseHead.keepAlive && framing != .untilClose
    decoder = BodyDecoder(framing)
    phase = .content
    client?.responseHead(loop.responseHead, buffer.readableBytesSpan, toCome: framing)
    if framing != .none { loop.wheel.arm(self, after: timeouts.bodyProgress, now: loop.responseRead) }
  }

  func readContent(_ buffer: inout ByteBuffer) {
    while phase == .content {
      switch decoder.next(&buffer) {
      case .content(let count):
        guard let content = buffer.readSlice(length: count) else { return }
        client?.responseContent(content)
      case .incomplete:
        loop.wheel.arm(self, after: timeouts.bodyProgress, now: loop.responseRead)
        return
      case .end(let trailers):
        finish(trailers: trailers, surplus: buffer.readableBytes)
        return
      case .violation(let violation):
        fail(.badResponse(violation.rawValue))
        return
      }
    }
  }

  /// The response is whole. The connection goes back first, so that the client's next request finds it.
  private func finish(trailers: [UInt8], surplus: Int) {
    let client = client
    self.client = nil
    exchanges += 1
    exchangeEnded()
    holdReads(false)
    adopt(.usual)
    if keepAlive, requestIsComplete, !isLast, !isOccupied, surplus == 0, !pool.isClosed, hasSentAll {
      phase = .idle
      pool.release(self, now: loop.responseRead)
    } else {
      close()
    }
    client?.responseEnded(trailers: trailers)
  }
}
