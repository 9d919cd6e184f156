internal import CNghttp2
package import NIOCore

/// The client's side of an HTTP/2 connection: sends requests, and receives responses.
package final class HTTP2ClientSession: HTTP2Session {
  var streams = HTTP2Streams<HTTP2OutboundStream>()

  /// The server may send as much before it is taken as the policy allows.
  package init(_ policy: HTTP2Policy, now: NIODeadline) {
    super.init(policy, isServer: false, now: now)
    submitSettings([
      (NGHTTP2_SETTINGS_ENABLE_PUSH, 0),
      (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 0),
      (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, policy.streamWindow),
      (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(policy.heads.headBytes)),
    ])
    widenConnectionWindow()
  }

  /// Whether another request can be sent: the server has not sent GOAWAY, and allows streams.
  package var takesRequests: Bool {
    guard let pointer else { return false }
    return nghttp2_session_check_request_allowed(pointer) != 0
      && nghttp2_session_get_remote_settings(pointer, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS) > 0
  }

  /// Begins a request.
  /// - Parameter isWhole: whether no content follows.
  /// - Returns: nil if the session accepts no more streams, or is closed.
  package func request(
    _ fields: inout HTTP2Fields, isWhole: Bool, handler: any HTTP2StreamHandler
  ) -> HTTP2OutboundStream? {
    guard let pointer else { return nil }
    let id = fields.withNameValues { list, count in
      Self.withProvider(isWhole ? nil : Self.readContent) { nghttp2_submit_request(pointer, nil, list, count, $0, nil) }
    }
    guard id > 0 else { return nil }
    let stream = HTTP2OutboundStream(id: id)
    stream.handler = handler
    streams.insert(stream)
    return stream
  }

  /// Consumes received bytes: the server may send as many again.
  package func consume(_ count: Int, on stream: HTTP2OutboundStream) { _ = giveRoom(for: count, on: stream) }

  /// Resets a stream for a violation of the server.
  private func reset(_ stream: HTTP2OutboundStream, violating rule: String) {
    stream.violation = rule
    reset(stream, .protocolError)
  }

  override func closeStreams() {
    for stream in streams.removeAll() {
      stream.isClosed = true
      stream.handler.take()?.closed(HTTP2ErrorCode.cancel.rawValue)
    }
  }

  // MARK: Receiving, for nghttp2

  // Each callback returns 0, or an error that ends the session.

  /// A frame has begun.
  func began(_ frame: nghttp2_frame_hd) -> Int32 {
    switch UInt32(frame.type) {
    case NGHTTP2_DATA.rawValue, NGHTTP2_HEADERS.rawValue: streams[frame.stream_id]?.answerBegan()
    // nghttp2 passes over what it says, also where it must not be (RFC 9113, 6.3).
    case NGHTTP2_PRIORITY.rawValue where frame.stream_id == 0: return breaksProtocol()
    default: break
    }
    return 0
  }

  /// A field section has begun.
  func beganSection(_ frame: nghttp2_frame) -> Int32 {
    let stream = streams[frame.hd.stream_id]
    if let stream, stream.hasHead {
      assembly.beginTrailers()
    } else {
      if let stream, stream.interimBytes > policy.interimBytes {
        stream.violation = "interim responses too large"
        return enhanceYourCalm()
      }
      assembly.reset()
    }
    return 0
  }

  func receivedContent(of id: Int32, _ bytes: UnsafeRawBufferPointer) -> Int32 {
    guard let stream = streams[id] else { return 0 }
    stream.untaken += bytes.count
    untakenBytes += bytes.count
    guard !stream.isReset else { return 0 }
    guard stream.takeAnnounced(bytes.count) else {
      reset(stream, violating: "more content than announced (RFC 9113, 8.1.1)")
      return 0
    }
    guard let content = slice(bytes) else { return HTTP2Callbacks.failure }
    if let handler = stream.handler { handler.received(content: content) } else { consume(bytes.count, on: stream) }
    return 0
  }

  /// A valid frame is complete.
  func received(_ frame: nghttp2_frame) -> Int32 {
    let isEnd = UInt32(frame.hd.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
    switch UInt32(frame.hd.type) {
    case NGHTTP2_HEADERS.rawValue:
      if let stream = streams[frame.hd.stream_id] { receivedSection(on: stream, isEnd: isEnd) }
    case NGHTTP2_DATA.rawValue:
      if isEnd, let stream = streams[frame.hd.stream_id] { receivedEnd(of: stream, trailers: []) }
    default: break
    }
    return 0
  }

  private func receivedSection(on stream: HTTP2OutboundStream, isEnd: Bool) {
    guard !stream.isReset else { return }
    guard stream.hasHead else { return receivedResponse(on: stream, isEnd: isEnd) }
    // Trailers that do not end the stream are malformed (RFC 9113, 8.1).
    guard isEnd else { return reset(stream, violating: "trailers that do not end the stream") }
    guard let trailers = assembly.finishTrailers(policy) else {
      return reset(stream, violating: assembly.problem ?? "trailers too large")
    }
    receivedEnd(of: stream, trailers: trailers)
  }

  private func receivedResponse(on stream: HTTP2OutboundStream, isEnd: Bool) {
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

  private func receivedEnd(of stream: HTTP2OutboundStream, trailers: [UInt8]) {
    guard !stream.isReset else { return }
    guard !stream.lacksContent else {
      return reset(stream, violating: "less content than announced (RFC 9113, 8.1.1)")
    }
    stream.incoming = .ended
    stream.handler?.receivedEnd(trailers: trailers)
  }

  /// A frame breaks the protocol, and nghttp2 resets its stream or ends the connection for it.
  func receivedInvalid(_ frame: nghttp2_frame) -> Int32 {
    if let stream = streams[frame.hd.stream_id], stream.violation == nil { stream.violation = "malformed message" }
    return 0
  }

  func closedStream(_ id: Int32, _ code: UInt32) -> Int32 {
    guard let stream = streams.remove(id) else { return 0 }
    retire(stream)
    stream.handler.take()?.closed(code)
    return 0
  }

  // MARK: Sending, for nghttp2

  private static var readContent: nghttp2_data_source_read_callback {
    return { _, id, _, length, flags, _, user in
      guard let user, let flags else { return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
      return HTTP2Callbacks.ask(user) { (session: HTTP2ClientSession) in
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
    if write(head: head, count: count, of: stream) { stream.handler?.sentContent() }
    return 0
  }

  /// A frame was written.
  func sent(_ frame: nghttp2_frame) -> Int32 {
    switch UInt32(frame.hd.type) {
    case NGHTTP2_GOAWAY.rawValue: sentGoAway(frame.goaway.error_code)
    case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
      let isEnd = UInt32(frame.hd.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
      if isEnd, let stream = streams[frame.hd.stream_id] { stream.isEndSent = true }
    default: break
    }
    return 0
  }

  /// A frame could not be sent.
  func couldNotSend(_ frame: nghttp2_frame, _ error: Int32) -> Int32 {
    guard UInt32(frame.hd.type) == NGHTTP2_HEADERS.rawValue else { return 0 }
    if let stream = streams[frame.hd.stream_id] { couldNotSend(headOf: stream, error) }
    return 0
  }
}
