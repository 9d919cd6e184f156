internal import CNghttp2

/// The receiving callbacks of a server. Each returns 0, or an error that ends the session.
extension HTTP2ServerSession {
  /// A frame has begun. Frames without content are charged to the flood budget.
  func began(_ frame: nghttp2_frame_hd) -> Int32 {
    hasMeaning = true
    let isExemptFromFloodBudget: Bool
    switch UInt32(frame.type) {
    // Padding alone is not content.
    case NGHTTP2_DATA.rawValue:
      isExemptFromFloodBudget = frame.length > 0 && frame.flags & UInt8(NGHTTP2_FLAG_PADDED.rawValue) == 0
    // nghttp2 passes over what it says, also where it must not be (RFC 9113, 6.3).
    case NGHTTP2_PRIORITY.rawValue where frame.stream_id == 0:
      return breaksProtocol()
    case NGHTTP2_HEADERS.rawValue:
      guard followsIdentifiers(frame) else { return breaksProtocol() }
      isExemptFromFloodBudget = false
    // Ending a tunnel is no way to make us work: the application has agreed to each. Nor is the end of an upload that
    // was answered.
    case NGHTTP2_RST_STREAM.rawValue where streams[frame.stream_id].map({ $0.isTunnel || $0.isEndSent }) == true:
      return 0
    case NGHTTP2_RST_STREAM.rawValue: return chargeResetBudget() ? 0 : enhanceYourCalm()
    // A head that begins a request, or ends one, is paid back in `beganSection`; one for a stream that is over is not.
    default: isExemptFromFloodBudget = false
    }
    return !isExemptFromFloodBudget && !idleFrames.spend(now) ? enhanceYourCalm() : 0
  }

