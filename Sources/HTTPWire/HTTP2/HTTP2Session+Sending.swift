internal import CNghttp2
package import NIOCore

/// Submits messages, and turns them into frames.
extension HTTP2Session {
  /// Begins a request, at the client's side.
  /// - Parameter isWhole: whether no content follows.
  /// - Returns: nil if the session accepts no more streams, or is closed.
  package func request(
    _ fields: inout HTTP2Fields, isWhole: Bool, handler: any HTTP2StreamHandler
  ) -> HTTP2Stream? {
    guard let pointer else { return nil }
    let id = fields.withNameValues { list, count in
      Self.withProvider(!isWhole) { nghttp2_submit_request(pointer, nil, list, count, $0, nil) }
    }
    guard id > 0 else { return nil }
    let stream = HTTP2Stream(id: id)
    stream.handler = handler
    streams.insert(stream)
    return stream
  }

  /// Sends an interim response.
  package func inform(_ fields: inout HTTP2Fields, on stream: HTTP2Stream) {
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
  package func respond(_ fields: inout HTTP2Fields, on stream: HTTP2Stream, isWhole: Bool) {
    guard let pointer else { return }
    // Numbers and pointers only: objects would be retained for the closures.
    let id = stream.id
    let result = fields.withNameValues { list, count in
      Self.withProvider(!isWhole) { nghttp2_submit_response(pointer, id, list, count, $0) }
    }
    guard result == 0 else { return reset(stream, .internalError) }
    guard !stream.isClosed else { return }
    stream.finalHead = fields.memory
    queuedHeads += fields.memory
  }

  /// Queues content. It is not copied: see ``HTTP2Stream/detachQueue()``.
  package func send(_ content: consuming ByteBuffer, on stream: HTTP2Stream) {
    guard stream.outgoing != .ended, content.readableBytes > 0 else { return }
    queuedBytes += content.readableBytes
    stream.queue.append(content)
    if stream.outgoing.proceed(to: .open) { resume(stream) }
  }

  /// Ends the content.
  /// - Parameter trailers: field lines, each ended by CR LF, already chosen; empty for none.
  package func end(_ stream: HTTP2Stream, trailers: [UInt8]) {
    guard stream.outgoing != .ended else { return }
    if !trailers.isEmpty { stream.trailers = trailers }
    if stream.outgoing.proceed(to: .ended) { resume(stream) }
  }

  /// Resets a stream. Queued content is not sent, and received content is not reported: nghttp2 continues a DATA frame
  /// that has begun, however long it is.
  package func reset(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
    stream.isReset = true
    guard let pointer else { return }
    nghttp2_submit_rst_stream(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, code.rawValue)
  }

  /// Resets a stream for a violation of the peer.
  func reset(_ stream: HTTP2Stream, violating rule: String) {
    if !isServer { stream.violation = rule }
    reset(stream, .protocolError)
  }

  /// Consumes received bytes: the peer may send as many again.
  package func consume(_ count: Int, on stream: HTTP2Stream) {
    let count = min(count, stream.untaken)
    guard count > 0, let pointer else { return }
    stream.untaken -= count
    untakenBytes -= count
    nghttp2_session_consume(pointer, stream.id, count)
    if isServer { widenWindow(of: stream, by: count) }
  }

  /// Doubles the window of an upload when as much as a whole one was consumed and nothing waits. A window is all that a
  /// client can send in one round trip; but all of it has to be held if the application stalls.
  private func widenWindow(of stream: HTTP2Stream, by count: Int) {
    stream.consumed += count
    let window = window(of: stream)
    guard stream.consumed >= window, stream.untaken == 0, window < policy.widestStreamWindow, !stream.isEndReceived
    else { return }
    stream.consumed = 0
    stream.widenedWindow = min(2 * window, policy.widestStreamWindow)
    nghttp2_session_set_local_window_size(
      pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, Int32(clamping: stream.widenedWindow))
  }

  /// Bytes that the peer may send on a stream before any is consumed.
  func window(of stream: HTTP2Stream) -> Int {
    stream.widenedWindow == 0 ? Int(policy.streamWindow) : stream.widenedWindow
  }

  private func resume(_ stream: HTTP2Stream) {
    guard let pointer else { return }
    nghttp2_session_resume_data(pointer, stream.id)
  }

  private static func withProvider<Result>(
    _ isWanted: Bool, _ body: (UnsafePointer<nghttp2_data_provider>?) -> Result
  ) -> Result {
    guard isWanted else { return body(nil) }
    var provider = nghttp2_data_provider()
    provider.read_callback = { _, id, _, length, flags, _, user in
      guard let user, let flags else { return ssize_t(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
      return HTTP2Callbacks.ask(user) { $0.nextContent(of: id, at: length, &flags.pointee) }
    }
    return body(&provider)
  }

  // MARK: For nghttp2

  /// The bytes of content for the next frame; ``writeContent(of:head:count:)`` writes them.
  private func nextContent(of id: Int32, at most: Int, _ flags: inout UInt32) -> Int {
    guard let stream = streams[id] else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
    let queued = stream.queuedBytes
    guard queued > 0 || stream.outgoing == .ended else {
      stream.outgoing = .starved
      return Int(NGHTTP2_ERR_DEFERRED.rawValue)
    }
    let count = min(queued, most)
    flags |= UInt32(NGHTTP2_DATA_FLAG_NO_COPY.rawValue)
    if count == queued, stream.outgoing == .ended {
      flags |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue)
      if !stream.trailers.isEmpty, submitTrailers(stream.trailers, on: stream) {
        flags |= UInt32(NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue)
      }
    }
    return count
  }

  private func submitTrailers(_ lines: [UInt8], on stream: HTTP2Stream) -> Bool {
    var fields = HTTP2Fields()
    fields.append(lines: lines)
    guard let pointer, fields.count > 0 else { return false }
    return fields.withNameValues { list, count in nghttp2_submit_trailer(pointer, stream.id, list, count) } == 0
  }

  /// Writes a DATA frame straight into the output: its head, and content without a copy between.
  func writeContent(of id: Int32, head: UnsafeRawBufferPointer, count: Int) -> Int32 {
    guard let stream = streams[id] else { return Int32(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
    output.writeBytes(head)
    if count > 0, var content = stream.queue.take(count) {
      output.writeBuffer(&content)
      queuedBytes -= count
      sentBytes &+= count
      // Some clients tell of every few KiB that they take, twice: for the stream and for the connection.
      idleFrames.earn(2 + count / 512)
      stream.handler?.sentContent()
    }
    return 0
  }
}
