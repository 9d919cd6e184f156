internal import CNghttp2
internal import NIOCore

/// The receiving callbacks of nghttp2. Each returns 0, or an error that ends the session.
extension HTTP2Session {
  private static let failure = Int32(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)

  /// A frame has begun. Frames without content are charged to the flood budget.
  func began(_ frame: nghttp2_frame_hd) -> Int32 {
    hasMeaning = true
    guard isServer else { return beganAnswer(frame) }
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

  /// A frame of the application's has begun.
  private func beganAnswer(_ frame: nghttp2_frame_hd) -> Int32 {
    switch UInt32(frame.type) {
    case NGHTTP2_DATA.rawValue, NGHTTP2_HEADERS.rawValue: streams[frame.stream_id]?.answerBegan()
    // nghttp2 passes over what it says, also where it must not be (RFC 9113, 6.3).
    case NGHTTP2_PRIORITY.rawValue where frame.stream_id == 0: return breaksProtocol()
    default: break
    }
    return 0
  }

  /// Ends a connection that breaks the protocol.
  private func breaksProtocol() -> Int32 {
    termination.demand(.protocolError)
    return Self.failure
  }

  /// Ends a connection that costs too much.
  private func enhanceYourCalm() -> Int32 {
    termination.demand(.enhanceYourCalm)
    return Self.failure
  }

  /// A field section has begun.
  func beganSection(_ frame: nghttp2_frame) -> Int32 {
    let id = frame.hd.stream_id
    sectionOf = id
    if isServer, frame.headers.cat == NGHTTP2_HCAT_REQUEST {
      streams.insert(spare.begin(id))
      assembly.reset()
      idleFrames.earn(3)
    } else if let stream = streams[id], stream.hasHead {
      assembly.beginTrailers()
      if !isAnswered(stream) { idleFrames.earn(1) }
    } else {
      if let stream = streams[id], stream.interimBytes > policy.interimBytes {
        stream.violation = "interim responses too large"
        return enhanceYourCalm()
      }
      assembly.reset()
    }
    return 0
  }

  func receivedField(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Int32 {
    hasMeaning = true
    assembly.append(name, value)
    guard assembly.byteCount <= policy.sectionBytes, assembly.fieldCount <= policy.sectionFields else {
      return enhanceYourCalm()
    }
    return 0
  }

  /// Refuses a malformed field, which nghttp2 would drop.
  func receivedInvalidField() -> Int32 {
    assembly.refuse("a malformed field")
    return 0
  }

  func receivedContent(of id: Int32, _ bytes: UnsafeRawBufferPointer) -> Int32 {
    guard let pointer, let stream = streams[id], let start = bytes.baseAddress, let inputStart else { return 0 }
    hasMeaning = true
    // Some clients see the response only when they have sent all.
    guard !isAnswered(stream) else {
      nghttp2_session_consume(pointer, id, bytes.count)
      stream.handler?.discardedContent()
      return 0
    }
    stream.untaken += bytes.count
    untakenBytes += bytes.count
    idleFrames.earn(2)
    guard !stream.isReset else { return 0 }
    if case .content(let toCome?) = stream.incoming {
      guard bytes.count <= toCome else {
        reset(stream, violating: "more content than announced (RFC 9113, 8.1.1)")
        return 0
      }
      stream.incoming = .content(toCome: toCome - bytes.count)
    }
    // The bytes are in the buffer being read: a slice is enough, no copy.
    let offset = inputStart.distance(to: start)
    guard let content = input.getSlice(at: input.readerIndex + offset, length: bytes.count) else { return Self.failure }
    if let handler = stream.handler { handler.received(content: content) } else { consume(bytes.count, on: stream) }
    return 0
  }

  /// Whether the response to a request was sent whole, so that no more of the request is wanted.
  private func isAnswered(_ stream: HTTP2Stream) -> Bool { isServer && stream.isEndSent }

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

  private func receivedSection(on stream: HTTP2Stream, isEnd: Bool) {
    guard !stream.isReset else { return }
    guard !isAnswered(stream) else {
      if isEnd { receivedEnd(of: stream, trailers: []) }
      return
    }
    if stream.hasHead {
      // Trailers that do not end the stream are malformed (RFC 9113, 8.1).
      guard isEnd else { return reset(stream, violating: "trailers that do not end the stream") }
      guard let trailers = assembly.finishTrailers(policy) else {
        return reset(stream, violating: assembly.problem ?? "trailers too large")
      }
      receivedEnd(of: stream, trailers: trailers)
    } else if isServer {
      receivedRequest(on: stream, isEnd: isEnd)
    } else {
      receivedResponse(on: stream, isEnd: isEnd)
    }
  }

  private func receivedRequest(on stream: HTTP2Stream, isEnd: Bool) {
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

  private func prioritize(_ stream: HTTP2Stream, _ priority: HTTP2Priority) {
    guard let pointer else { return }
    var said = nghttp2_extpri(urgency: UInt32(priority.urgency), inc: priority.isIncremental ? 1 : 0)
    nghttp2_session_change_extpri_stream_priority(pointer, stream.id, &said, 0)
  }

  /// A malformed request (RFC 9113, 8.1.1) that was not reported yet.
  private func refuse(_ stream: HTTP2Stream, _ reason: String) {
    reset(stream, .protocolError)
    handler?.receivedMalformed(reason)
  }

  private func receivedResponse(on stream: HTTP2Stream, isEnd: Bool) {
    let isInterim = assembly.isInterim
    let hasBody = !isInterim && !isEnd && !stream.answersHead
    switch assembly.finishResponse(hasBody: hasBody, requiresLength: !isInterim && !stream.answersHead) {
    case .head: break
    case .malformed(let reason), .refused(_, let reason): return reset(stream, violating: reason)
    }
    if isInterim {
      stream.interimBytes += assembly.byteCount
      stream.handler?.received(interim: RawSpan(_unsafeBytes: assembly.text.bytes))
      if isEnd { receivedEnd(of: stream, trailers: []) }
      return
    }
    stream.incoming = .content(toCome: nil)
    stream.handler?.received(
      head: ByteBuffer(bytes: assembly.text.bytes), isChunked: hasBody && !assembly.announcesLength)
    if isEnd { receivedEnd(of: stream, trailers: []) }
  }

  private func receivedEnd(of stream: HTTP2Stream, trailers: [UInt8]) {
    guard !stream.isReset else { return }
    if case .content(let toCome?) = stream.incoming, toCome > 0, !isAnswered(stream) {
      return reset(stream, violating: "less content than announced (RFC 9113, 8.1.1)")
    }
    stream.incoming = .ended
    if isServer { begun.end(stream.id) }
    if !isAnswered(stream) { stream.handler?.receivedEnd(trailers: trailers) }
  }

  /// A frame breaks the protocol, and nghttp2 resets its stream or ends the connection for it.
  func receivedInvalid(_ frame: nghttp2_frame) -> Int32 {
    guard isServer else {
      if let stream = streams[frame.hd.stream_id], stream.violation == nil { stream.violation = "malformed message" }
      return 0
    }
    guard UInt32(frame.hd.type) == NGHTTP2_HEADERS.rawValue else { return 0 }
    sectionOf = 0
    if streams[frame.hd.stream_id]?.handler == nil { handler?.receivedMalformed("a malformed message") }
    return 0
  }

  /// A frame was written.
  func sent(_ frame: nghttp2_frame) -> Int32 {
    switch UInt32(frame.hd.type) {
    case NGHTTP2_RST_STREAM.rawValue:
      // A reset that we send without a violation of the peer costs it nothing, nor does a request that came before the
      // client knew how many may be open (RFC 9113, 5.1.2): it was not looked at.
      switch HTTP2ErrorCode(rawValue: frame.rst_stream.error_code) {
      case .noError, .cancel, .internalError, .refusedStream: break
      default: if isServer, !chargeResetBudget() { termination.demand(.enhanceYourCalm) }
      }
    case NGHTTP2_GOAWAY.rawValue:
      // nghttp2 ends the connection of a peer that breaks the protocol of its own accord.
      guard frame.goaway.error_code != HTTP2ErrorCode.noError.rawValue else { break }
      termination.demand(HTTP2ErrorCode(rawValue: frame.goaway.error_code) ?? .protocolError)
    case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
      if isServer, frame.hd.type == UInt8(NGHTTP2_HEADERS.rawValue) { leftQueue(headOf: frame.hd.stream_id) }
      guard UInt32(frame.hd.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0,
        let stream = streams[frame.hd.stream_id]
      else { break }
      stream.isEndSent = true
      resets.earn(1)
      // The rest of the request is no longer needed (RFC 9113, 8.1).
      if isServer, !stream.isEndReceived {
        consume(stream.untaken, on: stream)
        stream.handler?.sentEnd()
      }
    default: break
    }
    return 0
  }

  /// The first head that waits on a stream does so no longer. Trailers were never counted.
  private func leftQueue(headOf id: Int32) {
    guard let stream = streams[id] else {
      guard let first = orphanedHeads[id]?.first else { return }
      queuedHeads -= first
      orphanedHeads[id]?.removeFirst()
      if orphanedHeads[id]?.isEmpty == true { orphanedHeads[id] = nil }
      return
    }
    if !stream.interimHeads.isEmpty {
      queuedHeads -= stream.interimHeads.removeFirst()
    } else {
      queuedHeads -= stream.finalHead
      stream.finalHead = 0
    }
  }

  /// A frame could not be sent. The stream of a head is reset, so that it does not wait for ever.
  func couldNotSend(_ frame: nghttp2_frame, _ error: Int32) -> Int32 {
    guard UInt32(frame.hd.type) == NGHTTP2_HEADERS.rawValue else { return 0 }
    leftQueue(headOf: frame.hd.stream_id)
    guard let stream = streams[frame.hd.stream_id], !stream.isReset else { return 0 }
    switch error {
    case Int32(NGHTTP2_ERR_STREAM_CLOSED.rawValue), Int32(NGHTTP2_ERR_STREAM_CLOSING.rawValue): return 0
    default:
      reset(stream, .internalError)
      return 0
    }
  }

  /// Gives content of a closed stream that nobody will take back to the connection's window.
  private func giveBack(_ stream: HTTP2Stream) {
    guard let pointer, stream.untaken > 0 else { return }
    untakenBytes -= stream.untaken
    nghttp2_session_consume_connection(pointer, stream.untaken)
    stream.untaken = 0
  }

  func closedStream(_ id: Int32, _ code: UInt32) -> Int32 {
    if sectionOf == id { sectionOf = 0 }
    guard let stream = streams.remove(id) else { return 0 }
    stream.isClosed = true
    pardon(stream)
    giveBack(stream)
    queuedBytes -= stream.queuedBytes
    if stream.hasQueuedHeads { orphanedHeads[id] = stream.interimHeads + [stream.finalHead].filter { $0 > 0 } }
    stream.queue.removeAll()
    guard let handler = stream.handler.take() else { return 0 }
    handler.closed(code)
    if isServer { spare.keep(consume stream, servedBy: consume handler) }
    return 0
  }
}