  /// Whether HEADERS may come on this stream: one that is new, open, or over before its client had said its end, so
  /// that trailers may have been on their way. Any other below the newest identifier is closed (RFC 9113, 5.1.1).
  private func followsIdentifiers(_ frame: nghttp2_frame_hd) -> Bool {
    let ends = UInt32(frame.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
    if begun.begin(frame.stream_id, isWhole: ends) || streams[frame.stream_id] != nil { return true }
    return begun.allowsSection(of: frame.stream_id, isLast: ends)
  }

  /// A field section has begun.
  func beganSection(_ frame: nghttp2_frame) -> Int32 {
    let id = frame.hd.stream_id
    sectionOf = id
    if frame.headers.cat == NGHTTP2_HCAT_REQUEST {
      streams.insert(spare.begin(id))
      assembly.reset()
      idleFrames.earn(3)
    } else if let stream = streams[id], stream.hasHead {
      assembly.beginTrailers()
      if !stream.isAnswered { idleFrames.earn(1) }
    } else {
      assembly.reset()
    }
    return 0
  }

  func receivedContent(of id: Int32, _ bytes: UnsafeRawBufferPointer) -> Int32 {
    guard let pointer, let stream = streams[id] else { return 0 }
    hasMeaning = true
    // Some clients see the response only when they have sent all.
    guard !stream.isAnswered else {
      _ = stream.takeAnnounced(bytes.count)
      nghttp2_session_consume(pointer, id, bytes.count)
      renewConnectionWindow()
      stream.handler?.discardedContent()
      return 0
    }
    stream.untaken += bytes.count
    untakenBytes += bytes.count
    idleFrames.earn(2)
    guard !stream.isReset else { return 0 }
    // More content than was announced (RFC 9113, 8.1.1).
    guard stream.takeAnnounced(bytes.count) else {
      reset(stream, .protocolError)
      return 0
    }
    guard let content = slice(bytes) else { return HTTP2Callbacks.failure }
    if let handler = stream.handler { handler.received(content: content) } else { consume(bytes.count, on: stream) }
    // No WINDOW_UPDATE may have been sent for what was consumed before others held so much.
    renewConnectionWindow()
    return 0
  }

  /// A valid frame is complete.
  func received(_ frame: nghttp2_frame) -> Int32 {
    let flags = UInt32(frame.hd.flags)
    let isEnd = flags & NGHTTP2_FLAG_END_STREAM.rawValue != 0
    switch UInt32(frame.hd.type) {
    case NGHTTP2_HEADERS.rawValue:
      sectionOf = 0
      if let stream = streams[frame.hd.stream_id] { receivedSection(on: stream, isEnd: isEnd) }
    case NGHTTP2_DATA.rawValue:
      if isEnd, let stream = streams[frame.hd.stream_id] { receivedEnd(of: stream, trailers: []) }
    case NGHTTP2_PING.rawValue:
      if flags & NGHTTP2_FLAG_ACK.rawValue != 0 { handler?.receivedPong() }
    default: break
    }
    return 0
  }

  private func receivedSection(on stream: HTTP2InboundStream, isEnd: Bool) {
    guard !stream.isReset else { return }
    guard !stream.isAnswered else {
      if isEnd { receivedEnd(of: stream, trailers: []) }
      return
    }
    guard stream.hasHead else { return receivedRequest(on: stream, isEnd: isEnd) }
    // Trailers that do not end the stream are malformed (RFC 9113, 8.1).
    guard isEnd, let trailers = assembly.finishTrailers(policy) else { return reset(stream, .protocolError) }
    receivedEnd(of: stream, trailers: trailers)
  }

  private func receivedRequest(on stream: HTTP2InboundStream, isEnd: Bool) {
    stream.incoming = isEnd ? .ended : .content(toCome: nil)
    switch assembly.finishRequest(isWhole: isEnd) {
    case .head:
      if !isEnd {
        stream.incoming = .content(toCome: assembly.announcedLength)
      } else if assembly.announcedLength ?? 0 > 0 {
        return refuse(stream, "an announced length and no content")
      }
      // Clients that ask for no order share the connection: a page does not wait for a download that began before it.
      prioritize(stream, assembly.priority ?? HTTP2Priority(isIncremental: true))
      // It does not grow meanwhile: that takes another field, and the session is not fed from within a callback.
      let head = RawSpan(_unsafeBytes: assembly.text.bytes)
      stream.handler = handler?.received(request: head, on: stream, isWhole: isEnd)
    case .refused(let status, let reason):
      let head = RawSpan(_unsafeBytes: assembly.text.bytes)
      stream.handler = handler?.received(refusableOn: stream, head: head, status: status, reason: reason)
    case .malformed(let reason): refuse(stream, reason)
    }
  }

  private func prioritize(_ stream: HTTP2InboundStream, _ priority: HTTP2Priority) {
    guard let pointer else { return }
    var said = nghttp2_extpri(urgency: UInt32(priority.urgency), inc: priority.isIncremental ? 1 : 0)
    nghttp2_session_change_extpri_stream_priority(pointer, stream.id, &said, 0)
  }

  /// A malformed request (RFC 9113, 8.1.1) that was not reported yet.
  private func refuse(_ stream: HTTP2InboundStream, _ reason: String) {
    reset(stream, .protocolError)
    handler?.receivedMalformed(reason)
  }

  private func receivedEnd(of stream: HTTP2InboundStream, trailers: [UInt8]) {
    guard !stream.isReset else { return }
    // Less content than was announced (RFC 9113, 8.1.1).
    guard !stream.lacksContent || stream.isAnswered else { return reset(stream, .protocolError) }
    // curl ends an upload that was answered early, and does not see that the stream is closed before another frame
    // comes. A stream that has ended whole must not be reset.
    if stream.lacksContent, let pointer {
      nghttp2_submit_rst_stream(
        pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, HTTP2ErrorCode.noError.rawValue)
    } else if stream.isAnswered {
      announceRoom(ofAtLeast: 1)
    }
    stream.incoming = .ended
    begun.end(stream.id)
    if stream.untaken == 0 { giveGrowthBack(of: stream) }
    if !stream.isAnswered { stream.handler?.receivedEnd(trailers: trailers) }
  }

  /// A frame breaks the protocol, and nghttp2 resets its stream or ends the connection for it.
  func receivedInvalid(_ frame: nghttp2_frame) -> Int32 {
    guard UInt32(frame.hd.type) == NGHTTP2_HEADERS.rawValue else { return 0 }
    sectionOf = 0
    if streams[frame.hd.stream_id]?.handler == nil { handler?.receivedMalformed("a malformed message") }
    return 0
  }

  func closedStream(_ id: Int32, _ code: UInt32) -> Int32 {
    if sectionOf == id { sectionOf = 0 }
    guard let stream = streams.remove(id) else { return 0 }
    retire(stream)
    renewConnectionWindow()
    pardon(stream)
    giveGrowthBack(of: stream)
    if stream.hasQueuedHeads { orphanedHeads[id] = stream.interimHeads + [stream.finalHead].filter { $0 > 0 } }
    guard let handler = stream.handler.take() else { return 0 }
    handler.closed(code)
    spare.keep(consume stream, servedBy: consume handler)
    return 0
  }
}
