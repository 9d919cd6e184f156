internal import CNghttp2

/// Submits responses, and follows what is written of them.
extension HTTP2ServerSession {
  /// Sends an interim response.
  package func inform(_ fields: inout HTTP2Fields, on stream: HTTP2InboundStream) {
    guard let pointer else { return }
    let result = fields.withNameValues { list, count in
      nghttp2_submit_headers(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, nil, list, count, nil)
    }
    guard result >= 0, !stream.isClosed else { return }
    stream.interimHeads.append(fields.memory)
    queuedHeads += fields.memory
  }

  /// Sends the head of a final response.
  /// - Parameter isWhole: whether no content follows.
  package func respond(_ fields: inout HTTP2Fields, on stream: HTTP2InboundStream, isWhole: Bool) {
    guard let pointer else { return }
    // Numbers and pointers only: objects would be retained for the closures.
    let id = stream.id
    let result = fields.withNameValues { list, count in
      Self.withProvider(isWhole ? nil : Self.readContent) { nghttp2_submit_response(pointer, id, list, count, $0) }
    }
    guard result == 0 else { return reset(stream, .internalError) }
    guard !stream.isClosed else { return }
    stream.finalHead = fields.memory
    queuedHeads += fields.memory
  }

  /// Consumes received bytes: the client may send as many again.
  package func consume(_ count: Int, on stream: HTTP2InboundStream) {
    let count = giveRoom(for: count, on: stream)
    guard count > 0 else { return }
    if !stream.isEndReceived {
      widenWindow(of: stream, by: count)
    } else if stream.untaken == 0 {
      giveGrowthBack(of: stream)
    }
    renewConnectionWindow()
  }

  /// Renews the client's window of the connection while others hold much of it: nghttp2 sends WINDOW_UPDATE only when
  /// half of the window was consumed, and no upload could go on if the others held the other half.
  func renewConnectionWindow() {
    guard untakenBytes > Int(policy.connectionWindow) / 8 else { return }
    announceRoom(ofAtLeast: Int(policy.connectionWindow) / 16)
  }

  /// Sends WINDOW_UPDATE for the connection if at least this many bytes were consumed since the last one.
  func announceRoom(ofAtLeast least: Int) {
    guard let pointer else { return }
    let consumed = Int(nghttp2_session_get_effective_recv_data_length(pointer)) - untakenBytes
    guard consumed >= least else { return }
    nghttp2_submit_window_update(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Int32(clamping: consumed))
  }

  /// Doubles the window of an upload when as much as a whole one was consumed and nothing waits, as far as others have
  /// not grown. A window is all that a client can send in one round trip; but all of it has to be held if the
  /// application stalls.
  private func widenWindow(of stream: HTTP2InboundStream, by count: Int) {
    stream.consumed += count
    let window = window(of: stream)
    let wider = min(2 * window, policy.widestStreamWindow)
    guard stream.consumed >= window, stream.untaken == 0, wider > window,
      windowGrowth + wider - window <= policy.windowGrowth
    else { return }
    stream.consumed = 0
    stream.widenedWindow = wider
    windowGrowth += wider - window
    nghttp2_session_set_local_window_size(
      pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, Int32(clamping: stream.widenedWindow))
  }

  /// The windows of others may grow in the place of that of an upload that was consumed whole, although its response
  /// may take hours, or is over.
  func giveGrowthBack(of stream: HTTP2InboundStream) {
    windowGrowth -= window(of: stream) - Int(policy.streamWindow)
    stream.widenedWindow = 0
  }

  /// Bytes that the client may send on a stream before any is consumed.
  func window(of stream: HTTP2InboundStream) -> Int {
    stream.widenedWindow == 0 ? Int(policy.streamWindow) : stream.widenedWindow
  }

  // MARK: For nghttp2

  private static var readContent: nghttp2_data_source_read_callback {
    return { _, id, _, length, flags, _, user in
      guard let user, let flags else { return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
      return HTTP2Callbacks.ask(user) { (session: HTTP2ServerSession) in
        session.nextContent(of: id, at: length, &flags.pointee)
      }
    }
  }

  private func nextContent(of id: Int32, at most: Int, _ flags: inout UInt32) -> Int {
    guard let stream = streams[id] else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
    return nextContent(of: stream, at: most, &flags)
  }

  func writeContent(of id: Int32, head: UnsafeRawBufferPointer, count: Int) -> Int32 {
    guard let stream = streams[id] else { return Int32(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
    if write(head: head, count: count, of: stream) {
      // Some clients send WINDOW_UPDATE for every few KiB that they take, twice: for the stream and for the connection.
      idleFrames.earn(2 + count / 512)
      stream.handler?.sentContent()
    }
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
      default: if !chargeResetBudget() { termination.demand(.enhanceYourCalm) }
      }
    case NGHTTP2_GOAWAY.rawValue: sentGoAway(frame.goaway.error_code)
    case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
      if frame.hd.type == UInt8(NGHTTP2_HEADERS.rawValue) { leftQueue(headOf: frame.hd.stream_id) }
      guard UInt32(frame.hd.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0,
        let stream = streams[frame.hd.stream_id]
      else { break }
      stream.isEndSent = true
      resets.earn(1)
      // The rest of the request is no longer needed (RFC 9113, 8.1).
      if !stream.isEndReceived {
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

  /// A frame could not be sent.
  func couldNotSend(_ frame: nghttp2_frame, _ error: Int32) -> Int32 {
    guard UInt32(frame.hd.type) == NGHTTP2_HEADERS.rawValue else { return 0 }
    leftQueue(headOf: frame.hd.stream_id)
    if let stream = streams[frame.hd.stream_id] { couldNotSend(headOf: stream, error) }
    return 0
  }
}
